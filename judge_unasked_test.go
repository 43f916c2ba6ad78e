package toolcrib

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
)

// grantBox notes what programs are granted.
type grantBox struct{ fixed []string }

func (*grantBox) Enforces() Bounds { return ^Bounds(0) }

func (b *grantBox) Run(_ context.Context, _ Cmd, grant Grant) (Exit, error) {
	b.fixed = grant.Fixed
	return Exit{}, nil
}

// TestUnasked: what a guard leaves of the grant for a call that nobody is asked
// about holds then, and not after a person said yes.
func TestUnasked(t *testing.T) {
	run := plain("run")
	run.Effects = Runs
	run.Run = func(ctx context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		_, err := env.Exec(ctx, Cmd{Path: "/bin/sh"})
		return Text("ran"), err
	}
	whole, place := Grant{Programs: []string{"*"}}, []string{"/w/deploy/**"}
	left := whole
	left.Fixed = place
	narrow := guardFunc(func(Review) (*Verdict, error) {
		return &Verdict{Decision: Allow, Note: true, Guard: "rules", Unasked: &left}, nil
	})
	for _, tt := range []struct {
		name   string
		guards []Guard
		want   []string
	}{
		{"allowed", []Guard{narrow, say(Allow, "a", nil)}, place},
		{"allowed, in another order", []Guard{say(Allow, "a", nil), narrow}, place},
		{"asked", []Guard{narrow, say(Allow, "a", nil), say(Ask, "b", nil)}, nil},
	} {
		box := &grantBox{fixed: []string{"it did not run"}}
		c := testCrib(t, run)
		c.Guards, c.Grant, c.Sandbox = tt.guards, whole, box
		c.Approver = approverFunc(func(context.Context, Question) (Answer, error) { return Answer{Decision: Allow}, nil })
		if _, err := c.Call(t.Context(), Call{Tool: "run"}); err != nil || !slices.Equal(box.fixed, tt.want) {
			t.Errorf("%s: %q, %v", tt.name, box.fixed, err)
		}
	}
}
