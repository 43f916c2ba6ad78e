package app

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// randomGit is a line that somebody may use git by, with whatever comes of it: merges
// that fail, branches that are not there, history that is lost.
func randomGit(r *rand.Rand) string {
	pick := func(words string) string { list := strings.Fields(words); return list[r.IntN(len(list))] }
	branch, file := func() string { return pick("main other one two") }, pick("a src/x.go src/deep/y keep n m/n")
	switch r.IntN(20) {
	case 0, 1, 2, 3:
		return fmt.Sprintf(`mkdir -p $(dirname %s) && echo %d > %s && git add -A && git commit -qm "number %d"`, file, r.IntN(5), file, r.IntN(100))
	case 4:
		return fmt.Sprintf(`mkdir -p $(dirname %s) && echo %d >> %s; git add %s`, file, r.IntN(5), file, file)
	case 5:
		return fmt.Sprintf(`git switch -q %s`, branch())
	case 6:
		return fmt.Sprintf(`git switch -q -c %s`, branch())
	case 7:
		return fmt.Sprintf(`git merge -q --no-edit %s || git merge --abort`, branch())
	case 8:
		return fmt.Sprintf(`git rebase -q %s || git rebase --abort`, branch())
	case 9:
		return pick("stash|-q stash|pop|-q stash|-q|-u stash|drop|-q")
	case 10:
		return fmt.Sprintf(`git reset -q %s %s`, pick("--hard --soft --mixed"), pick("HEAD~1 main other"))
	case 11:
		return `git commit -q --amend --no-edit`
	case 12:
		return fmt.Sprintf(`git branch -qD %s`, branch())
	case 13:
		return fmt.Sprintf(`git tag -f t%d && git tag -a -f -m x u%d`, r.IntN(3), r.IntN(3))
	case 14:
		return `git pack-refs --all`
	case 15:
		return fmt.Sprintf(`git cherry-pick %s >/dev/null 2>&1 || git cherry-pick --abort`, branch())
	case 16:
		return `git revert --no-edit HEAD || git revert --abort`
	case 17:
		return fmt.Sprintf(`git rm -qf %s && git commit -qm "removed"`, file)
	case 18:
		return fmt.Sprintf(`git mv %s moved%d && git commit -qm "moved"`, file, r.IntN(3))
	}
	return fmt.Sprintf(`git checkout -q %s -- %s`, branch(), file)
}

// TestRandomGitSessionsAreAsDirectOnes: a person who says yes to everything has the
// repository that she would have without layers.
func TestRandomGitSessionsAreAsDirectOnes(t *testing.T) {
	const sessions, lines = 3, 20
	for seed := range uint64(sessions) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			a, dir := gitProject(t, nil)
			a.Crib.Approver = &asker{answer: toolcrib.Allow}
			direct := t.TempDir()
			newRepository(t, direct)
			r := rand.New(rand.NewPCG(seed, 7))
			var done []string
			for range lines {
				line := randomGit(r)
				if strings.HasPrefix(line, "stash") {
					line = "git " + strings.ReplaceAll(line, "|", " ")
				}
				done = append(done, line)
				out, told, err := lineOn(t, a, commitDates+line)
				if err != nil || told != "" {
					t.Fatalf("%s: %+v, told %q, %v", strings.Join(done, "\n"), out, told, err)
				}
				c := exec.Command("sh", "-c", commitDates+line)
				c.Dir = direct
				c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
				if text, err := c.CombinedOutput(); (err == nil) != (out.ExitCode == 0) {
					t.Fatalf("%s: %+v, and directly %v\n%s", strings.Join(done, "\n"), out, err, text)
				}
				for _, look := range [][]string{{"ls-files", "--stage"}, {"for-each-ref"}, {"status", "--porcelain", "--branch"}, {"reflog", "--all", "--format=%H %gs"}} {
					if here, there := gitHere(t, dir, look...), gitHere(t, direct, look...); here != there {
						t.Fatalf("after\n%s\ngit %s says\n%s\nand directly\n%s", strings.Join(done, "\n"), look[0], here, there)
					}
				}
			}
			gitHere(t, dir, "fsck", "--full", "--strict")
		})
	}
}
