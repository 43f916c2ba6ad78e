package mcphub

import (
	"encoding/json"
	"sync/atomic"
	"testing"
)

// TestRelist: servers that run are asked again, others are not started for it, and
// those that are not meant are left alone.
func TestRelist(t *testing.T) {
	var asked atomic.Int32
	r := &rogue{tools: echo}
	r.other = func(method string, _ sayFunc, _, _ json.RawMessage) bool {
		if method == "tools/list" {
			asked.Add(1)
		}
		return false
	}
	d := house(t, t.TempDir(), r, Server{})
	all := func(string) bool { return true }
	if d.hub.Relist(t.Context(), all); asked.Load() != 0 {
		t.Error("a server was started")
	}
	if err := d.box.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := asked.Load()
	if d.hub.Relist(t.Context(), func(string) bool { return false }); asked.Load() != before {
		t.Error("one that is not meant was asked")
	}
	if d.hub.Relist(t.Context(), all); asked.Load() != before+1 {
		t.Errorf("it was asked %d times", asked.Load()-before)
	}
}
