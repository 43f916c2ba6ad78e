//go:build unix

package container

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// TestCovers: protected places of a granted directory are mounted over, after
// the directory itself.
func TestCovers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".env", ".env.d/x", ".git/config", ".git/hooks/x", "file"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	shield, err := sandbox.NewShield("", []string{".env*"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	shield.WriteGit = true
	f := newFake(t, nil)
	s := f.open(t, Config{User: "12345:23456", Shield: shield})
	if _, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/echo"}, toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}}); err != nil {
		t.Fatal(err)
	}
	bind := func(name, end string) string {
		path := filepath.Join(dir, name)
		return "--mount=type=bind,source=" + path + ",target=" + path + ",bind-propagation=rprivate,bind-nonrecursive=true" + end
	}
	want := []string{
		bind("", ""),
		"--mount=type=bind,source=/dev/null,target=" + filepath.Join(dir, ".env") + ",readonly",
		"--mount=type=tmpfs,target=" + filepath.Join(dir, ".env.d") + ",tmpfs-size=4096,tmpfs-mode=0000,readonly",
		bind(".git", ""), bind(".git/config", ",readonly"), bind(".git/hooks", ",readonly"),
	}
	got := slices.DeleteFunc(f.asked(t)[0], func(a string) bool { return !strings.HasPrefix(a, "--mount=") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}
