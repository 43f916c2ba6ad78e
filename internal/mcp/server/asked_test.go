package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// A question is shown to the client whose call asks it; that of a call that a
// tool made in the same conversation, and where there are none to nobody.
func TestWhoIsAsked(t *testing.T) {
	p := newClientScreen(nil, quiet())
	add := func(id, subject, session string) {
		p.next++
		p.calls[id] = &askedCall{
			call: toolcrib.Call{ID: id, Caller: toolcrib.Caller{Subject: subject, Session: session}}, number: p.next,
			hear: func(desk.Question) bool { return true },
		}
	}
	of := func(call, subject, session string) string {
		if g := p.callFor(&desk.Question{Call: call, Caller: toolcrib.Caller{Subject: subject, Session: session}}); g != nil {
			return g.call.ID
		}
		return ""
	}
	add("a", "ann", "")
	add("b", "bob", "s")
	add("c", "bob", "s")
	add("mute", "bob", "s")
	p.calls["mute"].hear = nil
	for _, c := range []struct{ call, subject, session, want string }{
		{"a", "ann", "", "a"}, {"a", "eve", "", ""}, {"c", "bob", "s", "c"},
		{"mute", "bob", "s", ""}, {"c", "eve", "s", ""}, {"within", "ann", "", ""}, {"within", "bob", "s", "b"}, {"within", "bob", "", ""}, {"within", "bob", "other", ""}, {"within", "eve", "", ""},
	} {
		if got := of(c.call, c.subject, c.session); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	delete(p.calls, "b")
	delete(p.calls, "c")
	if got := of("within", "bob", "s"); got != "" {
		t.Errorf("%s cannot be asked", got)
	}
}

// TestDeclinedByItself: a client that says no sooner than a person could is not taken
// for one: the call is refused for now, it is told who said no, and the question can
// still be answered. A yes counts however soon it comes.
func TestDeclinedByItself(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		for action, want := range map[string]string{"decline": "the client window 1 declined by itself after ", "cancel": "the client window 1 closed the question by itself after ", "accept": ""} {
			h := build(t, version, func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: action, Content: map[string]any{"answer": "allow it once"}}, nil
			})
			h.server.tooSoon = time.Hour
			text, bad := h.call("touch", `{"n":1}`)
			if want == "" {
				if bad || h.ran.Load() != 1 {
					t.Errorf("%s: %s", action, text)
				}
				continue
			}
			open, err := h.desk.Questions(t.Context(), desk.Filter{State: desk.Open})
			if !bad || !strings.Contains(text, want) || !strings.Contains(text, "stays open") || h.ran.Load() != 0 || err != nil || len(open) != 1 {
				t.Fatalf("%s: %s; %v, %v", action, text, open, err)
			}
			if open[0].Caller.Client != "window 1" {
				t.Errorf("it was asked by %+v", open[0].Caller)
			}
			if _, err := h.desk.Answer(t.Context(), open[0].ID, desk.Reply{Choice: desk.AllowOnce}, "ann"); err != nil {
				t.Fatal(err)
			}
			if text, bad := h.call("touch", `{"n":1}`); bad || h.ran.Load() != 1 {
				t.Errorf("once a person had said yes: %s", text)
			}
		}
	})
}
