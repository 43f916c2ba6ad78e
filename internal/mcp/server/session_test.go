package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// asker is a tool that asks its client for something and gives back the answers.
func asker() toolcrib.Tool {
	return toolcrib.Tool{
		Spec: toolcrib.Spec{Name: "asker", Input: json.RawMessage(`true`), Effects: toolcrib.Pure},
		Run: func(ctx context.Context, _ *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
			var requests map[string]mcp.Request
			if err := json.Unmarshal(input, &requests); err != nil {
				return nil, err
			}
			peer := mcp.PeerOf(ctx)
			peer.Log(json.RawMessage(`{"level":"debug","data":"quiet"}`))
			peer.Log(json.RawMessage(`{"level":"error","data":"loud"}`))
			answers, err := peer.Ask(ctx, requests)
			if err != nil {
				return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "cannot ask", Err: err}
			}
			if answers == nil {
				answers = map[string]json.RawMessage{}
			}
			text, err := json.Marshal(answers)
			return &toolcrib.Result{Value: text}, err
		},
	}
}

const wish = `{"a":{"method":"elicitation/create","params":{"message":"a?","requestedSchema":{"type":"object","properties":{}}}},"b":{"method":"roots/list"}}`

// The life of a legacy session.
func TestSession(t *testing.T) {
	s, _ := newStore(t)
	r := newRaw(t, s)
	h := r.session(`{}`)
	count := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"count","arguments":{"n":1}}}`
	if a := r.send("POST", h, count); a.status != 200 || string(a.last().Result) != `{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}` || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		t.Errorf("%d %s", a.status, a.text)
	}
	for name, c := range map[string]struct {
		header http.Header
		body   string
		status int
		code   int
	}{
		"ping":            {h, `{"jsonrpc":"2.0","id":7,"method":"ping"}`, 200, 0},
		"old header":      {with(h, headerVersion, "2025-03-26"), count, 200, 0},
		"no header":       {with(h, headerVersion, ""), count, 200, 0},
		"odd header":      {with(h, headerVersion, "2024-01-01"), count, 400, mcp.CodeUnsupportedVersion},
		"no session":      {with(h, headerSession, ""), count, 400, mcp.CodeInvalidRequest},
		"unknown session": {with(h, headerSession, "guessed"), count, 404, mcp.CodeInvalidRequest},
		"unknown method":  {h, `{"jsonrpc":"2.0","id":7,"method":"no/such"}`, 200, mcp.CodeMethodNotFound},
		"discover":        {h, `{"jsonrpc":"2.0","id":7,"method":"server/discover"}`, 200, mcp.CodeMethodNotFound},
		"twice":           {h, `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`, 200, mcp.CodeInvalidRequest},
		"batch":           {h, "[" + count + "]", 400, mcp.CodeInvalidRequest},
		"level":           {h, `{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"error"}}`, 200, 0},
		"odd level":       {h, `{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"loud"}}`, 200, mcp.CodeInvalidParams},
		"stray answer":    {h, `{"jsonrpc":"2.0","id":7,"result":{}}`, 202, 0},
		"notification":    {h, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, 202, 0},
		"other origin":    {with(h, "Origin", "http://evil.example"), count, 403, 0},
	} {
		if a := r.send("POST", c.header, c.body); a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		}
	}
	for name, c := range map[string]struct {
		method string
		header http.Header
		status int
	}{
		"get of no session":    {"GET", with(h, headerSession, ""), 405},
		"get of another":       {"GET", with(h, headerSession, "guessed"), 404},
		"get from another":     {"GET", with(h, "Origin", "http://evil.example"), 403},
		"get of plain JSON":    {"GET", with(h, "Accept", "application/json"), 406},
		"delete of no session": {"DELETE", with(h, headerSession, ""), 405},
		"delete of another":    {"DELETE", with(h, headerSession, "guessed"), 404},
	} {
		if a := r.send(c.method, c.header, ""); a.status != c.status {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		}
	}
	if a := r.send("DELETE", h, ""); a.status != 204 {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := r.send("POST", h, count); a.status != 404 {
		t.Errorf("after its end: %d %s", a.status, a.text)
	}
	if a := r.send("POST", nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`); a.code() != mcp.CodeInvalidParams || a.header.Get(headerSession) != "" {
		t.Errorf("%v %s", a.header, a.text)
	}
	if len(s.sessions) != 0 || len(s.listeners) != 0 {
		t.Errorf("left behind: %d sessions, %d listeners", len(s.sessions), len(s.listeners))
	}
}

// A session of one caller is none of another's.
func TestSessionBelongsToItsCaller(t *testing.T) {
	s, _ := newStore(t)
	other, _ := newStore(t)
	h := newRaw(t, s).session(`{}`)
	if a := newRaw(t, other).send("POST", h, `{"jsonrpc":"2.0","id":7,"method":"ping"}`); a.status != 404 {
		t.Errorf("%d %s", a.status, a.text)
	}
}

// There is a bound on sessions: the one that was idle the longest makes room.
func TestSessionsAreBounded(t *testing.T) {
	s, _ := newStore(t)
	r := newRaw(t, s)
	first := r.session(`{}`)
	second := r.session(`{}`)
	used := s.useSession(first.Get(headerSession))
	for i := range maxSessions - 2 {
		if s.openSession(fmt.Sprint("s", i)) == nil {
			t.Fatal("no session")
		}
	}
	if len(s.sessions) != maxSessions {
		t.Fatal(len(s.sessions))
	}
	r.session(`{}`)
	if a := r.send("POST", second, `{"jsonrpc":"2.0","id":7,"method":"ping"}`); a.status != 404 {
		t.Errorf("the second is still there: %d", a.status)
	}
	if a := r.send("POST", first, `{"jsonrpc":"2.0","id":7,"method":"ping"}`); a.status != 200 || len(s.sessions) != maxSessions {
		t.Errorf("the one in use is gone: %d; there are %d", a.status, len(s.sessions))
	}
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.sessions))
	s.mu.Unlock()
	for _, id := range all {
		t.Cleanup(s.useSession(id).release)
	}
	if a := r.send("POST", nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`); a.status != 503 {
		t.Errorf("one more than can be used at once: %d %s", a.status, a.text)
	}
	used.release()
}

// A session that nobody uses ends; one in use does not.
func TestIdleSession(t *testing.T) {
	s, _ := newStore(t)
	r := newRaw(t, s)
	id := r.session(`{}`).Get(headerSession)
	sess := s.useSession(id)
	s.dropSession(sess, true) // as its clock does
	if again := s.useSession(id); again == nil {
		t.Fatal("a session in use was ended")
	}
	sess.release()
	sess.release()
	s.dropSession(sess, true)
	if s.useSession(id) != nil || sess.ctx.Err() == nil {
		t.Error("it is still there")
	}
}

// The stream of a session is told of changes, and only of what it may hear; the
// newest stream is the one.
func TestSessionStream(t *testing.T) {
	s, p := newStore(t)
	r := newRaw(t, s)
	h := r.session(`{}`)
	if a := r.send("POST", h, `{"jsonrpc":"2.0","id":7,"method":"resources/subscribe","params":{"uri":"test://a"}}`); a.code() != 0 || p.subscribed("test://a") != 1 {
		t.Fatalf("%s", a.text)
	}
	if a := r.send("POST", h, `{"jsonrpc":"2.0","id":7,"method":"resources/subscribe","params":{"uri":"other://a"}}`); a.code() != mcp.CodeResourceNotFound {
		t.Errorf("%s", a.text)
	}
	p.tell(mcp.NotifyResource, `{"uri":"test://a"}`) // kept until there is a stream
	old, header := r.events(t.Context(), "GET", h, "")
	if header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("%v", header)
	}
	if m := old(); m.Method != mcp.NotifyResource || string(m.Params) != `{"uri":"test://a"}` {
		t.Errorf("%+v", m)
	}
	next, _ := r.events(t.Context(), "GET", h, "")
	if m := old(); m.Method != "" {
		t.Errorf("the old stream goes on: %+v", m)
	}
	p.tell(mcp.NotifyResource, `{"uri":"test://b"}`)
	p.tell(mcp.NotifyPrompts, "")
	if m := next(); m.Method != mcp.NotifyPrompts {
		t.Errorf("%+v", m)
	}
	if a := r.send("POST", h, `{"jsonrpc":"2.0","id":7,"method":"resources/unsubscribe","params":{"uri":"test://a"}}`); a.code() != 0 || p.subscribed("test://a") != 0 {
		t.Errorf("%s; %d", a.text, p.subscribed("test://a"))
	}
	r.send("POST", h, `{"jsonrpc":"2.0","id":7,"method":"resources/subscribe","params":{"uri":"test://b"}}`)
	if a := r.send("DELETE", h, ""); a.status != 204 {
		t.Error(a.status)
	}
	if m := next(); m.Method != "" {
		t.Errorf("the stream outlives its session: %+v", m)
	}
	eventually(t, "the subscription outlives its session", func() bool { return p.subscribed("test://b") == 0 })
}

// A legacy client is asked on the stream of its own request, and answers in
// another.
func TestSessionAsks(t *testing.T) {
	s, _ := newStore(t, asker())
	r := newRaw(t, s)
	h := r.session(`{"elicitation":{},"roots":{}}`)
	r.send("POST", h, `{"jsonrpc":"2.0","id":8,"method":"logging/setLevel","params":{"level":"warning"}}`)
	next, header := r.events(t.Context(), "POST", h, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"asker","arguments":`+wish+`}}`)
	if m := next(); m.Method != mcp.NotifyMessage || string(m.Params) != `{"level":"error","data":"loud"}` {
		t.Errorf("%+v", m)
	}
	if !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") || header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("%v", header)
	}
	asked := []mcp.Message{next(), next()}
	for _, m := range asked {
		if m.ID == nil || m.Method == "" {
			t.Fatalf("%+v", m)
		}
		if a := r.send("POST", h, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"to":%q}}`, m.ID, m.Method)); a.status != 202 {
			t.Errorf("%d %s", a.status, a.text)
		}
	}
	if m := next(); string(m.ID) != "7" || !strings.Contains(string(m.Result), `"structuredContent":{"a":{"to":"elicitation/create"},"b":{"to":"roots/list"}}`) {
		t.Errorf("%s %s", m.ID, m.Result)
	}
	if sampling := r.send("POST", h, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"asker","arguments":{"a":{"method":"sampling/createMessage","params":{}}}}}`); sampling.code() != mcp.CodeMissingCapability || !strings.Contains(sampling.text, `"data":{"requiredCapabilities":{"sampling":{}}}`) {
		t.Errorf("asked for what it cannot do: %s", sampling.text)
	}
	// One refusal is enough: the other is taken back.
	next, _ = r.events(t.Context(), "POST", h, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"asker","arguments":`+wish+`}}`)
	next()
	asked = []mcp.Message{next(), next()}
	r.send("POST", h, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no roots"}}`, asked[0].ID))
	if m := next(); m.Method != mcp.NotifyCancelled || !strings.Contains(string(m.Params), fmt.Sprintf(`"requestId":%s`, asked[1].ID)) {
		t.Errorf("%+v", m)
	}
	if m := next(); m.Error == nil || m.Error.Code != -32000 || m.Error.Message != "no roots" {
		t.Errorf("%s %+v", m.Result, m.Error)
	}
}

// A call is cancelled by a notification, by hanging up, and with its session.
func TestSessionCancels(t *testing.T) {
	started, ended := make(chan struct{}, 9), make(chan struct{}, 9)
	s, _ := newStore(t, toolcrib.Tool{
		Spec: toolcrib.Spec{Name: "hang", Effects: toolcrib.Pure},
		Run: func(ctx context.Context, _ *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			started <- struct{}{}
			<-ctx.Done()
			ended <- struct{}{}
			return nil, ctx.Err()
		},
	})
	r := newRaw(t, s)
	h := r.session(`{}`)
	hang := `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"hang"}}`
	begin := func(ctx context.Context, h http.Header, body string) {
		go func() {
			if resp, err := http.DefaultClient.Do(r.request(ctx, "POST", h, body)); err == nil {
				_ = resp.Body.Close()
			}
		}()
		<-started
	}
	begin(t.Context(), h, hang)
	if a := r.send("POST", h, strings.Replace(hang, "hang", "count", 1)); a.status != 400 || a.code() != mcp.CodeInvalidRequest {
		t.Errorf("an id that is in use: %d %s", a.status, a.text)
	}
	r.send("POST", h, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"y"}}`)
	r.send("POST", h, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)
	<-ended
	ctx, cancel := context.WithCancel(t.Context())
	begin(ctx, h, strings.Replace(hang, `"x"`, `"second"`, 1))
	cancel()
	<-ended
	begin(t.Context(), h, strings.Replace(hang, `"x"`, `"third"`, 1))
	r.send("DELETE", h, "")
	<-ended
	m, body := modern("tools/call", `{"roots":{}}`, `,"name":"hang"`)
	for _, body := range []string{body, strings.Replace(body, `{"roots":{}}`, `{}`, 1)} { // with and without a flight
		ctx, cancel := context.WithCancel(t.Context())
		begin(ctx, m, body)
		cancel()
		<-ended
	}
}

// Both eras can be spoken on one line, and several requests answered at once.
func TestErasOnOneLine(t *testing.T) {
	c, _ := newCrib(t)
	tk := newTalk(t, c)
	_, modernList := modern("tools/list", `{}`, "")
	tk.say(`{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"wait"}}`)
	tk.say(modernList)
	if m := tk.hear(); m["id"] != 7.0 || m["result"].(map[string]any)["resultType"] != "complete" {
		t.Errorf("%v", m)
	}
	tk.say(`{"jsonrpc":"2.0","id":8,"method":"tools/list"}`)
	if m := tk.hear(); m["id"] != 8.0 || m["result"].(map[string]any)["resultType"] != nil {
		t.Errorf("%v", m)
	}
	tk.say(strings.ReplaceAll(modernList, "2026-07-28", "2031-01-01"))
	if m := tk.hear(); m["error"].(map[string]any)["code"] != float64(mcp.CodeUnsupportedVersion) {
		t.Errorf("%v", m)
	}
}

func TestLevels(t *testing.T) {
	if urgentEnough("", "emergency") || urgentEnough("error", "warning") || !urgentEnough("error", "error") || !urgentEnough("debug", "info") || !urgentEnough("emergency", "made up") {
		t.Error("levels are out of order")
	}
	if !slices.IsSortedFunc(logLevels(), func(a, b string) int {
		if urgentEnough(a, b) {
			return -1
		}
		return 1
	}) {
		t.Error(logLevels())
	}
}
