package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib/files"
)

// TestUnsweptKeepsHers: after a death what a program made is set aside; where the
// directory is not the one of then, nothing is, since a person's own repository
// cannot be told from it.
func TestUnsweptKeepsHers(t *testing.T) {
	for name, replaced := range map[string]bool{"same": false, "put back from a copy": true} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "project")
			repository := func() {
				for file, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tfsmonitor = \"touch x\"\n", "objects/x": "", "refs/x": ""} {
					full := filepath.Join(root, "new", ".git", file)
					if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := os.Mkdir(root, 0o755); err != nil {
				t.Fatal(err)
			}
			holds := &Holds{Dir: filepath.Join(t.TempDir(), "holds")}
			shield, err := NewShield("", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			shield.Holds = holds
			c := &Covering{shield: shield, dirs: []files.Dir{{Path: root, Write: true}}}
			u, err := c.WriteDown()
			if err != nil || u == nil {
				t.Fatal(u, err)
			}
			repository()
			if err := u.File().Close(); err != nil { // as when we die
				t.Fatal(err)
			}
			if replaced {
				if err := os.Rename(root, root+".old"); err != nil {
					t.Fatal(err)
				}
				repository()
			}
			notes := holds.Judge()
			_, err = os.ReadFile(filepath.Join(root, "new", ".git", "HEAD"))
			if len(notes) != 1 || (err == nil) != replaced {
				t.Errorf("%q, %v", notes, err)
			}
			if again := holds.Judge(); again != nil {
				t.Errorf("it is judged twice: %q", again)
			}
		})
	}
}
