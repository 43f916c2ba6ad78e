package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// TestLedTo: what others obey by links and settings is known wherever in a project these
// lie, and whatever the directories around the project are called.
func TestLedTo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are layers on Linux only")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, around := range []string{"plain", ".claude/worktrees", ".git/modules"} {
		t.Run(around, func(t *testing.T) {
			root := filepath.Join(base, around, "project")
			plantTree(t, root, "sub/.git/HEAD", "sub/.git/objects/x", "sub/.git/refs/x", "sub/.git/hooks/a", "hooks/x", "more/real/tasks.json", ".vscode/tasks.json", "keys/k", "docs/x")
			if err := os.WriteFile(filepath.Join(root, "sub", ".git", "config"), []byte("[core]\n\thooksPath = ../hooks\n[include]\n\tpath = ../../inc\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			for link, to := range map[string]string{"src/.idea/x": "../../gone/x", "src/.vscode": "../more/way", "more/way": "real", ".env": "keys/k", "sub/.git/hooks/pre-push": "../../../push"} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(root, link)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
					t.Fatal(err)
				}
			}
			s := shield(t, "", []string{".env"}, nil)
			if s.Obeyed, err = sensitive.NewObeyedSet(); err != nil {
				t.Fatal(err)
			}
			s.Git = gitconfig.Source{Read: os.ReadFile}
			found, err := s.Look([]files.Dir{{Path: root, Write: true}})
			if err != nil {
				t.Fatal(err)
			}
			led := found.LedTo().Join(found.Missing())
			for name, want := range map[string]bool{
				"hooks/x": true, "hooks/new": true, "hooks": true, "more/real/tasks.json": true, "more/way": true, ".env": true, "inc": true, "gone/x": true, "push": true,
				".vscode/tasks.json": false, "sub/.git/config": false, "docs/x": false, "more/other": false, "gone": false, "src": false, "": false,
			} {
				if why := led.Why(filepath.Join(root, name)); (why != "") != want {
					t.Errorf("%s: %q", name, why)
				}
			}
		})
	}
	none, err := (*sandbox.Shield)(nil).Look(nil)
	if err != nil || none.LedTo().Join(none.Missing()).Why("/x") != "" {
		t.Errorf("without a shield: %v", err)
	}
}
