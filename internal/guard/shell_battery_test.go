package guard

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

func hostileFiles() []string {
	return []string{"hostile_syntax.txt", "hostile_programs.txt", "hostile_options.txt"}
}

// TestHostileCommands: not one of them runs unasked, with the allow-list of a
// trusting developer and without.
func TestHostileCommands(t *testing.T) {
	lines := battery(t, hostileFiles()...)
	if len(lines) < 500 {
		t.Fatalf("only %d hostile lines", len(lines))
	}
	with := newMachine().shell(t)
	without := newMachine().shell(t)
	without.Rules = nil
	allowed := 0
	for _, e := range lines {
		for _, s := range []*Shell{with, without} {
			if v := judgeCommand(t, s, e.command); v.Decision == toolcrib.Allow {
				allowed++
				t.Errorf("%s:%d (%s): %q runs unasked by %q", e.file, e.line, e.why, e.command, v.Rule)
			}
		}
	}
	t.Logf("%d hostile lines, %d run unasked", len(lines), allowed)
}

// TestEverydayCommands: a guard that asks about everything is switched off. No
// rule helps here: the harmless forms alone must do.
func TestEverydayCommands(t *testing.T) {
	lines := battery(t, "everyday.txt")
	if len(lines) < 200 {
		t.Fatalf("only %d everyday lines", len(lines))
	}
	s := newMachine().shell(t)
	s.Rules = nil
	allowed := 0
	for _, e := range lines {
		v := judgeCommand(t, s, e.command)
		if v.Decision == toolcrib.Allow {
			allowed++
		}
		// The share is what people feel; a line that begins or ceases to ask is
		// a change all the same.
		if rightly := strings.HasPrefix(e.why, "asked about, and rightly so"); rightly == (v.Decision == toolcrib.Allow) {
			t.Errorf("%s:%d (%s): %q is judged %v\n\t%s", e.file, e.line, e.why, e.command, v.Decision, v.Reason)
		}
	}
	share := 100 * float64(allowed) / float64(len(lines))
	t.Logf("%d of %d everyday lines run unasked: %.1f %%", allowed, len(lines), share)
	if share < 95 {
		t.Errorf("%.1f %% is below 95 %%", share)
	}
}
