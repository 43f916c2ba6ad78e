package policy

import (
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// typedDecision is what is decided about a text that is typed into a job.
func typedDecision(t *testing.T, mode Mode, rules Permissions, job shellguard.Job, text string) toolcrib.Decision {
	t.Helper()
	p, guards := desk(t, mode, Layer{Rank: RankUser, Permissions: rules})
	p.Shell.Job = func(toolcrib.Call, string) (shellguard.Job, bool) { return job, true }
	x := explain(guards, toolcrib.Review{Spec: shellTool("command_input"), Input: mustJSON(t, map[string]string{"job": "1", "text": text})})
	t.Logf("%q, typed %q: %s", job.Command, text, said(x))
	return x.Decision
}

// TestTypedTextNamesPlaces: who allowed the start of a job was not asked about what
// is typed into it later.
func TestTypedTextNamesPlaces(t *testing.T) {
	rules := Permissions{Ask: []string{"write_file(./deploy/**)"}}
	for _, c := range []struct {
		job   string
		typed []string
		text  string
	}{
		{"touch deploy/first; sh -s", nil, "touch deploy/w"},
		{"sh -s", nil, "touch deploy/w"},
		{"sh", nil, "touch\tdeploy/w"},
		{"sh", nil, "touch deploy/w; echo hi!"},
		{"bash -l", nil, "echo x > deploy/w"},
		{"env sh", nil, "d=deploy; touch $d/w"},
		{"sh -e", []string{"cd deploy"}, "touch w"},
		{"cd src; sh", nil, "touch ../deploy/w"},
		{"python3 -i deploy/none.py", nil, `open("deploy/w","w").close()`},
		{"python3 -i", nil, `import shutil; shutil.rmtree('deploy')`},
		{"node -i", nil, `fs.writeFileSync("deploy/w", "x")`},
		{"sqlite3 x.db", nil, ".output deploy/w"},
		{`while read f; do touch "$f"; done`, nil, "deploy/w"},
		{"read d; touch $d/w", nil, "deploy"},
		{"xargs -I{} cp a.txt {}", nil, "deploy/w"},
	} {
		if got := typedDecision(t, ModeYolo, rules, shellguard.Job{Command: c.job, Typed: c.typed}, c.text); got != toolcrib.Ask {
			t.Errorf("%q, typed %q: %v", c.job, c.text, got)
		}
	}
	for _, c := range []struct{ job, text string }{
		{"sh -s", "make test"}, {"bash -l", "touch src/x"}, {"python3 -i", "print(1 + 1)"}, {"python3 -i", "open('src/x', 'w')"}, {"npm init", "y"}, {"psql", "update users set a = 1;"}, {"python3 -i", "2 * 3"}, {"read d; touch $d/w", "src"}, {"ssh host", "touch deploy/w"}, {"node -i", "1"},
	} {
		if got := typedDecision(t, ModeYolo, rules, shellguard.Job{Command: c.job}, c.text); got != toolcrib.Allow {
			t.Errorf("%q, typed %q: %v", c.job, c.text, got)
		}
	}
	for _, text := range []string{"cat secrets/k", "git show HEAD:secrets/k", "git log -p -- 'sec*'"} {
		for _, job := range []string{"sh -s", "bash -l", "cd src; cd ..; sh -e"} {
			if got := typedDecision(t, ModeYolo, Permissions{Deny: []string{"files/*(./secrets/**)"}}, shellguard.Job{Command: job}, text); got != toolcrib.Deny {
				t.Errorf("%q, typed %q: %v", job, text, got)
			}
		}
	}
}
