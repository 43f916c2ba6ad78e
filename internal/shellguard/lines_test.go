package shellguard

import (
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// leastUnasked is the share of agents.txt that runs unasked without any rule. It
// may rise: a change that lowers it makes people answer more questions.
const leastUnasked = 91.8

// inRepositoryOf is a guard without rules for a directory that is a repository.
func inRepositoryOf(t testing.TB) *Guard {
	t.Helper()
	m := shelltest.NewMachine()
	m.Files[work+"/.git/HEAD"] = "ref: refs/heads/main\n"
	m.Files[work+"/.git/objects/pack/x.idx"] = ""
	m.Files[work+"/.git/refs/heads/main"] = ""
	m.Files[work+"/.git/config"] = "[core]\n\trepositoryformatversion = 0\n"
	s := shellOn(t, m)
	s.Rules = nil
	return s
}

// TestAgentsLines measures how many of the lines that agents write need no answer
// when there is no rule at all.
func TestAgentsLines(t *testing.T) {
	lines := shelltest.Battery(t, "agents.txt")
	if len(lines) < 450 {
		t.Fatalf("only %d lines", len(lines))
	}
	s := inRepositoryOf(t)
	unasked := 0
	for _, e := range lines {
		v := shelltest.Judge(t, s, e.Command)
		if v.Decision == toolcrib.Allow {
			unasked++
			continue
		}
		t.Logf("asked: %s:%d: %q\n\t%s", e.File, e.Line, e.Command, v.Reason)
	}
	share := 100 * float64(unasked) / float64(len(lines))
	t.Logf("%d of %d lines run unasked: %.1f %%", unasked, len(lines), share)
	if share < leastUnasked {
		t.Errorf("%.1f %% is below %.1f %%", share, leastUnasked)
	}
}

// TestHostileLookalikes: none of the lines that only look like those runs unasked.
func TestHostileLookalikes(t *testing.T) {
	lines := shelltest.Battery(t, "hostile_lines.txt")
	if len(lines) < 150 {
		t.Fatalf("only %d lines", len(lines))
	}
	s := inRepositoryOf(t)
	for _, e := range lines {
		if v := shelltest.Judge(t, s, e.Command); v.Decision == toolcrib.Allow {
			t.Errorf("%s:%d (%s): %q runs unasked", e.File, e.Line, e.Why, e.Command)
		}
	}
	t.Logf("%d lines, and each is asked about", len(lines))
}
