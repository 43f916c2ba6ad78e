package guard

import (
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestHistoryIsDeniedByName: a rule about a place holds what git keeps of it
// where a line says its name.
func TestHistoryIsDeniedByName(t *testing.T) {
	for _, m := range []Mode{ModeDefault, ModeYolo} {
		_, guards := desk(t, m, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"files/*(./secrets/**)"}}})
		for _, line := range []string{
			"git show HEAD:secrets/k", "git show :secrets/k", "git show :0:secrets/k", "git show HEAD~2:./secrets/k", "git show 'HEAD@{1}:secrets/k'", "git show main:secrets", "git cat-file -p HEAD:secrets/k", "git cat-file blob HEAD:secrets/k",
			"git show HEAD:src/x HEAD:secrets/k", "cd src && git show HEAD:secrets/k", "cd src && git show HEAD:../secrets/k", "git -C src show HEAD:secrets/k", "git diff HEAD:secrets/k HEAD:src/x", "git log -L1,5:secrets/k", "git log -L 1,5:secrets/k", "git log -L :f:secrets/k",
			"git log -p -- :/secrets", "git log -p -- ':(top)secrets/k'", "git grep -n x -- ':(top,icase)secrets'", "git --no-pager show HEAD:secrets/k", "git show HEAD:se''crets/k", "git show HEAD:secrets/k | head", "git rev-parse HEAD:secrets/k", "git archive HEAD:secrets",
			"git show HEAD:SECRETS/k", "git cat-file --batch <<< HEAD:secrets/k", "echo HEAD:secrets/k | git cat-file --batch", "git blame HEAD -- :/secrets/k",
		} {
			if v := verdictOf(t, guards, shellTool("run_command"), map[string]string{"command": line}); v.Decision != toolcrib.Deny {
				t.Errorf("%q: %v in %s", line, v.Decision, m)
			}
		}
		for _, line := range []string{
			"git show HEAD:src/k", "git show HEAD", "git log -p", "git log --grep=fix:secrets", "git grep -n x -- ':!secrets'", "git log -- ':(exclude)secrets' src", "git show HEAD:docs/secrets.md", "git log --format=%h:secrets", "git diff HEAD~1 HEAD",
		} {
			if v := verdictOf(t, guards, shellTool("run_command"), map[string]string{"command": line}); v.Decision != toolcrib.Allow {
				t.Errorf("%q: %v in %s: %+v", line, v.Decision, m, v)
			}
		}
	}
}
