package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// sentTraces is a collector that keeps what it is sent.
func sentTraces(t *testing.T) (url string, sent func() string) {
	var mu sync.Mutex
	var all strings.Builder
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path != "/v1/traces" || r.Header.Get("X-Team") != "blue" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.Copy(&all, r.Body) // what is missing is found missing
	}))
	t.Cleanup(s.Close)
	return s.URL, func() string {
		mu.Lock()
		defer mu.Unlock()
		return all.String()
	}
}

// TestTelemetry: a real client of either era calls a real server behind a whole
// program that is watched.
func TestTelemetry(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	where, sent := sentTraces(t)
	cfg := settings.Defaults()
	cfg.Mode, cfg.Safety.Flow.Enabled, cfg.Hub.Wait = "yolo", false, time.Minute
	cfg.MCPServers = map[string]settings.MCPServer{
		"far":  {Command: exe, Env: map[string]string{"FAKE_MCP": "1", "GORACE": "atexit_sleep_ms=0"}},
		"gone": {Command: filepath.Join(dir, "no-such-program")},
	}
	cfg.Telemetry.Metrics = true
	cfg.Telemetry.Traces = settings.Traces{Enabled: true, Endpoint: where, Sample: 1, Headers: map[string]string{"X-Team": "blue"}}
	a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: t.TempDir(), Home: t.TempDir(), Config: dir})
	if err != nil {
		t.Fatal(err)
	}
	if at, err := a.CheckTraces(t.Context()); err != nil || at != where+"/v1/traces" {
		t.Errorf("the collector is said to be at %q, %v", at, err)
	}
	base, stop := serveLoopback(t, a)
	token := ownBearer(t, a)
	own := &http.Client{Transport: token}
	for _, era := range []struct{ version, trace string }{
		{"2025-11-25", "4bf92f3577b34da6a3ce929d0e0e4736"},
		{"2026-07-28", "5bf92f3577b34da6a3ce929d0e0e4736"},
	} {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
			Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + "/mcp", HTTPClient: own}, &mcp.ClientSessionOptions{ProtocolVersion: era.version})
		if err != nil {
			t.Fatal(err)
		}
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "far__write_file", Arguments: map[string]any{"text": "argument-text"}, Meta: mcp.Meta{"traceparent": "00-" + era.trace + "-00f067aa0ba902b7-01"}})
		if err != nil || r.IsError {
			t.Errorf("%s: %+v, %v", era.version, r, err)
		}
		_ = session.Close()
	}
	numbers := get(t, own, base+"/metrics", http.StatusOK)
	for _, want := range []string{
		`toolcrib_calls_total{toolbox="far",tool="write_file",outcome="done"} 2`, `toolcrib_mcp_client_requests_total{server="far",method="tools/call",error=""} 2`,
		`toolcrib_mcp_requests_total{method="tools/call",error=""} 2`, `toolcrib_mcp_requests_total{method="initialize",error=""} 1`,
		`toolcrib_mcp_server_state{server="far",state="up"} 1`, `toolcrib_mcp_server_state{server="gone",state="failed"} 1`, `toolcrib_results_changed_total{by="injection"} 2`,
		`toolcrib_mcp_server_starts_total{server="far"} 1`, `toolcrib_journal_sound 1`, `toolcrib_questions_open 0`,
	} {
		if !strings.Contains(numbers, "\n"+want+"\n") {
			t.Errorf("%s is missing in\n%s", want, numbers)
		}
	}
	if told := get(t, http.DefaultClient, base+"/metrics", http.StatusUnauthorized); strings.Contains(told, "toolcrib_") {
		t.Errorf("a stranger is told %s", told)
	}
	var health struct {
		Status  string
		Servers map[string]struct {
			State, Error string
			Tools        int
		}
	}
	if err := json.Unmarshal([]byte(get(t, own, base+"/healthz", http.StatusOK)), &health); err != nil {
		t.Fatal(err)
	}
	if far, gone := health.Servers["far"], health.Servers["gone"]; health.Status != "ok" || far.State != "up" || far.Tools != 1 || gone.State != "failed" || gone.Error == "" {
		t.Errorf("health: %+v", health)
	}
	if told := get(t, http.DefaultClient, base+"/healthz", http.StatusOK); strings.Contains(told, "gone") || !strings.Contains(told, `"ok"`) {
		t.Errorf("a stranger is told %s", told)
	}
	stop()
	if err := a.Close(context.Background()); err != nil {
		t.Error(err)
	}
	spans := sent()
	for _, name := range []string{"tools/call far__write_file", "execute_tool far__write_file", "tools/call write_file"} {
		if n := strings.Count(spans, `"name":"`+name+`"`); n != 2 {
			t.Errorf("%s is there %d times, want twice", name, n)
		}
	}
	for _, trace := range []string{"4bf92f3577b34da6a3ce929d0e0e4736", "5bf92f3577b34da6a3ce929d0e0e4736"} {
		if n := strings.Count(spans, `"traceId":"`+trace+`"`); n != 3 {
			t.Errorf("%d spans are in the trace of the client, want 3", n)
		}
	}
	for _, private := range []string{"argument-text", "blue", string(token), `"local"`} {
		if strings.Contains(spans, private) || strings.Contains(numbers, private) {
			t.Errorf("%s is told", private)
		}
	}
}

func get(t *testing.T, client *http.Client, url string, status int) string {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		t.Errorf("%s: %s, %v", url, resp.Status, err)
	}
	return string(text)
}

// TestTelemetryIsOff: nothing hangs on a crib that nobody watches, and a setting
// that makes no sense is said before anything is done.
func TestTelemetryIsOff(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	a := openWith(t, settings.Defaults(), "")
	if a.watching.Observer() != nil || a.watching.Numbers != nil || a.watching.Traces != nil || a.MCP("test").Observer != nil {
		t.Error("somebody watches")
	}
	w := httptest.NewRecorder()
	a.watching.Metrics(func() bool { return true })(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("metrics: %d", w.Code)
	}
	cfg := settings.Defaults()
	cfg.Telemetry.Traces = settings.Traces{Enabled: true, Endpoint: "localhost:4318"}
	if _, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), For: ToCheck}); err == nil || !strings.Contains(err.Error(), "telemetry.traces.endpoint") {
		t.Errorf("got %v", err)
	}
}
