package follow

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// What happens in a call is heard by who made it, not by who names one of the
// same ID.
func TestEventsAreTheCallersOwn(t *testing.T) {
	var e Events
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Emit: e.Emit,
		Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)},
	}
	box := toolcrib.NewBox("test", toolcrib.Tool{
		Spec: toolcrib.Spec{Name: "busy", Effects: toolcrib.Pure},
		Run: func(_ context.Context, env *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			env.Emit(toolcrib.Event{Kind: "log", Text: "a word", Caller: toolcrib.Caller{Subject: "eve"}})
			return toolcrib.Text("done"), nil
		},
	})
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}); faults != nil {
		t.Fatal(faults)
	}
	heard := map[string]int{}
	for name, caller := range map[string]toolcrib.Caller{
		"ann": {Subject: "ann", Organisation: "acme", Session: "other"}, "bob": {Subject: "bob", Organisation: "acme"},
		"namesake": {Subject: "ann", Organisation: "other"}, "eve": {Subject: "eve"}, "nobody": {},
	} {
		stop := e.Follow(toolcrib.Call{ID: "c1", Caller: caller}, func(ev toolcrib.Event) {
			heard[name]++
			if text, err := json.Marshal(ev); err != nil || strings.Contains(string(text), "acme") {
				t.Errorf("%s, %v: an event does not say whose it is", text, err)
			}
		})
		t.Cleanup(stop)
	}
	if _, err := c.Call(t.Context(), toolcrib.Call{ID: "c1", Tool: "busy", Caller: toolcrib.Caller{Subject: "ann", Organisation: "acme", Session: "s"}}); err != nil {
		t.Fatal(err)
	}
	if len(heard) != 1 || heard["ann"] != 1 {
		t.Errorf("heard by %v", heard)
	}
}
