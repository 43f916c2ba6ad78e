package host_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
)

// shelf is a box whose tools are others now and then.
type shelf struct {
	name  string
	tools atomic.Pointer[[]toolcrib.Tool]
}

func (s *shelf) Name() string { return s.name }

func (s *shelf) Tools(context.Context) ([]toolcrib.Tool, error) {
	if list := s.tools.Load(); list != nil {
		return *list, nil
	}
	return nil, nil
}

func answers(text string) func(context.Context, json.RawMessage) (*toolcrib.Result, error) {
	return func(context.Context, json.RawMessage) (*toolcrib.Result, error) {
		return &toolcrib.Result{Value: json.RawMessage(text)}, nil
	}
}

// TestHostFollowsItsShelves: which toolboxes are here is remembered, and never
// longer than it is true.
func TestHostFollowsItsShelves(t *testing.T) {
	late := &shelf{name: "late"}
	r := furnish(t, setup{more: []toolcrib.Toolbox{late}})
	var boxes atomic.Pointer[[]string]
	boxes.Store(&[]string{"math"})
	cfg := r.config()
	cfg.Load = nil // nothing is read anew because somebody asks
	cfg.Boxes = func() []string { return *boxes.Load() }
	url, _ := serve(t, cfg)
	s := ready(t, url)

	silent := func(box string) {
		t.Helper()
		s.silent("ovos.persona.tools."+box+".call", `{"name":"x"}`)
	}
	silent("late")
	silent("late")
	late.tools.Store(&[]toolcrib.Tool{tool("x", answers(`{"a":1}`))})
	if _, faults := r.load(t.Context()); faults != nil {
		t.Fatal(faults)
	}
	if got := s.ask("ovos.persona.tools.late.call", `{"name":"x"}`).Data; got["error"] != nil {
		t.Errorf("after a load: %v", got)
	}
	late.tools.Store(nil)
	if _, faults := r.load(t.Context()); faults != nil {
		t.Fatal(faults)
	}
	silent("late")
	// Rules that hide or show a box are announced without a load.
	boxes.Store(&[]string{"math", "late"})
	r.crib.Catalog.Announce()
	if got := s.ask("ovos.persona.tools.late.call", `{"name":"x"}`).Data["error"]; got != "ValueError: Unknown tool 'x' for ToolBox 'late'." {
		t.Errorf("a box without tools: %v", got)
	}
}

// TestSwitchedOffGivesWay: a toolbox that is off says so, unless another host on
// the bus has a real one, and again when that is gone.
func TestSwitchedOffGivesWay(t *testing.T) {
	box, adapters := dialect.OVOSOff("web")
	r := furnish(t, setup{more: []toolcrib.Toolbox{box}})
	for i, a := range r.shelving.Adapters {
		if a.Box == "web" && a.Dialect == dialect.OVOS {
			r.shelving.Adapters[i] = adapters[0]
		}
	}
	if _, faults := r.load(t.Context()); faults != nil {
		t.Fatal(faults)
	}
	cfg := r.config()
	cfg.Boxes = func() []string { return []string{"clock", "files", "math", "shell", "web"} }
	cfg.Off = func(box string) bool { return box == "web" }
	cfg.Around = around
	url, _ := serve(t, cfg)
	s := ready(t, url)
	recorded := row{Toolbox: "ovos-web-search-tools", Name: "web_search", Kwargs: json.RawMessage(`{"query":"q"}`), Result: map[string]any{"query": "q", "results": []any{
		map[string]any{"title": "The web search did not work.", "url": "", "snippet": "Web search is switched off. You can switch it on in the settings of Toolcrib."},
	}}}
	recorded.spoken = true
	s.check(recorded, persona(recorded), "ovos.persona.tools.call", "ovos.tools.invoke")
	if n := len(s.discover(5)); n != 5 {
		t.Errorf("%d toolboxes", n)
	}
	f := fieldAt(t, url, newLedger(), false, "ovos-web-search-tools")
	if n := len(s.discover(5)); n != 5 { // ours without it, and the other's
		t.Errorf("%d toolboxes beside another host", n)
	}
	if got := s.ask("ovos.tools.invoke", `{"name":"web_search","args":{"query":"q"}}`).Data["error"]; got != "Unknown tool: 'web_search'" {
		t.Errorf("it is still here: %v", got)
	}
	f.leave()
	for limit := time.Now().Add(patience); s.ask("ovos.tools.invoke", `{"name":"web_search","args":{"query":"q"}}`).Data["error"] != nil; {
		if time.Now().After(limit) {
			t.Fatal("it does not come back")
		}
	}
	s.check(recorded, persona(recorded), "ovos.persona.tools.call", "ovos.tools.invoke")
}
