package shellguard

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestClientsZshDecodesFormats: zsh reads \u0025 in a format of printf as the % of a
// directive, and evaluates what a directive of numbers is given.
func TestClientsZshDecodesFormats(t *testing.T) {
	dir := clientProject(t)
	s := clientGuard(t, dir)
	zsh, noZsh := exec.LookPath("zsh")
	for _, format := range []string{`'\u0025d'`, `'\U00000025d'`, `'a\u0025i'`, `"\u0025d"`, `\\u0025d`, `'\u25 d'`, `-- '\u0025d'`, `'%s \u0025d' a`, `'\\\u0025d'`, `$'\u0025d'`, `$'\x25d'`, `'%d'`} {
		line := "printf " + format + " 'path[$(touch PWNED)]'"
		if v := shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": line}); v.Decision != toolcrib.Ask {
			t.Errorf("%q: %v %s", line, v.Decision, v.Reason)
		}
		if noZsh != nil {
			continue
		}
		runLine(t, zsh, line, dir, []string{"PATH=" + os.Getenv("PATH")})
		if err := os.Remove(filepath.Join(dir, "PWNED")); err != nil {
			t.Errorf("%q runs nothing in zsh, so that it proves nothing", line)
		}
	}
	for _, format := range []string{`'\x25d\n'`, `'\045d\n'`, `'%s\n'`, `'u0025d\n'`} {
		line := "printf " + format + " 'path[$(touch PWNED)]'"
		if v := shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": line}); v.Decision != toolcrib.Allow {
			t.Errorf("%q: %v %s", line, v.Decision, v.Reason)
		}
		if noZsh == nil {
			runLine(t, zsh, line, dir, []string{"PATH=" + os.Getenv("PATH")})
			if _, err := os.Stat(filepath.Join(dir, "PWNED")); err == nil {
				t.Fatalf("%q runs code in zsh", line)
			}
		}
	}
}
