package host_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"maps"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
)

// growingBox is a box whose tools change while it is served.
type growingBox struct {
	name  string
	tools atomic.Pointer[[]toolcrib.Tool]
	ran   atomic.Int32
	err   error
}

func (b *growingBox) Name() string { return b.name }

func (b *growingBox) Tools(context.Context) ([]toolcrib.Tool, error) {
	if list := b.tools.Load(); list != nil {
		return *list, b.err
	}
	return nil, b.err
}

func (b *growingBox) grow(names ...string) {
	var list []toolcrib.Tool
	for _, name := range names {
		list = append(list, tool(name, func(context.Context, json.RawMessage) (*toolcrib.Result, error) {
			return toolcrib.Text(name + " ran, as number " + strconv.Itoa(int(b.ran.Add(1)))), nil
		}))
	}
	b.tools.Store(&list)
}

func names(tools any) []string {
	list := []string{}
	for _, c := range tools.([]any) {
		list = append(list, c.(map[string]any)["name"].(string))
	}
	slices.Sort(list)
	return list
}

func TestDiscoveryReadsAnewAndAnswersOnceEach(t *testing.T) {
	box := &growingBox{name: "growing"}
	r := furnish(t, setup{more: []toolcrib.Toolbox{box}})
	cfg := r.config()
	cfg.Boxes = func() []string { return []string{"clock", "math", "files", "shell", "growing", "secret"} }
	cfg.Hide = func(box string) bool { return box == "secret" || box == "shell" }
	url, _ := serve(t, cfg)
	s := ready(t, url)

	seen := map[string][]string{}
	for _, f := range s.discover(4) {
		seen[f.Data["toolbox_id"].(string)] = names(f.Data["tools"])
	}
	want := []string{"growing", "ovos-clock-tools", "ovos-filesystem-tools", "ovos-math-tools"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(seen["growing"]) != 0 { // a toolbox without tools answers too
		t.Errorf("the empty toolbox has %v", seen["growing"])
	}
	for box, tool := range map[string]string{"ovos-clock-tools": "get_current_datetime", "ovos-math-tools": "unit_convert", "ovos-filesystem-tools": "read_file"} {
		if !slices.Contains(seen[box], tool) {
			t.Errorf("%s has no %s: %v", box, tool, seen[box])
		}
	}
	box.grow("one", "two")
	for _, f := range s.discover(4) {
		if f.Data["toolbox_id"] == "growing" && !slices.Equal(names(f.Data["tools"]), []string{"one", "two"}) {
			t.Errorf("not read anew: %v", f.Data)
		}
	}
	box.grow("three")
	if got := s.ask("ovos.persona.tools.growing.call", `{"name":"three"}`).Data; got["result"] == nil {
		t.Errorf("a tool that is new is not looked for: %v", got)
	}
	s.silent("ovos.persona.tools.ovos-shell-tools.call", `{"name":"run_command","kwargs":{"command":"ls"}}`)
	if got := s.ask(invoke, `{"name":"run_command","args":{"command":"ls"}}`).Data; got["error"] != "Unknown tool: 'run_command'" {
		t.Errorf("a hidden tool: %v", got)
	}
}

func TestReloadTellsAllAndDoublesNothing(t *testing.T) {
	box, broken := &growingBox{name: "growing"}, &growingBox{name: "broken", err: errors.New("the plugin is not installed")}
	box.grow("count")
	r := furnish(t, setup{more: []toolcrib.Toolbox{box}})
	r.shelving.Boxes = append(r.shelving.Boxes, broken)
	url, _ := serve(t, r.config())
	s := ready(t, url)
	for range 3 {
		got := s.ask("ovos.tools.reload", `{}`).Data
		tools := names(got["tools"])
		if diff := cmp.Diff([]any{"growing", "ovos-clock-tools", "ovos-filesystem-tools", "ovos-math-tools", "ovos-shell-tools"}, got["loaded"]); diff != "" {
			t.Errorf("loaded (-want +got):\n%s", diff)
		}
		if got["total_tools"] != float64(len(tools)) || !slices.Contains(tools, "count") {
			t.Errorf("%v tools: %v", got["total_tools"], tools)
		}
		if faults, ok := got["faults"].([]any); !ok || len(faults) != 1 || !strings.Contains(faults[0].(string), "not installed") {
			t.Errorf("faults: %v", got["faults"])
		}
	}
	if got := s.ask("ovos.persona.tools.growing.call", `{"name":"count"}`).Data["result"]; cmp.Diff(map[string]any{"content": "count ran, as number 1"}, got) != "" {
		t.Errorf("after three reloads: %v", got)
	}
	s.silent("ovos.tools.nope", `{}`)
	if n := box.ran.Load(); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

func TestContextIsEchoedAndTheCallerIsTheBus(t *testing.T) {
	r, s := open(t, setup{})
	s.send(`{"type":"ovos.tools.invoke","data":{"name":"get_current_datetime"},"context":{"mark":"m","foo":{"x":[1,null]},"source":"A","destination":["B","C"],"session":{"session_id":"kitchen","lang":"de-DE"}}}`)
	got := s.next("ovos.tools.invoke.response", "m").Context
	want := map[string]any{"mark": "m", "foo": map[string]any{"x": []any{1.0, nil}}, "source": "toolcrib", "destination": "A", "session": map[string]any{"session_id": "kitchen", "lang": "de-DE"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	long := strings.Repeat("x", 5000)
	s.send(`{"type":"ovos.tools.invoke","data":{"name":"nope"},"context":{"mark":"n","session":{"session_id":"` + long + `"}}}`)
	s.next("ovos.tools.invoke.response", "n")
	s.ask(mathCall, `{"name":"get_current_datetime"}`)
	s.ask(clockCall, `{"name":"get_current_datetime","kwargs":[]}`)
	records := r.journal.Records()
	if len(records) != 4 {
		t.Fatalf("%d calls are on record", len(records))
	}
	for i, want := range []struct{ tool, session, outcome string }{
		{"get_current_datetime", "kitchen", "done"}, {"nope", "sha256-", "not_found"},
		{"ovos-math-tools/get_current_datetime", "", "not_found"}, {"get_current_datetime", "", "invalid"},
	} {
		rec := records[i]
		c := rec.Caller
		if rec.Tool != want.tool || string(rec.Outcome) != want.outcome || !strings.HasPrefix(c.Session, want.session) || want.session == "" && c.Session != "" || len(c.Session) > 128 {
			t.Errorf("record %d: %s of %q ended as %s", i, rec.Tool, c.Session, rec.Outcome)
		}
		if c.Subject != "ovos-bus" || c.Frontend != "ovos-bus" || c.Dialect != "ovos" {
			t.Errorf("record %d: called by %+v", i, c)
		}
	}
}

// TestAHostServesItsBusAsAsked connects to an embedded bus with a token.
func TestAHostServesItsBusAsAsked(t *testing.T) {
	r := furnish(t, setup{})
	cfg := r.config()
	cfg.Serve = &bus.ServerConfig{Addr: "127.0.0.1:0", Token: "hush-hush-hush", Path: "/voice"}
	url, stop := serve(t, cfg)
	if !strings.HasSuffix(url, "/voice") {
		t.Errorf("the bus is at %s", url)
	}
	if _, err := dial(t, url); err == nil {
		t.Error("a client without the token came in")
	}
	s := ready(t, url+"?token=hush-hush-hush")
	if got := s.ask("ovos.tools.list", `{}`).Data["tools"].([]any); len(got) < 11 {
		t.Errorf("%d tools", len(got))
	}
	stop()
	if _, err := dial(t, url+"?token=hush-hush-hush"); err == nil {
		t.Error("the bus outlives its host")
	}
}

// TestAHostTrustsItsOwnCertificate serves a bus with one that nobody signed.
func TestAHostTrustsItsOwnCertificate(t *testing.T) {
	known := httptest.NewTLSServer(nil)
	defer known.Close()
	r := furnish(t, setup{})
	cfg := r.config()
	cfg.Serve.TLS = &tls.Config{Certificates: known.TLS.Certificates, MinVersion: tls.VersionTLS12}
	url, _ := serve(t, cfg)
	if !strings.HasPrefix(url, "wss://") {
		t.Errorf("the bus is at %s", url)
	}
	if got := ready(t, url).ask("ovos.tools.list", `{}`).Data["tools"].([]any); len(got) < 11 {
		t.Errorf("%d tools", len(got))
	}
}

func TestBadConfigIsRefused(t *testing.T) {
	r := furnish(t, setup{})
	for name, change := range map[string]func(*host.Config){
		"no crib":         func(c *host.Config) { c.Crib = nil },
		"no contract":     func(c *host.Config) { c.Contract = nil },
		"negative":        func(c *host.Config) { c.Calls = -1 },
		"a short secret":  func(c *host.Config) { c.Approvals.Secret = "hush" },
		"nobody to ask":   func(c *host.Config) { c.Approvals.Anyone = true },
		"an unsafe bus":   func(c *host.Config) { c.Serve.Addr = "0.0.0.0:0" },
		"an odd URL":      func(c *host.Config) { c.Serve, c.Bus.URL = nil, "http://localhost" },
		"no such address": func(c *host.Config) { c.Serve.Addr = "127.0.0.1:notaport" },
	} {
		cfg := r.config()
		change(&cfg)
		h, err := host.New(cfg)
		if err == nil {
			err = h.Serve(t.Context())
		}
		if err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
