package shellguard

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzChangeOfDirectory holds the followed directory against the one in which
// real shells end.
func FuzzChangeOfDirectory(f *testing.F) {
	shells := realShells(f)
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	write(f, dir, map[string]string{"a/b/x": "", "c/d/e/x": "", "-L/x": ""})
	for name, to := range map[string]string{"a/link": "../c/d", "up": "c/d/e", "a/b/top": "../.."} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			f.Skipf("no links here: %v", err)
		}
	}
	pieces := []string{"cd ", "command cd ", "-- ", "-P ", "-L ", "a", "b", "a/link", "up", "..", ".", "c/d", "top", "a/b/top", "/", "up/..", "'a'", `"c"`, " && ", "; ", " || true; ", "(", ")", "{ ", "; }", "missing", "true", "false", "! ", "sh -c '", "'", " | ", " & ", "if ", "; then ", "; fi"}
	for _, seed := range [][]byte{{0, 2, 5}, {0, 3, 7, 19, 0, 9}, {1, 2, 8, 18, 0, 9}, {0, 25, 20, 0, 5}, {21, 0, 5, 22, 19, 0, 11}, {28, 0, 2, 5, 18, 0, 6, 29}, {0, 7, 18, 0, 15}, {27, 0, 5}, {32, 0, 5, 33, 0, 6, 34}, {0, 5, 30, 0, 8}, {0, 5, 31, 0, 8}} {
		f.Add(seed)
	}
	env := []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C"}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 16 {
			return
		}
		var b strings.Builder
		for _, c := range data {
			b.WriteString(pieces[int(c)%len(pieces)])
		}
		line := b.String()
		l := Analyze(line+"\n/bin/pwd", SystemOptions(dir))
		if len(l.Unknown) > 0 || len(l.Programs) == 0 || l.Programs[len(l.Programs)-1].Name != "/bin/pwd" {
			return
		}
		opt := SystemOptions(dir)
		var may []string
		for _, d := range l.Programs[len(l.Programs)-1].Dirs {
			if d == unknownDir {
				return
			}
			if at, err := realPath(&opt, d); err == nil {
				may = append(may, at)
			}
		}
		for _, shell := range shells {
			cmd := exec.Command(shell, "-c", line+"\n/bin/pwd")
			cmd.Dir, cmd.Env = dir, env
			out, err := cmd.Output()
			if err != nil {
				continue // it is not a line to this shell
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if got := lines[len(lines)-1]; !slices.Contains(may, got) {
				t.Errorf("%s -c %q ends in %q, and the guard follows it to %q", shell, line, got, may)
			}
		}
	})
}
