package shellguard

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestSilentOptionsOfGitAreSilent: what counts as printing nothing of files was tried.
func TestSilentOptionsOfGitAreSilent(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	shell := realShells(t)[0]
	runLine(t, shell, "git init -q -b main && echo S3CRET=1 > k.txt && git add k.txt && git commit -qm x && echo S3CRET=2 > k.txt && git commit -qam y && git checkout -qb side HEAD~1 && echo a > a.txt && git add a.txt && git commit -qm z && git merge -q main -m m && echo S3CRET=3 > k.txt", dir, env)
	tried := 0
	for name := range strings.FieldsSeq(silentLog) {
		option := "--" + name
		if len(name) == 1 {
			option = "-" + name
		}
		for _, value := range []string{"", "=1", " 1", "=email", "=mboxrd", "=x", "=HEAD~1", "=head"} {
			for _, sub := range []string{"log ", "log --oneline ", "log --stat ", "reflog ", "stash list "} {
				if sub != "log " && value != "" {
					continue
				}
				tried++
				if out := runLine(t, shell, git+" "+sub+option+value, dir, env); strings.Contains(out, "S3CRET") {
					t.Errorf("git %s%s%s prints what files hold", sub, option, value)
				}
			}
		}
		if isOneOf(name, instead) {
			for _, sub := range []string{"diff", "diff HEAD~1", "show", "whatchanged", "diff-tree HEAD", "diff-index HEAD", "diff-files", "stash show"} {
				if out := runLine(t, shell, git+" "+sub+" "+option, dir, env); strings.Contains(out, "S3CRET") {
					t.Errorf("git %s %s prints what files hold", sub, option)
				}
			}
		}
	}
	if out := runLine(t, shell, "git log -p; git diff", dir, env); !strings.Contains(out, "S3CRET=3") {
		t.Error("nothing was there to be printed:", out)
	}
	t.Logf("%d commands", tried)
}
