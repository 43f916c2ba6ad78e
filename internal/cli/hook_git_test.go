//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitSite is a project in which a client's commands of git are judged and then run.
type gitSite struct {
	*hookSite
	shell string
}

func newGitSite(t *testing.T, settings string) *gitSite {
	t.Helper()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the client's shell here is bash, and there is none")
	}
	s := &gitSite{newHookSite(t, settings), shell}
	s.write(filepath.Join(s.dir, ".env"), "S3CRET=1\n")
	s.write(filepath.Join(s.dir, "conf", ".env"), "S3CRET=2\n")
	s.write(filepath.Join(s.dir, "denied", "x.txt"), "S3CRET=3\n")
	return s
}

// run runs a line for real and says what it prints.
func (s *gitSite) run(line string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), s.shell, "-c", line)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_PAGER=cat")
	out, _ := cmd.CombinedOutput() // that a diff finds something is a failure too
	return string(out)
}

func (s *gitSite) judge(line string) string {
	s.t.Helper()
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.word("claude-code", "PreToolUse", "Bash", string(input))
}

// leaks: each line prints what is protected or denied, so it must not pass.
func (s *gitSite) leaks(lines ...string) {
	s.t.Helper()
	for _, line := range lines {
		if out := s.run(line); !strings.Contains(out, "S3CRET") {
			s.t.Errorf("%q shows nothing, so that it proves nothing: %s", line, out)
		}
		if got := s.judge(line); got == "pass" || got == "allow" {
			s.t.Errorf("%q: %s, and it prints what is protected", line, got)
		}
	}
}

// passes: everyday lines, which print nothing that is protected.
func (s *gitSite) passes(lines ...string) {
	s.t.Helper()
	for _, line := range lines {
		if got := s.judge(line); got != "pass" {
			s.t.Errorf("%q: %s", line, got)
		}
		if out := s.run(line); strings.Contains(out, "S3CRET") {
			s.t.Errorf("%q prints what is protected: %s", line, out)
		}
	}
}

const deniedPlace = "permissions:\n  deny: [\"read_file(./denied/**)\"]\n"

// TestHookGitSearchesUntracked: with these options git grep goes through the tree.
func TestHookGitSearchesUntracked(t *testing.T) {
	t.Parallel()
	s := newGitSite(t, deniedPlace)
	s.run("git init -q -b main && git add ok && git commit -qm x")
	s.leaks("git grep --untracked S3CRET", "git grep --untracked --no-exclude-standard S3CRET", "git grep --no-exclude-standard --untracked S3CRET", "git grep --max-depth=0 --untracked S3CRET",
		"git -C conf grep --untracked S3CRET", "cd conf && git grep --untracked S3CRET", "git -C ok grep --untracked S3CRET -- :/", "git grep --untracked S3CRET -- denied")
	s.passes("git grep S3CRET", "git grep -n a", "git grep -n a -- ok", "git grep --cached a", "git -C ok grep a")
	s.write(filepath.Join(s.dir, ".gitignore"), ".env\ndenied\n")
	s.leaks("git grep --untracked --no-exclude-standard S3CRET")
	// Outside of a repository a setting of the person lets git grep read the tree.
	s = newGitSite(t, deniedPlace)
	s.write(filepath.Join(s.home, ".gitconfig"), "[grep]\n\tfallbackToNoIndex = true\n")
	s.leaks("git grep S3CRET")
}

// TestHookGitComparesOutsideOfRepositories: without a repository, or beyond it, git diff
// compares trees.
func TestHookGitComparesOutsideOfRepositories(t *testing.T) {
	t.Parallel()
	s := newGitSite(t, deniedPlace)
	s.leaks("git diff ok conf", "git diff . conf", "git diff -- ok conf", "git diff ok denied", "cd ok && git diff . ../conf", "git diff --stat -p ok conf", "git diff ok/ conf/", "git -C ok diff ../ok ../conf")
	s.run("mkdir .git; mkdir .git/objects .git/refs") // which git takes for none
	s.leaks("git diff ok conf")
	s = newGitSite(t, deniedPlace)
	s.write(filepath.Join(s.dir, "lib", "a.txt"), "a")
	s.run("git -C lib init -q -b main && git -C lib add a.txt && git -C lib commit -qm x")
	s.leaks("git -C lib diff ../ok ../conf", "cd lib && git diff . ../conf", "cd lib && git diff -- ../conf .")
	s.passes("git -C lib diff a.txt", "git -C lib diff HEAD -- a.txt")
	s = newGitSite(t, deniedPlace)
	s.run("git init -q -b main && git add ok && git commit -qm x")
	s.passes("git diff ok conf", "git diff -- ok conf", "git diff HEAD -- ok conf", "git -C ok diff . ../conf")
}

// TestHookGitOptionsThatImplyAPatch: of a .env that git knows.
func TestHookGitOptionsThatImplyAPatch(t *testing.T) {
	t.Parallel()
	s := newGitSite(t, deniedPlace)
	s.run("git init -q -b main && git add -f . && git commit -qm x && printf 'S3CRET=9 \n' > .env && git commit -qam y")
	s.leaks("git log --cc", "git log --binary", "git log --oneline --binary", "git log --walk-reflogs --binary", "git log -g --binary", "git reflog --cc", "git reflog show --binary", "git log --check", "git log -c --stat -p", "git log -U1", "git log --full-index --binary --stat",
		"git log -L1,1:ok/../.env", "git whatchanged -p", "git diff-tree -p HEAD", "git diff --cached HEAD~1", "git log --patch-with-raw",
		"git cat-file -p $(git rev-parse HEAD:.env)", "git cat-file -p HEAD:.env", "git show HEAD", "git diff HEAD~1")
	sha := strings.TrimSpace(s.run("git rev-parse HEAD:.env"))
	s.leaks("git cat-file -p "+sha, "git cat-file blob "+sha, "git show "+sha, "git show --stat "+sha[:8])
	s.passes("git log", "git log -5", "git log --oneline", "git log --oneline --graph --all -15", "git log -3 --stat", "git log --name-only --format=%h", "git log --since=2.weeks --author=a", "git log --pretty=fuller -z", "git log -i --grep=x",
		"git reflog", "git reflog -10", "git stash list", "git status -sb", "git branch", "git branch -vv", "git diff --stat HEAD~1", "git diff --name-only HEAD~1", "git show --stat HEAD", "git show --stat HEAD~1", "git show --name-only --format= HEAD", "git cat-file -t HEAD", "git cat-file -s "+sha, "git log --raw -1")
}
