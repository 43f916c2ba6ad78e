package desk

import (
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// TestGrantsStayInTheirOrganisation: the same subject of another organisation is
// somebody else.
func TestGrantsStayInTheirOrganisation(t *testing.T) {
	caller := toolcrib.Caller{Organisation: "acme", Subject: "ann", Agent: "coder"}
	q := Question{Caller: caller, Tool: "t", Box: "b", Native: "t", Definition: "d", Arguments: "a", Effects: toolcrib.Reads}
	g := Grant{Scope: Always, Organisation: "acme", Subject: "ann", Agent: "coder", Tool: "t", Box: "b", Native: "t", Definition: "d", Arguments: "a", Effects: toolcrib.Reads}
	now := time.Now()
	if !g.covers(&q, now) || g.Bound() != toolOf(q.bound()) {
		t.Fatal("a grant does not cover what it was given for")
	}
	for _, other := range []string{"", "other"} {
		if q.Caller.Organisation = other; g.covers(&q, now) || g.Bound() == toolOf(q.bound()) {
			t.Errorf("a grant of acme covers a call of %q", other)
		}
	}
}

func toolOf(tool, _ string) string { return tool }
