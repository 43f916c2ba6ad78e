package shellguard

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// dirInfo is a directory.
type dirInfo struct{ fs.FileInfo }

func (dirInfo) IsDir() bool { return true }

// literalOn is a guard for lines that no sandbox bounds. A name without a dot is a
// directory; secret says which trees hold something.
func literalOn(t testing.TB, secret func(Tree) bool) *Guard {
	t.Helper()
	m := shelltest.NewMachine()
	s := shellOn(t, m)
	s.Rules, s.Bounded, s.Literal = nil, false, true
	s.Options.Stat = func(p string) (fs.FileInfo, error) {
		info, err := m.Stat(p)
		if strings.HasPrefix(p, shelltest.Work) && !strings.Contains(path.Base(p), ".") {
			return dirInfo{info}, err
		}
		return info, err
	}
	s.Holds = func(_ toolcrib.Call, tree Tree) error {
		if secret != nil && secret(tree) {
			return errors.New("it holds a secret")
		}
		return nil
	}
	s.Named = func(toolcrib.Call, string, []string) error { return nil }
	return s
}

// TestLiteralHostile: what is hostile in a sandbox is so without one.
func TestLiteralHostile(t *testing.T) {
	s := literalOn(t, nil)
	n := 0
	for _, file := range append(hostileFiles(), "hostile_lines.txt", "hostile_broad.txt", "hostile_work.txt", "floor.txt") {
		for _, e := range shelltest.Battery(t, file) {
			if n++; shelltest.Judge(t, s, e.Command).Decision == toolcrib.Allow {
				t.Errorf("%s:%d (%s): %q runs unasked", e.File, e.Line, e.Why, e.Command)
			}
		}
	}
	t.Logf("%d hostile lines", n)
}

// TestLiteralShare: how much of everyday work goes on without a question.
func TestLiteralShare(t *testing.T) {
	for file, least := range map[string]float64{"agents.txt": 60, "everyday.txt": 60} {
		s, free, n := literalOn(t, nil), 0, 0
		for _, e := range shelltest.Battery(t, file) {
			n++
			v := shelltest.Judge(t, s, e.Command)
			if v.Decision == toolcrib.Allow {
				free++
			} else if testing.Verbose() {
				t.Logf("asked: %s", e.Command)
			}
		}
		share := 100 * float64(free) / float64(n)
		t.Logf("%s: %d of %d lines run unasked: %.1f %%", file, free, n, share)
		if share < least {
			t.Errorf("%s: %.1f %% is below %.0f %%", file, share, least)
		}
	}
}

func TestLiteralVerdicts(t *testing.T) {
	s := literalOn(t, func(tree Tree) bool { return len(tree.Names) == 0 })
	for _, line := range []string{
		"ls", "ls -la src", "pwd", "echo hello", "cat main.go", "head -n 5 a.go b.go", "wc -l main.go", "grep -n func main.go", "which git", "git --version", "node --version",
		"git status", "git log --oneline -5", "git diff", "git show HEAD", "find . -name '*.go'", "cat main.go | sort | uniq -c", "cd src && ls", "ls -R",
		"grep -rn func --include='*.go' src", "for f in a.go b.go; do wc -l $f; done", "x=main.go; cat $x", "test -f go.mod && echo yes", "sed -n 1,5p main.go", "go version",
	} {
		if v := shelltest.Judge(t, s, line); v.Decision != toolcrib.Allow || v.Rule != "read-only" {
			t.Errorf("%q: %v, %s", line, v.Decision, v.Reason)
		}
	}
	for _, line := range []string{
		"cat /etc/passwd", "cat ../other/x.go", "cat link-out/passwd", "cat ~/.ssh/id_rsa", "cat /proc/self/environ", "env", "printenv", "export", "export -p", "set", "echo $ANTHROPIC_API_KEY", "printenv GITHUB_TOKEN", "declare -p",
		"grep -rn func src", "grep -r x .", "grep -rn x --include='*.go' --include=\"$X\" src", "grep -R x src", "rg x", "rg x src", "grep -r --exclude=y --include='*.go' x .", "git show HEAD:/etc/passwd", "git show HEAD:../x", "rg --hidden x", "rg -uu x src", "rg -. x", "diff a b", "diff -r --no-dereference a b",
		"find . -exec cat {} +", "git ls-files | xargs cat", "cat $(cat names.txt)", "for f in $(cat names.txt); do cat src/$f; done", "md5sum -c sums.txt", "sha256sum --check sums.txt", "ps aux", "go list ./...", "go env", "npm ls", "man -k x", "lsof -p 1", "touch x", "cat main.go > x.go", "tee x < main.go", "curl https://example.com",
		"awk 'BEGIN{print ENVIRON[\"X\"]}'", "jq -n env", "sed -n 'r /etc/passwd' main.go", "jq -n '$ENV'", "awk '{print}' /etc/passwd", "cat < /etc/passwd", "ls /etc", "cd /etc && cat passwd", "git -C /etc status",
	} {
		if v := shelltest.Judge(t, s, line); v.Decision == toolcrib.Allow {
			t.Errorf("%q runs unasked by %q", line, v.Rule)
		}
	}
	s.Named = func(toolcrib.Call, string, []string) error { return errors.New("it would read .env") }
	s.ReadFile = func(p string) ([]byte, error) {
		switch p {
		case shelltest.Work + "/.git/index":
			return []byte("no index"), nil
		case shelltest.Work + "/.git":
			return nil, errors.New("a directory")
		}
		return nil, fs.ErrNotExist
	}
	if v := shelltest.Judge(t, s, "git diff"); v.Decision == toolcrib.Allow {
		t.Error("git diff passes with an index that nobody understands")
	}
}
