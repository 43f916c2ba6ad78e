package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Server is a running script.
type Server struct {
	URL string // http://127.0.0.1:port

	script func(Request) Turn
	mu     sync.Mutex
	asked  []Request
	over   int // requests after the end of a list of turns
}

// New serves turns, one for each request, in order. A request too many is answered with
// an error that nobody retries, and fails the test.
func New(t testing.TB, turns ...Turn) *Server {
	t.Helper()
	var s *Server
	s = NewFunc(t, func(r Request) Turn {
		if r.N < len(turns) {
			return turns[r.N]
		}
		s.mu.Lock()
		s.over++
		s.mu.Unlock()
		return Turn{Fail: BadRequest}
	})
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.over > 0 {
			t.Errorf("the script has %d turns, and the model was asked %d times more", len(turns), s.over)
		}
	})
	return s
}

// NewFunc serves what script says. It is called from several goroutines at once if the
// model is asked so.
func NewFunc(t testing.TB, script func(Request) Turn) *Server {
	t.Helper()
	s := &Server{script: script}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	return s
}

// Base is the base URL for an API: openai, anthropic or gemini.
func (s *Server) Base(api string) string {
	switch api {
	case "openai":
		return s.URL + "/v1"
	case "gemini":
		return s.URL + "/v1beta"
	}
	return s.URL
}

// Requests gives all requests for answers so far, in the order in which they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// maxRequest bounds what the script reads of a request.
const maxRequest = 64 << 20

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	req := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body}
	ended := make(chan struct{})
	req.Ended = ended
	defer close(ended)
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		s.models(w, r)
		return
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		err = req.readOpenAI()
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/messages"):
		err = req.readAnthropic()
	case r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/models/") && strings.Contains(r.URL.Path, "enerateContent"):
		err = req.readGemini()
	default:
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	req.N = len(s.asked)
	s.asked = append(s.asked, req)
	s.mu.Unlock()
	a := &answer{w: w, gone: r.Context().Done(), req: req}
	if err != nil {
		a.turn = Turn{Fail: BadRequest}
	} else {
		a.turn = s.script(req)
	}
	a.turn.fill(req)
	a.write()
}

// models lists one model, in the form of the API that is asked.
func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	text := `{"object":"list","data":[{"id":"scripted","object":"model","created":1763000000,"owned_by":"modeltest"}]}`
	switch {
	case r.Header.Get("anthropic-version") != "":
		text = `{"data":[{"type":"model","id":"scripted","display_name":"Scripted","created_at":"2026-01-01T00:00:00Z"}],"has_more":false,"first_id":"scripted","last_id":"scripted"}`
	case strings.Contains(r.URL.Path, "/v1beta/"):
		text = `{"models":[{"name":"models/scripted","version":"001","displayName":"Scripted","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent"]}]}`
	}
	_, _ = io.WriteString(w, text) // else the client has gone
}

// fill gives a turn what it leaves open.
func (t *Turn) fill(r Request) {
	if t.Model == "" {
		t.Model = r.Model
	}
	if t.Piece <= 0 {
		t.Piece = 12
	}
	if t.Usage == (Usage{}) {
		t.Usage = Usage{Input: 10, Output: 5}
	}
	t.Calls = slices.Clone(t.Calls)
	for i := range t.Calls {
		if t.Calls[i].ID == "" {
			prefix := "call_"
			if r.API == "anthropic" {
				prefix = "toolu_"
			}
			t.Calls[i].ID = fmt.Sprintf("%s%d_%d", prefix, r.N, i)
		}
		if t.Calls[i].Arguments == "" {
			t.Calls[i].Arguments = "{}"
		}
	}
}

// answer is one answer being written.
type answer struct {
	w      http.ResponseWriter
	gone   <-chan struct{}
	req    Request
	turn   Turn
	events int
}

func (a *answer) write() {
	t := a.turn
	if !a.await(t.Wait) || t.Drop {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(a.w.Header(), t.Header)
	switch {
	case t.Flood != "":
		a.stream()
		for {
			a.bytes(t.Flood)
		}
	case t.Body != "" || t.Status != 0:
		a.whole(cmp.Or(t.Status, http.StatusOK), t.Body)
		return
	case t.Fail != "":
		a.fail()
		return
	}
	if !a.req.Stream && (t.Hang > 0 || t.Cut > 0) {
		if t.Hang > 0 {
			<-a.gone
		}
		panic(http.ErrAbortHandler)
	}
	switch {
	case a.req.API == "openai" && a.req.Stream:
		a.openaiStream()
	case a.req.API == "openai":
		a.whole(200, a.openaiWhole())
	case a.req.API == "anthropic" && a.req.Stream:
		a.anthropicStream()
	case a.req.API == "anthropic":
		a.whole(200, a.anthropicWhole())
	case a.req.Stream:
		a.geminiStream()
	default:
		a.whole(200, a.geminiWhole())
	}
}

// await waits for the channel of a test, and reports whether the client is still there.
func (a *answer) await(c <-chan struct{}) bool {
	if c == nil {
		return true
	}
	select {
	case <-c:
		return true
	case <-a.gone:
		return false
	}
}

// whole writes an answer that is no stream.
func (a *answer) whole(status int, body string) {
	if a.w.Header().Get("Content-Type") == "" {
		a.w.Header().Set("Content-Type", "application/json")
	}
	a.w.WriteHeader(status)
	a.bytes(body)
}

// fail writes the failure of the turn as its service would.
func (a *answer) fail() {
	status, body := failure(a.req.API, a.turn.Fail)
	if a.turn.Fail == RateLimit && a.w.Header().Get("Retry-After") == "" {
		a.w.Header().Set("Retry-After", "7")
	}
	if a.turn.Quirks.FailWith200 {
		status = 200
	}
	a.whole(status, body)
}

// stream begins a stream of events.
func (a *answer) stream() {
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.w.Header().Set("Cache-Control", "no-cache")
	a.w.WriteHeader(http.StatusOK)
	a.flush()
}

// event writes one event. Where it does not return, the stream has ended as the turn
// says.
func (a *answer) event(text string) {
	t := a.turn
	switch {
	case t.Cut > 0 && a.events >= t.Cut:
		panic(http.ErrAbortHandler)
	case t.Hang > 0 && a.events >= t.Hang:
		<-a.gone
		panic(http.ErrAbortHandler)
	case t.End > 0 && a.events >= t.End:
		return
	}
	if !a.await(t.Pace) {
		panic(http.ErrAbortHandler)
	}
	a.events++
	a.bytes(text)
}

// bytes writes a text in the pieces of the turn.
func (a *answer) bytes(text string) {
	size := a.turn.Chunk
	if size <= 0 {
		size = max(1, len(text))
	}
	for text != "" {
		n := min(size, len(text))
		if _, err := io.WriteString(a.w, text[:n]); err != nil {
			panic(http.ErrAbortHandler)
		}
		text = text[n:]
		a.flush()
	}
}

func (a *answer) flush() {
	if f, ok := a.w.(http.Flusher); ok {
		f.Flush()
	}
}

// pieces cuts a text into runs of characters.
func (a *answer) pieces(s string) []string {
	var out []string
	for r := []rune(s); len(r) > 0; {
		n := min(a.turn.Piece, len(r))
		out = append(out, string(r[:n]))
		r = r[n:]
	}
	return out
}

// quote writes a JSON string as the services do, with characters as they are.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
