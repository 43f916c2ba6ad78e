package policy

import (
	"strings"
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
			// Its own patterns.
			"git log -p -- 'secrets*'", "git log -p -- 'sec*'", "git log -p 'sec*/k'", "git show HEAD -- 'secret?'", "git diff -- 'secret[s]'", "git diff -- '*crets*'", "git log -p -- '**/secrets/**'", "git log -p -- ':(glob)sec*/**'", "git log -p -- ':(top,glob)sec*/**'", "git log -p -- ':(icase)SEC*'",
			"git grep x HEAD -- 'sec*'", "git grep x -- 'sec*'", "git grep -e x 'sec*'", "git grep x 'sec*'", "cd src && git log -p -- ':/sec*'", "cd src && git log -p -- '../sec*'", "git -C src log -p -- '../sec*/k'", `git log -p -- 'se\crets/k'`, "git diff -- ':/secrets'", "git diff-tree -p HEAD -- 'sec*'", "git ls-files 'sec*'", "git -c color.ui=never log -p -- 'sec*'",
			"git diff HEAD: -- secrets", "echo 'sec*' | git log -p --stdin --", "git stash show -p -- 'sec*'", "git whatchanged -p 'sec*'",
		} {
			if v := verdictOf(t, guards, shellTool("run_command"), map[string]string{"command": line}); v.Decision != toolcrib.Deny {
				t.Errorf("%q: %v in %s", line, v.Decision, m)
			}
		}
		for _, line := range []string{
			"git show HEAD:src/k", "git show HEAD", "git log -p", "git log --grep=fix:secrets", "git grep -n x -- ':!secrets'", "git log -- ':(exclude)secrets' src", "git show HEAD:docs/secrets.md", "git log --format=%h:secrets", "git diff HEAD~1 HEAD",
			"git log -p -- '*.go'", "git log -p -- 'src/*'", "git grep -n 'secrets.*k'", "git grep 'sec.*' -- src", "git grep -e 'sec.*' -- '*.go'", "git log -S 'sec*' -- src", "git log --grep 'sec*'", "git log --author 'sec*'", "git ls-files '*.ts'", "git diff -- '*'", "git tag --list 'sec*'", "git branch --list 'sec*'", "git log -- ':(top,exclude)secrets' src", "git log -- ':!sec*'", "git diff HEAD:src -- secrets.go", "git show HEAD -- 'sectors*'", "git log -p -- 'secretsx?'",
		} {
			if v := verdictOf(t, guards, shellTool("run_command"), map[string]string{"command": line}); v.Decision != toolcrib.Allow {
				t.Errorf("%q: %v in %s: %+v", line, v.Decision, m, v)
			}
		}
	}
}

// TestManyPatternsOfGit: patterns that nobody writes are not compared with every
// rule, and do not pass either: a long one, and more than can be looked at.
func TestManyPatternsOfGit(t *testing.T) {
	_, guards := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"files/*(./secrets/**)"}}})
	many := "git log -p --" + strings.Repeat(" ':/x"+strings.Repeat("*a", 140)+"'", 20)
	for name, line := range map[string]string{
		"a long one": "git log -p -- '" + strings.Repeat("*", 290) + "s" + strings.Repeat("?", 20) + "'", "many": many + " 'sec*'", "many others": many,
	} {
		if v := verdictOf(t, guards, shellTool("run_command"), map[string]string{"command": line}); v.Decision != toolcrib.Deny {
			t.Errorf("%s: %v", name, v.Decision)
		}
	}
}
