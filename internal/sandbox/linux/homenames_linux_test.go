//go:build amd64 || arm64

package linux

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// TestNamesOfWhatWasMovedHome: a link that a program made to a file of the project
// is no way to that file once its person has moved it to where it is protected or
// obeyed.
func TestNamesOfWhatWasMovedHome(t *testing.T) {
	base := tempProject(t)
	root, home := filepath.Join(base, "project"), filepath.Join(base, "home")
	put(t, base, map[string]string{"project/bashrc": "x", "project/settings": "x", "project/key": "x", "project/other": "x", "home/.ssh/known": "x", "home/.claude/x": "x"})
	shield, err := sandbox.NewShield(home, files.DefaultProtected(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if shield.Obeyed, err = sensitive.NewObeyedSet(); err != nil {
		t.Fatal(err)
	}
	shield.Home = home
	s := open(t, Config{Shield: shield})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	if out, exit := sh(t, s, grant, "set -e; mkdir b; for f in bashrc settings key other; do ln $f b/$f; done"); exit.Code != 0 {
		t.Fatalf("%s %+v", out, exit)
	}
	for from, to := range map[string]string{"bashrc": ".bashrc", "settings": ".claude/settings.json", "key": ".ssh/id_work", "other": "plain"} {
		if err := os.Rename(filepath.Join(root, from), filepath.Join(home, to)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time from memory
		out, exit := sh(t, s, grant, "exec 2>&1; cat b/bashrc && echo read; echo evil >>b/bashrc && echo wrote; cat b/key && echo read; echo evil >>b/key && echo wrote; echo evil >>b/settings && echo wrote; echo y >b/other; echo y >>b/new")
		if exit.Code != 0 {
			t.Errorf("%s %+v", out, exit)
		}
		for name, want := range map[string]string{".bashrc": "x", ".claude/settings.json": "x", ".ssh/id_work": "x"} {
			if text, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(text) != want {
				t.Errorf("%s holds %q, %v\n%s", name, text, err, out)
			}
		}
	}
}
