package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/files"
)

// TestShieldOuter: what the links in protected places lead to is hidden where
// dotfiles are worked on, and the links on the way stay.
func TestShieldOuter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there that people seldom have")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, root, "work/ssh/cfg", "work/fish/conf/a", "work/fish/b", "work/hosts/h", "work/free/f", "home/.ssh/x", "home/.config/fish/x", "home/.config/gh/x", "home/.aws/x")
	for link, target := range map[string]string{
		"home/.ssh/config": "work/ssh/cfg", "home/.config/fish/conf.d": "work/fish/conf", "home/.config/gh/hosts.yml": "work/cur/h", "home/.ssh/whole": "work", "home/.ssh/above": "", "home/.aws/config": "work/free/f", "work/cur": "work/hosts",
	} {
		if err := os.Symlink(filepath.Join(root, target), filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := shield(t, filepath.Join(root, "home"), append(files.DefaultProtected(), "!free/f"), nil)
	want := []string{"pin work/cur", "pin work/fish/", "hide work/fish/conf/", "pin work/hosts/", "hide work/hosts/h", "pin work/ssh/", "hide work/ssh/cfg"}
	if diff := cmp.Diff(want, covers(t, s, root, files.Dir{Path: filepath.Join(root, "work"), Write: true})); diff != "" {
		t.Errorf("covers (-want +got):\n%s", diff)
	}
}
