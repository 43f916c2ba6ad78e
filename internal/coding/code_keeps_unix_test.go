//go:build unix

package coding

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/interpreter"
)

// TestInterpretersShowNothingOfOurs: one whose directories hold the state, or the project, is not offered.
func TestInterpretersShowNothingOfOurs(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	for _, dir := range []string{"own/state", "work/proj", "opt/py"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("own/state"), at("state")); err != nil {
		t.Fatal(err)
	}
	r := &codeRunner{needs: Needs{State: at("state"), Dir: at("work/proj"), Dirs: []files.Dir{{Path: at("work/proj")}}}}
	for dir, want := range map[string]bool{"own": false, "own/state": false, "work": false, "work/proj": false, "work/proj/.venv": true, "opt/py": true} {
		if _, err := r.keeps(interpreter.Interpreter{Dirs: []string{at(dir)}}, nil); (err == nil) != want {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
