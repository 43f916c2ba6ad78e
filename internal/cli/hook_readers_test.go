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

// TestHookReaders: a client's command that only reads what the line names passes as
// the client's own tools for reading do, and no rule is needed. What is protected or
// denied is not read that way, by whatever name.
func TestHookReaders(t *testing.T) {
	t.Parallel()
	s := newHookSite(t, "permissions:\n  deny: [\"read_file(./denied/**)\"]\n")
	s.write(filepath.Join(s.dir, "denied", "x.txt"), "x")
	s.write(filepath.Join(s.dir, "ok", "b.txt"), "b")
	for from, to := range map[string]string{"link": ".env", "ok/out": "/etc", "ok/in": "../denied"} {
		if err := os.Symlink(to, filepath.Join(s.dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", s.dir}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+s.home)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "-q")
	git("add", "ok/a.txt")
	judge := func(want string, lines ...string) {
		for _, line := range lines {
			input, err := json.Marshal(map[string]string{"command": line})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.word("claude-code", "PreToolUse", "Bash", string(input)); !strings.HasPrefix(got, want) {
				t.Errorf("%q: %s, want %s", line, got, want)
			}
		}
	}
	judge("pass", "pwd", "ls -la", "cat ok/a.txt | head -n 3", "wc -l ok/*.txt", "grep -n a ok/a.txt", "grep -rn a ok/b.txt", "find . -name '*.txt'", "git status", "git diff", "which sh", "cd ok && cat a.txt")
	judge("ask", "cat .env", "cat link", "cat ok/out/passwd", "grep -rn KEY .", "grep -rn KEY", "env", "find . -name .env -exec cat {} +", "ls | xargs cat", "touch x", "cat ok/a.txt > y")
	for _, line := range []string{"cat denied/x.txt", "cat ok/in/x.txt", "grep -r x denied", "cat ok/../denied/x.txt"} {
		input, _ := json.Marshal(map[string]string{"command": line})
		if got := s.word("claude-code", "PreToolUse", "Bash", string(input)); got == "pass" || got == "allow" {
			t.Errorf("%q: %s", line, got)
		}
	}
	// Another name of a protected file, which git tracks.
	if err := os.Link(filepath.Join(s.dir, ".env"), filepath.Join(s.dir, "ok", "notes.txt")); err != nil {
		t.Fatal(err)
	}
	git("add", "-N", "ok/notes.txt")
	judge("ask", "git diff", "git grep KEY", "git diff ok/notes.txt")
	git("reset", "-q", "--", "ok/notes.txt")
	git("add", "-f", ".env")
	judge("ask", "git diff", "git grep KEY", "git show :.env", "git show HEAD:ok/../.env")
	judge("pass", "git status --short")
}
