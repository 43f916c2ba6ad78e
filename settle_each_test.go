package toolcrib

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// lookedGuard denies some paths, and must be used by one goroutine at a time: it is made
// anew for each look.
type lookedGuard struct{ last *int }

func (g lookedGuard) Judge(_ context.Context, r Review) (*Verdict, error) {
	*g.last++ // told by the race detector if it is shared
	if strings.Contains(string(r.Input), "9denied") {
		return &Verdict{Decision: Deny, Guard: "looked", Reason: "it is denied"}, nil
	}
	return &Verdict{Decision: Allow, Guard: "looked"}, nil
}

// TestManyChangesAreJudgedInOrder: what several goroutines judge is each judged, and told
// in the order of the paths.
func TestManyChangesAreJudgedInOrder(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	dir := t.TempDir()
	held := &heldChanges{content: "x"}
	for i := range 2000 {
		name := fmt.Sprintf("%04d", i)
		if i%100 == 99 {
			name += "denied"
		}
		held.list = append(held.list, Change{Path: filepath.Join(dir, name), After: stateOf{0o644}})
	}
	c, _ := layerCrib(t, dir, held)
	c.Guards = []Guard{allGuard{}}
	c.MoreGuards = func() []Guard { return []Guard{lookedGuard{new(int)}} }
	r, err := c.Call(t.Context(), Call{Tool: "run", Input: json.RawMessage(`{"line":"x"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if len(held.applied) != 1980 || !slices.IsSorted(held.applied) {
		t.Errorf("%d were applied", len(held.applied))
	}
	said := r.String()
	if first, second := strings.Index(said, "0099denied"), strings.Index(said, "0199denied"); first < 0 || second < first {
		t.Errorf("told %s", said)
	}
	held.list[700].Path = filepath.Join(filepath.Dir(dir), "elsewhere")
	held.applied = nil
	ctx, cancel := context.WithCancel(t.Context())
	c.MoreGuards = func() []Guard { return []Guard{endGuard{cancel}} }
	if r, err = c.Call(ctx, Call{Tool: "run", Input: json.RawMessage(`{"line":"x"}`)}); held.applied != nil {
		t.Errorf("applied although the call was ended: %v, %v", r, err)
	}
}

type allGuard struct{}

func (allGuard) Judge(context.Context, Review) (*Verdict, error) {
	return &Verdict{Decision: Allow, Guard: "all", ChangesUnjudged: true}, nil
}

// endGuard ends the call while it judges.
type endGuard struct{ end func() }

func (g endGuard) Judge(_ context.Context, r Review) (*Verdict, error) {
	if strings.Contains(string(r.Input), "0500") {
		g.end()
	}
	return &Verdict{Decision: Allow, Guard: "end"}, nil
}
