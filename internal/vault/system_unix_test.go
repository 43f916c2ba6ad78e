//go:build !windows

package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib/internal/durable"
)

func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }

// watchModes sets and rotates without a umask that would help, and looks at
// every point of every write at who could read what is there.
func watchModes(v *Vault, keys Keys) error {
	syscall.Umask(0)
	seen := map[string]int{}
	var wrong error
	v.store.replace.At = func(point durable.Point) {
		err := filepath.WalkDir(filepath.Dir(v.store.dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if info.Mode().Perm() != want {
				return fmt.Errorf("%s: %s has the mode %o", point, d.Name(), info.Mode().Perm())
			}
			if d.Name() == tempName && point == durable.Made && info.Size() != 0 {
				return errors.New("the new file has content before it is looked at")
			}
			seen[string(point)+" "+d.Name()]++
			return nil
		})
		wrong = errors.Join(wrong, err)
	}
	for range 2 {
		if err := v.Set(context.Background(), named("A"), "one"); err != nil {
			return err
		}
	}
	if _, err := v.Rotate(context.Background(), keys); err != nil {
		return err
	}
	if seen[string(durable.Made)+" "+tempName] < 3 || seen[string(durable.Done)+" "+fileName] < 3 || seen[string(durable.Done)+" "+lockName] < 3 {
		return fmt.Errorf("not everything was looked at: %v", seen)
	}
	return wrong
}

func TestModesFromTheFirstByte(t *testing.T) {
	ringDir, dir := t.TempDir(), t.TempDir()
	// The parents are made as well, and no wider.
	must(t, child(t, "modes", filepath.Join(dir, "new", "vault"), ringDir).Run())
}

func TestCommandLine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc to look at")
	}
	c := child(t, "command line", filepath.Join(t.TempDir(), "vault"), t.TempDir())
	c.Stdin = strings.NewReader(treasure)
	must(t, c.Run())
}

// The root of the system is root's: whoever else runs this test sees a place
// that belongs to another.
func TestAnothersPlace(t *testing.T) {
	info, err := os.Lstat("/")
	must(t, err)
	if _, ours := owner(info); ours != (os.Geteuid() == 0) {
		t.Errorf("the root directory is ours: %v", ours)
	}
	if os.Geteuid() != 0 {
		wantErr(t, checkRights("/", info, 0o700), ErrUnsafe)
	}
}
