package httpapi

import (
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestMayChoose: nobody runs under a preset that is not theirs, or that their token does not name.
func TestMayChoose(t *testing.T) {
	plain := Holder{Caller: toolcrib.Caller{Subject: "token:t", Token: "t"}}
	bound, listed, all, own := plain, plain, plain, plain
	bound.Caller.Agent = "clerk"
	listed.Chooses, all.Chooses = "coder,writer", "*"
	own.own = true
	for _, c := range []struct {
		name  string
		who   Holder
		agent string
		may   bool
	}{
		{"none", plain, "", true}, {"none", plain, "coder", false}, {"none", plain, "*", false},
		{"anyone", anyone(), "coder", false},
		{"bound", bound, "clerk", true}, {"bound", bound, "coder", false}, {"bound", bound, "", false},
		{"listed", listed, "coder", true}, {"listed", listed, "writer", true}, {"listed", listed, "coder,writer", false}, {"listed", listed, "admin", false},
		{"all", all, "admin", true},
		{"own", own, "admin", true},
	} {
		if got := c.who.MayChoose(c.agent); got != c.may {
			t.Errorf("%s, %q: %v", c.name, c.agent, got)
		}
	}
}
