package app

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// gitHere runs the genuine git on live files, as a person does.
func gitHere(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000"}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRepository fills a directory with a repository that has three commits, a further
// branch, and a tag.
func newRepository(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	gitHere(t, dir, "init", "-q", "-b", "main")
	for _, setting := range [][2]string{{"user.name", "Ada"}, {"user.email", "ada@example.org"}} {
		gitHere(t, dir, "config", setting[0], setting[1])
	}
	for i, text := range []string{"one\n", "two\n", "three\n"} {
		for name, content := range map[string]string{"a": text, "src/x.go": "package x // " + text, "src/deep/y": strings.Repeat(text, i+1), "keep": "kept\n"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		gitHere(t, dir, "add", "-A")
		gitHere(t, dir, "commit", "-qm", "the "+strings.TrimSpace(text))
	}
	gitHere(t, dir, "branch", "other", "HEAD~1")
	gitHere(t, dir, "tag", "v1", "HEAD~1")
}

// gitProject is a workshop on layers with a repository.
func gitProject(t *testing.T, change func(*settings.Config)) (*App, string) {
	t.Helper()
	a, dir := workshop(t, func(c *settings.Config) {
		c.Mode, c.Sandbox.Layers = "auto-edit", true
		if change != nil {
			change(c)
		}
	})
	newRepository(t, dir)
	openLayers(t, filepath.Join(filepath.Dir(dir), "state", "layers"))
	return a, dir
}

// openLayers has the directories removed in the end that the kernel leaves to nobody in
// layers that were applied.
func openLayers(t *testing.T, layers string) {
	t.Cleanup(func() {
		list, err := filepath.Glob(filepath.Join(layers, "*", "*", "work", "work"))
		for _, dir := range list {
			err = errors.Join(err, os.Chmod(dir, 0o700))
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// everydayGit are lines that git is used by every day. None of them loses history.
func everydayGit() []string {
	return []string{
		`echo four > a && git add a`,
		`git commit -qm "the four"`,
		`git status --short`,
		`git log --oneline`,
		`git switch -qc topic && echo new > n && git add -A && git commit -qm "a new file" -m "with a reason"`,
		`git mv n m && git commit -qam "moved"`,
		`git switch -q main`,
		`git merge -q --no-edit topic`,
		`echo five > a && git stash -q`,
		`echo six > a && git stash -q`,
		`git stash pop -q`,
		`git checkout -q a`,
		`git stash apply -q && git checkout -q a`,
		`git stash pop -q`,
		`git commit -qam "the five"`,
		`git branch -d topic`,
		`git tag v2 && git tag -a -m "an annotated one" v3`,
		`git switch -q other && echo o > o && git add o && git commit -qm "on the other"`,
		`git switch -q main && git merge -q --no-edit other`,
		`git rm -q keep && git commit -qm "without it"`,
		`git branch feature/deep/er && git branch -m feature/deep/er renamed`,
		`git pack-refs --all`,
		`git branch again && git branch -d again`,
		`git rev-list --objects --all | git pack-objects -q .git/objects/pack/pack > /dev/null`,
		`git switch -q --detach v1 && git switch -q main`,
		`git notes add -m "a note" && git revert --no-edit HEAD~3`,
		`ln -s a link && git add link && git commit -qm "a link"`,
		`git commit -q --allow-empty -m "nothing"`,
		`git restore --source=v1 --staged --worktree src && git commit -qm "restored"`,
		`echo w > w && git add w && git rm -q --cached w && rm w`,
		`git cherry-pick -n other && git commit -q --allow-empty -m "picked"`,
	}
}

// commitDates has commits of a line be alike in two runs.
const commitDates = `export GIT_AUTHOR_DATE="1700000000 +0000" GIT_COMMITTER_DATE="1700000000 +0000"; `

// TestGitWorksOnLayers: what git is used for every day is applied unasked where the
// mode allows to write, and leaves the same repository as a direct run.
func TestGitWorksOnLayers(t *testing.T) {
	a, dir := gitProject(t, nil)
	direct := t.TempDir()
	newRepository(t, direct)
	for i, line := range everydayGit() {
		if i == len(everydayGit())/2 { // from here on most objects lie in a pack, as differences
			gitHere(t, dir, "gc", "-q")
			gitHere(t, direct, "gc", "-q")
		}
		out, told, err := lineOn(t, a, commitDates+line)
		if err != nil || out.ExitCode != 0 || told != "" {
			t.Fatalf("%q: %+v, told %q, %v", line, out, told, err)
		}
		c := exec.Command("sh", "-c", commitDates+line)
		c.Dir = direct
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_EDITOR=true"}
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%q, run directly: %v\n%s", line, err, text)
		}
		for _, look := range [][]string{{"ls-files", "--stage"}, {"for-each-ref"}, {"symbolic-ref", "HEAD"}, {"status", "--porcelain"}, {"stash", "list"}, {"reflog", "--all", "--format=%H %gs"}} {
			if here, there := gitHere(t, dir, look...), gitHere(t, direct, look...); here != there {
				t.Fatalf("after %q git %s says\n%s\nand directly\n%s", line, look[0], here, there)
			}
		}
	}
	gitHere(t, dir, "fsck", "--full", "--strict")
}

// TestHistoryIsAskedAbout: what takes commits from branches is not done where nobody
// can be asked, though the mode allows to write, and done when a person says yes.
func TestHistoryIsAskedAbout(t *testing.T) {
	for _, line := range []string{
		`git commit -q --amend -m "another"`, `git reset -q --hard HEAD~1`, `git reset -q --soft HEAD~1`, `git branch -D lost`, `git branch -f lost main`, `git rebase -q lost`,
		`git tag -f v1 main~2`, `git tag -d annotated`, `git checkout -q -B main HEAD~2`, `git stash clear`, `git stash drop -q`, `git stash drop -q stash@{1}`, `git switch -q --detach lost; git branch -qD lost; git switch -q main`,
	} {
		t.Run(line, func(t *testing.T) {
			a, dir := gitProject(t, nil)
			gitHere(t, dir, "switch", "-qc", "lost", "other")
			gitHere(t, dir, "commit", "-q", "--allow-empty", "-m", "to be lost")
			gitHere(t, dir, "tag", "-a", "-m", "x", "annotated")
			gitHere(t, dir, "commit", "-q", "--allow-empty", "-m", "to be lost, too")
			if strings.Contains(line, "annotated") {
				gitHere(t, dir, "reset", "-q", "--hard", "other")
			}
			gitHere(t, dir, "switch", "-q", "main")
			if err := os.WriteFile(filepath.Join(dir, "a"), []byte("mine\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			gitHere(t, dir, "stash", "-q")
			if err := os.WriteFile(filepath.Join(dir, "a"), []byte("mine, too\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			gitHere(t, dir, "stash", "-q")
			before := inventory(t, dir)
			out, told, err := lineOn(t, a, line)
			if err != nil || out.ExitCode != 0 || !strings.Contains(told, "history is") && !strings.Contains(told, "deleted") && !strings.Contains(told, "moved") {
				t.Fatalf("%+v, told %q, %v", out, told, err)
			}
			if now := inventory(t, dir); now != before {
				t.Fatalf("it was done:\n%s\nbefore:\n%s", now, before)
			}
			s := &asker{answer: toolcrib.Allow}
			a.Crib.Approver = s
			if _, told, err := lineOn(t, a, line); err != nil || told != "" || len(s.seen) != 1 {
				t.Fatalf("told %q, asked %d times, %v", told, len(s.seen), err)
			}
			if !slices.ContainsFunc(s.seen[0].Reasons, func(v toolcrib.Verdict) bool { return v.Guard == "git" && v.Rule == "history" }) {
				t.Errorf("asked for %+v", s.seen[0].Reasons)
			}
			if inventory(t, dir) == before {
				t.Error("it was not done")
			}
			gitHere(t, dir, "fsck", "--full")
		})
	}
}

// TestCommitIsShownAsOne: a person sees the commit, its author and its files, and
// neither objects nor logs; the journal has it likewise.
func TestCommitIsShownAsOne(t *testing.T) {
	a, dir := gitProject(t, func(c *settings.Config) { c.Mode = "default" })
	s := &asker{answer: toolcrib.Allow}
	a.Crib.Approver = s
	var ended []toolcrib.Verdict
	a.Crib.OnEnd = append(a.Crib.OnEnd, func(_ context.Context, r *toolcrib.Record) { ended = append(ended, r.Verdicts...) })
	line := `echo changed > a; echo n > n; git add -A; git commit -qm "What it does" -m "And why."; h=$(echo hidden | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$h,only/staged`
	if out, told, err := lineOn(t, a, line); err != nil || told != "" || out.ExitCode != 0 || len(s.seen) != 1 {
		t.Fatalf("%+v, told %q, asked %d times, %v", out, told, len(s.seen), err)
	}
	shown := s.seen[0].Preview
	for _, want := range []string{`a commit on main: "What it does" by Ada <ada@example.org>`, "    | And why.", "    changed a\n", "    created n\n", " new Git objects", "-three\n+changed\n", "@@ -0,0 +1 @@\n+n\n", "1 file in the index", "+hidden\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown in\n%s", want, shown)
		}
	}
	for _, never := range []string{".git/objects", ".git/logs", ".git/index", "COMMIT_EDITMSG"} {
		if strings.Contains(shown, never) {
			t.Errorf("%q is shown in\n%s", never, shown)
		}
	}
	if strings.Count(shown, "+changed\n") != 1 {
		t.Errorf("the difference is shown twice:\n%s", shown)
	}
	note := ""
	for _, v := range ended {
		if v.Guard == "layer" {
			note += v.Reason
		}
	}
	if !strings.Contains(note, `a commit on main: "What it does"`) || strings.Contains(note, "objects/") {
		t.Errorf("the journal has %q", note)
	}
	if got := gitHere(t, dir, "log", "-1", "--format=%s"); got != "What it does" {
		t.Errorf("the last commit is %q", got)
	}
	s.answer = toolcrib.Deny
	before := inventory(t, dir)
	if _, told, err := lineOn(t, a, `git commit -q --allow-empty -m x`); err != nil || !strings.Contains(told, "a person said no") {
		t.Errorf("told %q, %v", told, err)
	}
	if inventory(t, dir) != before {
		t.Error("it was done")
	}
}

// TestCommitShowsAllThatItHas: of a file that lies in the work tree a person sees what is
// committed, too, if the list of changed files does not show it: one that was changed
// before the command, and one in a directory that Git ignores.
func TestCommitShowsAllThatItHas(t *testing.T) {
	a, dir := gitProject(t, func(c *settings.Config) { c.Mode = "default" })
	s := &asker{answer: toolcrib.Allow}
	a.Crib.Approver = s
	for name, text := range map[string]string{".gitignore": "build/\n", "a": "owl\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	line := `mkdir build; echo heron > build/x; echo rook > n; git mv keep moved; git add -f a n build/x; git commit -qm birds`
	if out, told, err := lineOn(t, a, line); err != nil || told != "" || out.ExitCode != 0 || len(s.seen) != 1 {
		t.Fatalf("%+v, told %q, asked %d times, %v", out, told, len(s.seen), err)
	}
	shown := s.seen[0].Preview
	for _, want := range []string{"+owl\n", "+heron\n", "+rook\n"} {
		if strings.Count(shown, want) != 1 {
			t.Errorf("%q is not shown once in\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "not in your files") || strings.Count(shown, "--- ") != 3 {
		t.Errorf("it shows\n%s", shown)
	}
}

// TestLookingAtRepositoriesAsksNothing: git writes its index when it only looks. That
// is no change.
func TestLookingAtRepositoriesAsksNothing(t *testing.T) {
	a, dir := gitProject(t, func(c *settings.Config) { c.Mode = "default" })
	if err := os.Chtimes(filepath.Join(dir, "a"), time.Unix(1_600_000_000, 0), time.Unix(1_600_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	before := inventory(t, dir)
	for _, line := range []string{`git status`, `git diff`, `git update-index --refresh -q`, `GIT_OPTIONAL_LOCKS=1 git status`, `git log -p`, `git describe --tags --dirty`, `git add -A`, `git stash list`} {
		if out, told, err := lineOn(t, a, line); err != nil || told != "" || out.ExitCode != 0 {
			t.Errorf("%q: %+v, told %q, %v", line, out, told, err)
		}
	}
	if inventory(t, dir) != before {
		t.Error("something was changed")
	}
}

// TestRebaseThatStopsIsAskedAbout: what git has yet to do is a list of commands that a
// person's git would run. With a yes a person goes on where the command stopped.
func TestRebaseThatStopsIsAskedAbout(t *testing.T) {
	a, dir := gitProject(t, nil)
	gitHere(t, dir, "switch", "-q", "other")
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("of the other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gitHere(t, dir, "commit", "-qam", "on the other")
	tip := gitHere(t, dir, "rev-parse", "HEAD")
	before := inventory(t, dir)
	const line = `git rebase -q main 2>/dev/null || true`
	if out, told, err := lineOn(t, a, line); err != nil || out.ExitCode != 0 || !strings.HasPrefix(told, "Nothing") || !strings.Contains(told, "rebase-merge") {
		t.Fatalf("%+v, told %q, %v", out, told, err)
	}
	if now := inventory(t, dir); now != before {
		t.Fatalf("it was done:\n%s", now)
	}
	a.Crib.Approver = &asker{answer: toolcrib.Allow}
	if _, told, err := lineOn(t, a, line); err != nil || told != "" {
		t.Fatalf("told %q, %v", told, err)
	}
	if got := gitHere(t, dir, "status", "--porcelain"); got != "UU a" {
		t.Errorf("the status is %q", got)
	}
	gitHere(t, dir, "rebase", "--abort")
	if now := gitHere(t, dir, "rev-parse", "other"); now != tip || gitHere(t, dir, "status", "--porcelain") != "" {
		t.Errorf("the branch is at %s, and was at %s", now, tip)
	}
}
