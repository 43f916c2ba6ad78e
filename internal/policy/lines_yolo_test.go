package policy

import (
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestOrdinaryLinesAreNotAsked: a mode that asks about nothing but the floor is
// for work such as this, also with rules that take programs away.
func TestOrdinaryLinesAreNotAsked(t *testing.T) {
	lines := shelltest.Battery(t, "yolo.txt")
	if len(lines) < 200 {
		t.Fatalf("only %d lines", len(lines))
	}
	_, free := desk(t, ModeYolo)
	p, ruled := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{
		"run_command(rm *)", "run_command(git push *)", "run_command(sudo *)", "run_command(ssh *)", "run_command(shutdown *)", "run_command(dropdb *)"}}})
	unsure := 0
	for _, e := range lines {
		r := toolcrib.Review{Spec: shellTool("run_command"), Input: mustJSON(t, map[string]string{"command": e.Command})}
		if x := explain(free, r); x.Decision != toolcrib.Allow {
			t.Errorf("%s:%d: %q is judged %v: %s", e.File, e.Line, e.Command, x.Decision, said(x))
		}
		l := shellguard.Analyze(e.Command, p.Shell.Options)
		if x := explain(ruled, r); x.Decision != toolcrib.Allow && len(l.Unknown) == 0 {
			t.Errorf("%s:%d: %q is judged %v with rules: %s", e.File, e.Line, e.Command, x.Decision, said(x))
		} else if x.Decision != toolcrib.Allow {
			unsure++ // a line that is not understood in full may always be meant
		}
	}
	t.Logf("%d lines, with rules %d asked about since they are not understood in full", len(lines), unsure)
}

// said is why something was decided.
func said(x Explanation) string {
	out := ""
	for _, v := range x.By {
		out += v.Reason + "\n"
	}
	return out
}
