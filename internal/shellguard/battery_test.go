package shellguard

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

func hostileFiles() []string {
	return []string{"hostile_syntax.txt", "hostile_programs.txt", "hostile_options.txt"}
}

// TestHostileCommands: not one of them runs unasked, with the allow-list of a
// trusting developer and without.
func TestHostileCommands(t *testing.T) {
	lines := shelltest.Battery(t, hostileFiles()...)
	if len(lines) < 500 {
		t.Fatalf("only %d hostile lines", len(lines))
	}
	with := shellOn(t, shelltest.NewMachine())
	without := shellOn(t, shelltest.NewMachine())
	without.Rules = nil
	allowed := 0
	for _, e := range lines {
		for _, s := range []*Guard{with, without} {
			if v := shelltest.Judge(t, s, e.Command); v.Decision == toolcrib.Allow {
				allowed++
				t.Errorf("%s:%d (%s): %q runs unasked by %q", e.File, e.Line, e.Why, e.Command, v.Rule)
			}
		}
	}
	t.Logf("%d hostile lines, %d run unasked", len(lines), allowed)
}

// TestEverydayCommands: a guard that asks about everything is switched off. No
// rule helps here: the harmless forms alone must do.
func TestEverydayCommands(t *testing.T) {
	lines := shelltest.Battery(t, "everyday.txt")
	if len(lines) < 200 {
		t.Fatalf("only %d everyday lines", len(lines))
	}
	s := shellOn(t, shelltest.NewMachine())
	s.Rules = nil
	allowed := 0
	for _, e := range lines {
		v := shelltest.Judge(t, s, e.Command)
		if v.Decision == toolcrib.Allow {
			allowed++
		}
		// The share is what people feel; a line that begins or ceases to ask is
		// a change all the same.
		if rightly := strings.HasPrefix(e.Why, "asked about, and rightly so"); rightly == (v.Decision == toolcrib.Allow) {
			t.Errorf("%s:%d (%s): %q is judged %v\n\t%s", e.File, e.Line, e.Why, e.Command, v.Decision, v.Reason)
		}
	}
	share := 100 * float64(allowed) / float64(len(lines))
	t.Logf("%d of %d everyday lines run unasked: %.1f %%", allowed, len(lines), share)
	if share < 95 {
		t.Errorf("%.1f %% is below 95 %%", share)
	}
}
