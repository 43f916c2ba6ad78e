package safety

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
)

// TestTimes: the deadline a tool sees, through a whole crib.
func TestTimes(t *testing.T) {
	dir := t.TempDir()
	most := toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}, Hosts: []string{"*.example.com"}, Programs: []string{"*"}, Secrets: []string{"a", "b"}}
	times := &Times{Most: most, Limits: []TimeLimit{
		{picks(t, "group:web"), 10 * time.Minute}, {picks(t, "fetch"), 5 * time.Minute}, {picks(t, "own"), time.Minute}, {picks(t, "late"), 24 * time.Hour}, {picks(t, "none"), 0},
	}}
	for name, c := range map[string]struct {
		own  time.Duration
		want time.Duration
	}{
		"fetch": {0, 5 * time.Minute}, "find": {0, 10 * time.Minute}, "own": {10 * time.Minute, time.Minute}, "late": {2 * time.Hour, time.Hour}, "none": {0, 2 * time.Minute},
	} {
		var left time.Duration
		group := ""
		if name == "fetch" || name == "find" {
			group = "web"
		}
		tool := toolcrib.Tool{Spec: toolcrib.Spec{Name: name, Group: group, Timeout: c.own, Effects: toolcrib.Reads | toolcrib.Writes}, Run: func(ctx context.Context, env *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			end, _ := ctx.Deadline()
			left = time.Until(end)
			if env.Files == nil {
				t.Error("the grant has lost its directories")
			}
			return toolcrib.Text(""), nil
		}}
		crib := &toolcrib.Crib{
			Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{times, cribtest.Allow()}, Grant: most,
			Limits: toolcrib.Limits{Timeout: 2 * time.Minute, MaxTimeout: time.Hour},
		}
		if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("box", tool)}}); faults != nil {
			t.Fatal(faults)
		}
		if _, err := crib.Call(t.Context(), toolcrib.Call{Tool: name}); err != nil {
			t.Fatal(err)
		}
		if left > c.want || left < c.want-30*time.Second {
			t.Errorf("%s has %v, want %v", name, left, c.want)
		}
	}
	// Alone it allows nothing.
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{times}}
	tool := toolcrib.Tool{Spec: toolcrib.Spec{Name: "fetch"}, Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		return toolcrib.Text(""), nil
	}}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("box", tool)}}); faults != nil {
		t.Fatal(faults)
	}
	if _, err := crib.Call(t.Context(), toolcrib.Call{Tool: "fetch"}); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("a time was taken for a permission: %v", err)
	}
}
