package ovosbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

func callTool(t testing.TB, c *toolcrib.Crib, name, input string) (*toolcrib.Result, error) {
	t.Helper()
	return c.Call(t.Context(), toolcrib.Call{Tool: name, Input: json.RawMessage(input)})
}

// Hosts of all three generations are found and called at once.
func TestGenerations(t *testing.T) {
	b := startBus(t, "127.0.0.1:0")
	hosts := []*host{double(g0, "zero").start(t, b), double(g1, "one").start(t, b), double(g2, "two").start(t, b)}
	box := b.open(t, Config{})
	lists(t, box, "one__double", "two__double", "zero__double")
	eventually(t, "it is known how the last generation is called", func() bool {
		lists(t, box, "one__double", "two__double", "zero__double")
		box.mu.Lock()
		defer box.mu.Unlock()
		return box.remotes["two"].static
	})
	c, faults := crib(t, box)
	if faults != nil || len(box.Faults()) > 0 {
		t.Fatal(faults, box.Faults())
	}
	for _, h := range hosts {
		spec, ok := c.Tool(toolcrib.Caller{}, h.id+"__double")
		if !ok || spec.Effects != 0 || spec.Group != "ovos" || spec.Description != "Doubles." || string(spec.Input) != numberArgs || spec.Timeout != time.Minute {
			t.Errorf("%s: %+v", h.id, spec)
		}
		got, err := callTool(t, c, h.id+"__double", `{"n":2.5}`)
		if err != nil || string(got.Value) != `{"result":5}` || h.calls.Load() != 1 {
			t.Errorf("%s: %v, %v, called %d times", h.id, got, err, h.calls.Load())
		}
		if _, err := callTool(t, c, h.id+"__double", `{"n":"x"}`); toolcrib.CodeOf(err) != toolcrib.CodeInvalid || h.calls.Load() != 1 {
			t.Errorf("%s with a text: %v", h.id, err)
		}
	}
}

func TestErrorsOfHosts(t *testing.T) {
	b := startBus(t, "127.0.0.1:0")
	h := &host{gen: g1, id: "h"}
	for name, text := range map[string]string{
		"breaks": "RuntimeError: Tool execution failed for 'breaks' in ToolBox 'h'",
		"paints": "ValueError: \x1b[31mred\u202e\u200b",
	} {
		h.put(name, entry(name, "Fails.", anyArgs, anyArgs), func(map[string]any) (any, string) { return nil, text })
	}
	h.put("list", entry("list", "Lists.", anyArgs, anyArgs), func(map[string]any) (any, string) { return []int{1}, "" })
	h.put("nothing", entry("nothing", "Null.", anyArgs, anyArgs), func(map[string]any) (any, string) { return nil, "" })
	h.put("nan", entry("nan", "NaN.", anyArgs, numberOut), func(map[string]any) (any, string) { return map[string]any{"result": nil}, "" })
	h.put("liar", entry("liar", "Breaks its claim.", anyArgs, numberOut), func(map[string]any) (any, string) { return map[string]any{"result": "x"}, "" })
	h.put("big", entry("big", "Much.", anyArgs, anyArgs), func(map[string]any) (any, string) {
		return map[string]any{"x": strings.Repeat("x", 3<<10)}, ""
	})
	h.start(t, b)
	box := b.open(t, Config{MaxResult: 2 << 10})
	lists(t, box, "h__big", "h__breaks", "h__liar", "h__list", "h__nan", "h__nothing", "h__paints")
	c, faults := crib(t, box)
	if faults != nil {
		t.Fatal(faults)
	}
	for name, want := range map[string]string{
		"breaks":  "RuntimeError: Tool execution failed for 'breaks' in ToolBox 'h'",
		"paints":  "ValueError: [U+001B][31mred[U+202E][U+200B]",
		"list":    "the toolbox h answered with a result that is no object: [1]",
		"nothing": "the toolbox h answered with neither a result nor an error",
		"big":     "the limit is 2048",
	} {
		got, err := callTool(t, c, "h__"+name, `{}`)
		if err != nil || !got.Failed || !strings.Contains(got.String(), want) || strings.ContainsAny(got.String(), "\x1b\u202e\u200b") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := callTool(t, c, "h__nan", `{}`); err != nil || string(got.Value) != `{"result":null}` {
		t.Errorf("a number that is none: %v, %v", got, err)
	}
	if _, err := callTool(t, c, "h__liar", `{}`); toolcrib.CodeOf(err) != toolcrib.CodeInternal {
		t.Errorf("a broken claim: %v", err)
	}
}

// A host whose tools are bound three times answers three times; others on the
// bus answer too, to somebody else and under the same topic.
func TestManyAnswers(t *testing.T) {
	b := startBus(t, "127.0.0.1:0")
	h := double(g1, "h")
	h.copies = 3
	h.start(t, b)
	box := b.open(t, Config{})
	lists(t, box, "h__double")
	if len(box.Faults()) > 0 {
		t.Error(box.Faults())
	}
	c, _ := crib(t, box)
	stop := make(chan struct{})
	var noise sync.WaitGroup
	noisy := b.client(t, nil)
	noise.Go(func() { // answers without a key, with a foreign one, and of another toolbox
		for i := 0; ; i++ {
			m := bus.Message{Type: "ovos.persona.tools.h.call.response", Data: json.RawMessage(`{"result":{"result":-1},"toolbox_id":"h"}`)}
			if i%2 == 0 {
				m = m.With(bus.CorrelationKey, json.RawMessage(`"somebody else's"`))
			}
			if err := noisy.Send(context.Background(), m); err != nil {
				t.Error(err)
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			got, err := callTool(t, c, "h__double", fmt.Sprintf(`{"n":%d}`, i))
			if err != nil || string(got.Value) != fmt.Sprintf(`{"result":%d}`, 2*i) {
				t.Errorf("%d: %v, %v", i, got, err)
			}
		})
	}
	calls.Wait()
	close(stop)
	noise.Wait()
}

func TestSilence(t *testing.T) {
	b := startBus(t, "127.0.0.1:0")
	h := double(g1, "h")
	gate := make(chan struct{})
	h.put("hangs", entry("hangs", "Hangs.", anyArgs, anyArgs), func(map[string]any) (any, string) { <-gate; return map[string]any{}, "" })
	begun := make(chan struct{})
	h.put("waits", entry("waits", "Waits.", anyArgs, anyArgs), func(map[string]any) (any, string) { close(begun); <-gate; return map[string]any{}, "" })
	t.Cleanup(func() { close(gate) })
	h.start(t, b)
	box := b.open(t, Config{Timeouts: map[string]time.Duration{"h/hangs": 200 * time.Millisecond}})
	lists(t, box, "h__double", "h__hangs", "h__waits")
	c, _ := crib(t, box)
	_, err := callTool(t, c, "h__hangs", `{}`)
	if toolcrib.CodeOf(err) != toolcrib.CodeTimeout {
		t.Errorf("a tool that never answers: %v", err)
	}
	if got, err := callTool(t, c, "h__double", `{"n":1}`); err != nil || string(got.Value) != `{"result":2}` || h.calls.Load() != 2 {
		t.Errorf("the next call: %v, %v", got, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if _, err := c.Call(gone, toolcrib.Call{Tool: "h__waits", Input: json.RawMessage(`{}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that went: %v", err)
	}
}

// Hosts come, change and go, and whoever watches is told.
func TestHostsComeAndGo(t *testing.T) {
	b := startBus(t, "127.0.0.1:0")
	box := b.open(t, Config{Refresh: -1, Window: 300 * time.Millisecond})
	told := make(chan struct{}, 100)
	stop := box.Notify(func() {
		select {
		case told <- struct{}{}:
		default:
		}
	})
	defer stop()
	lists(t, box)
	listed := func(want ...string) func() bool {
		return func() bool {
			box.mu.Lock()
			defer box.mu.Unlock()
			var have []string
			for _, tool := range box.list() {
				have = append(have, tool.Name)
			}
			return slices.Equal(have, want)
		}
	}
	wait := func(what string, holds func() bool) {
		t.Helper()
		eventually(t, what, holds)
		select {
		case <-told:
		case <-time.After(patience):
			t.Fatal("nobody was told: " + what)
		}
	}
	// Somebody else asks, and a host that is new to us answers.
	h := double(g1, "h").start(t, b)
	other := b.client(t, nil)
	ask := func() {
		if err := other.Send(t.Context(), bus.Message{Type: topicDiscover}); err != nil {
			t.Error(err)
		}
	}
	ask()
	wait("the host is heard of", listed("h__double"))

	h.put("half", entry("half", "Halves.", numberArgs, numberOut), func(args map[string]any) (any, string) { return map[string]any{"result": 1}, "" })
	if err := other.Send(t.Context(), bus.Message{Type: topicReload + answerSuffix}); err != nil {
		t.Error(err)
	}
	wait("its new tool is listed", listed("h__double", "h__half"))

	h.mu.Lock()
	h.names = []string{"half"}
	delete(h.tools, "double")
	h.mu.Unlock()
	c, _ := crib(t, box)
	box.mu.Lock()
	gone := box.tool(box.remotes["h"], claimedTool{name: "double"})
	box.mu.Unlock()
	if got, err := gone.Run(t.Context(), nil, json.RawMessage(`{"n":1}`)); err != nil || !got.Failed || !strings.Contains(got.String(), "Unknown tool 'double'") {
		t.Errorf("a tool that is gone: %v, %v", got, err)
	}
	eventually(t, "its old tool is gone", listed("h__half"))
	if got, err := callTool(t, c, "h__half", `{"n":1}`); err != nil || got.Failed {
		t.Errorf("%v, %v", got, err)
	}

	if err := h.client.Close(); err != nil {
		t.Error(err)
	}
	box.Look()
	eventually(t, "a round without it", func() bool {
		box.mu.Lock()
		defer box.mu.Unlock()
		return box.remotes["h"] == nil || box.remotes["h"].missed > 0
	})
	box.Look()
	wait("the host is gone", listed())
}

// The bus goes and comes back: nothing is listed as gone, nothing runs twice.
func TestBusComesAndGoes(t *testing.T) {
	b := startBus(t, "127.0.0.1:0")
	addr := b.addr
	h := double(g1, "h").start(t, b)
	client := b.client(t, func(cfg *bus.ClientConfig) { cfg.ConnectWait = 50 * time.Millisecond })
	box, err := Open(t.Context(), Config{Window: 300 * time.Millisecond, Fresh: time.Millisecond}, port{client})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	lists(t, box, "h__double")
	c, faults := crib(t, box)
	if faults != nil {
		t.Fatal(faults)
	}
	b.stop()
	eventually(t, "the bus is gone", func() bool { // a call on the broken connection itself is never answered
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := c.Call(ctx, toolcrib.Call{Tool: "h__double", Input: json.RawMessage(`{"n":1}`)})
		return toolcrib.CodeOf(err) == toolcrib.CodeUnavailable
	})
	if _, err := box.Tools(t.Context()); !errors.Is(err, ErrAway) {
		t.Errorf("listing without a bus: %v", err)
	}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}); len(faults) != 1 {
		t.Errorf("loading without a bus: %v", faults)
	}
	if _, ok := c.Tool(toolcrib.Caller{}, "h__double"); !ok {
		t.Error("a bus that is away takes the tools from the shelf")
	}
	before := h.calls.Load()
	startBus(t, addr)
	ready, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := errors.Join(client.Ready(ready), h.client.Ready(ready)); err != nil {
		t.Fatal(err)
	}
	if got, err := callTool(t, c, "h__double", `{"n":4}`); err != nil || string(got.Value) != `{"result":8}` || h.calls.Load() != before+1 {
		t.Errorf("%v, %v, %d calls more", got, err, h.calls.Load()-before)
	}
	lists(t, box, "h__double")
}

// Frames that take down Python clients do nothing here.
func TestPoison(t *testing.T) {
	b := startBus(t, "127.0.0.1:0")
	double(g1, "h").start(t, b)
	box := b.open(t, Config{Window: time.Second})
	frames := []string{
		"", "not json", "[1]", "null", `{"type":"ovos.persona.tools.discover.response","data":[],"context":{}}`,
		`{"type":"ovos.persona.tools.discover.response","data":{"tools":NaN,"toolbox_id":"x"},"context":{}}`,
		`{"type":"ovos.persona.tools.discover.response","data":{"tools":[{}],"toolbox_id":"\ud800"},"context":{"session":null}}`,
		`{"type":"ovos.persona.tools.discover.response","data":{"tools":5,"toolbox_id":["x"]}}`,
		`{"type":"ovos.persona.tools.discover.response","data":` + strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000) + `}`,
		`{"type":"ovos.persona.tools.h.call.response","data":{"result":` + strings.Repeat("[", 20000) + `}}`,
		"\xff\xfe{}",
	}
	b.rawFrames(t, frames...)
	lists(t, box, "h__double")
	b.rawFrames(t, frames...)
	c, _ := crib(t, box)
	if got, err := callTool(t, c, "h__double", `{"n":3}`); err != nil || string(got.Value) != `{"result":6}` {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := callTool(t, c, "h__double", `{"n":3,"x":"\ud800"}`); toolcrib.CodeOf(err) == toolcrib.CodeInternal {
		t.Errorf("half a letter as an argument: %v", err)
	}
}
