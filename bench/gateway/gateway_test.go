package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// server is a small MCP server of both eras. Results by tool name.
type server struct {
	calls, opened, closed atomic.Int64
	mu                    sync.Mutex
	faults                []string
	seen                  sync.Map
}

func (s *server) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodDelete {
		s.closed.Add(1)
		return
	}
	body, err := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name      string
			Arguments json.RawMessage
			Meta      map[string]json.RawMessage `json:"_meta"`
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		s.fault("%s: %v", body, err)
	}
	switch m.Method {
	case "initialize":
		s.opened.Add(1)
		w.Header().Set("Mcp-Session-Id", "s1")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18"}}`, m.ID)
		return
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.calls.Add(1)
	if modern := m.Params.Meta != nil; modern {
		if r.Header.Get("Mcp-Method") != "tools/call" || r.Header.Get("Mcp-Name") != m.Params.Name || r.Header.Get("Mcp-Protocol-Version") != modernVersion {
			s.fault("modern headers: %v", r.Header)
		}
	} else if r.Header.Get("Mcp-Session-Id") != "s1" || r.Header.Get("Mcp-Protocol-Version") != "2025-06-18" {
		s.fault("legacy headers: %v", r.Header)
	}
	if r.Header.Get("X-Key") != "" {
		if _, twice := s.seen.LoadOrStore(string(m.Params.Arguments), true); twice || !strings.HasPrefix(string(m.Params.Arguments), `{"n":`) {
			s.fault("arguments %s", m.Params.Arguments)
		}
	}
	good := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, m.ID)
	switch m.Params.Name {
	case "json":
		fmt.Fprint(w, good)
	case "slow":
		time.Sleep(5 * time.Millisecond)
		fmt.Fprint(w, good)
	case "stream":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": hello\nid: 1\ndata:\n\nevent: message\ndata: {\"method\":\"notifications/progress\"}\n\n")
		w.(http.Flusher).Flush()
		fmt.Fprintf(w, "event: message\r\ndata: %s\r\n\r\n", good)
	case "failed":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"isError":true}}`, m.ID)
	case "asks":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","content":[]}}`, m.ID)
	case "other":
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":999999,"result":{"content":[]}}`)
	case "refused":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such tool"}}`, m.ID)
	case "closing":
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, good)
	default:
		http.Error(w, "no", http.StatusNotFound)
	}
}

func TestMeasure(t *testing.T) {
	for _, tool := range []string{"json", "stream", "closing"} {
		var near, far server
		a, b := httptest.NewServer(&far), httptest.NewServer(&near)
		t.Cleanup(a.Close)
		t.Cleanup(b.Close)
		var out strings.Builder
		err := run(t.Context(), []string{"-url", a.URL + "/mcp", "-direct", b.URL, "-tool", tool, "-args", `{"n":$N}`, "-header", "X-Key: 1",
			"-clients", "3", "-calls", "20", "-rounds", "4", "-warm", "5", "-json"}, &out, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Rows []row }
		if err := json.Unmarshal([]byte(out.String()), &got); err != nil || len(got.Rows) != 8 {
			t.Fatalf("%v: %s", err, out.String())
		}
		for i, r := range got.Rows {
			era, way := []string{"legacy", "legacy", "modern", "modern"}[i/2], []string{"gateway", "direct"}[i%2]
			if r.Era != era || r.Target != way || r.Calls != 20 || r.Median <= 0 || r.P99 < r.Median || r.Rate <= 0 || (r.RateRatio > 0) != (way == "gateway") {
				t.Errorf("%s: row %d: %+v", tool, i, r)
			}
		}
		for name, s := range map[string]*server{"direct": &near, "gateway": &far} {
			if s.faults != nil || s.calls.Load() != 4*25 || s.opened.Load() != 1+3 || s.closed.Load() != 1+3 {
				t.Errorf("%s %s: %d calls, %d sessions, %d closed, %q", tool, name, s.calls.Load(), s.opened.Load(), s.closed.Load(), s.faults)
			}
		}
	}
}

// The slow way is shown as the slow one.
func TestRatio(t *testing.T) {
	s := httptest.NewServer(&server{})
	defer s.Close()
	p := plan{Unique: new(atomic.Int64), Era: "modern", Clients: 2, Calls: 12, Rounds: 3, Timeout: time.Minute, Targets: []target{
		{Name: "gateway", URL: s.URL, Tool: "slow", Arguments: "{}"}, {Name: "direct", URL: s.URL, Tool: "json", Arguments: "{}"}}}
	rows, err := p.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].Added <= 0 || rows[0].RateRatio <= 0 || rows[0].RateRatio >= 1 || rows[0].Median < 5*time.Millisecond {
		t.Errorf("%+v", rows)
	}
	for _, want := range []string{"| modern | 2 | gateway | 12 |", "| modern | 2 | direct | 12 |", "at most 2.0 MB"} {
		if text := table(rows, &memory{Now: 1e6, Peak: 2e6}); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// What is no good result ends the run.
func TestBadAnswers(t *testing.T) {
	s := httptest.NewServer(&server{})
	defer s.Close()
	for tool, want := range map[string]string{
		"failed": "not a good result", "asks": "not a good result", "other": "no answer", "refused": "no such tool", "missing": "404", "bad name": "header",
	} {
		err := run(t.Context(), []string{"-url", s.URL, "-tool", tool, "-calls", "4", "-rounds", "1", "-warm", "0"}, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", tool, err, want)
		}
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{
		nil, {"-url", "http://127.0.0.1:1/"}, {"-url", "file:///x", "-tool", "t"}, {"-url", "http://127.0.0.1:1/", "-tool", "t", "-args", "[]"},
		{"-url", "http://127.0.0.1:1/", "-tool", "t", "-era", "stone"}, {"-url", "http://127.0.0.1:1/", "-tool", "t", "-header", "x"},
		{"-url", "http://127.0.0.1:1/", "-tool", "t", "-clients", "0"}, {"-url", "http://127.0.0.1:1/", "-tool", "t", "-calls", "1"},
		{"-url", "http://127.0.0.1:1/", "-tool", "t", "more"},
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

func TestQuantile(t *testing.T) {
	all := []time.Duration{5, 1, 4, 2, 3}
	for share, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.99: 5, 1: 5, 0.2: 1, 0.21: 2} {
		if got := quantile(all, share); got != want {
			t.Errorf("%v: %d, want %d", share, got, want)
		}
	}
	if quantile(nil, 0.5) != 0 || cmp.Diff([]time.Duration{5, 1, 4, 2, 3}, all) != "" {
		t.Error("of none, or the values were moved")
	}
}

func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells by a file")
	}
	m, err := memoryOf(os.Getpid())
	if err != nil || m.Now < 1<<20 || m.Peak < m.Now/2 {
		t.Errorf("%+v, %v", m, err)
	}
	begun, err := cpuOf(os.Getpid())
	for end := begun + 20*time.Millisecond; err == nil && begun < end; { // it is at work with asking
		begun, err = cpuOf(os.Getpid())
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := memoryOf(-1); err == nil {
		t.Error("memory of nobody")
	}
	if _, err := cpuOf(-1); err == nil {
		t.Error("work of nobody")
	}
}

// FuzzEvents: whatever a server streams, reading it ends and what is found stands in it.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {\"id\":1,\"result\":{}}\n\n"))
	f.Add([]byte("data: a\r\ndata:b\r\n\r\n: c\nid: 1\n\ndata:"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		total := 0
		for _, e := range events(append([]byte(nil), stream...)) {
			total += len(e)
		}
		if total > len(stream) {
			t.Errorf("%d bytes of events in %d", total, len(stream))
		}
	})
}
