//go:build amd64 || arm64

package linux

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestUnderMounts: where a file system is mounted that cannot be shown, what lies
// under it is not shown instead.
func TestUnderMounts(t *testing.T) {
	s := open(t, Config{Shield: obeyedShield(t)})
	if !s.who.root {
		t.Skip("only root of the machine mounts and maps owners")
	}
	root := tempProject(t)
	put(t, root, map[string]string{"a b/sub/.env": "under", "a b/sub/.git/HEAD": "under", "a b/x": "x", ".env": "secret"})
	sub := filepath.Join(root, "a b", "sub")
	if err := unix.Mount("none", sub, "ramfs", 0, ""); err != nil { // its owners cannot be mapped
		t.Skipf("mounting: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(sub, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	put(t, sub, map[string]string{".env": "over", ".vscode/tasks.json": "over"})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	out, exit := sh(t, s, grant, "cd "+root+"; for f in .env 'a b/sub/.env' 'a b/sub/.git/HEAD'; do cat \"$f\"; echo evil >\"$f\"; done 2>/dev/null; rm -rf 'a b/sub' 2>/dev/null; cat 'a b/x'; echo y >'a b/y'")
	if exit.Code != 0 || out != "x" {
		t.Errorf("%+v\n%s", exit, out)
	}
}

func TestMountPoints(t *testing.T) {
	got := mountPoints("22 27 0:21 / /proc rw - proc proc rw\n23 27 0:22 / /a\\040b\\134c rw shared:1 - x x rw\n24 27 0:22 / /a rw - x x rw\nodd\n")
	if strings.Join(got, "|") != `/a|/a b\c|/proc` {
		t.Errorf("%q", got)
	}
}

// FuzzMountPoints: whatever the kernel says is mounted, no place is told twice, and none
// is made up.
func FuzzMountPoints(f *testing.F) {
	f.Add("22 27 0:21 / /proc rw - proc proc rw\n23 27 0:22 / /a\\040b\\134c rw shared:1 - x x rw\n")
	f.Add("1 2 3 4 \\1 \\400 \\\n")
	f.Fuzz(func(t *testing.T, text string) {
		list := mountPoints(text)
		if len(list) > strings.Count(text, "\n")+1 {
			t.Errorf("%d places of %q", len(list), text)
		}
		for i, point := range list {
			if i > 0 && list[i-1] >= point {
				t.Errorf("%q stands behind %q", point, list[i-1])
			}
		}
	})
}
