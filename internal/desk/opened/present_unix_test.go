//go:build !windows

package opened

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestPresentFollowsNoLink: where a link lies, no file that it leads to is touched, made or
// taken for a sign that somebody watches.
func TestPresentFollowsNoLink(t *testing.T) {
	state := t.TempDir()
	if err := os.Mkdir(filepath.Join(state, "desk"), 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"a file": victim, "nothing": victim + "-new"} {
		if err := os.Symlink(target, presentFile(state)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(victim, time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if watched(state, time.Now()) {
			t.Errorf("a link to %s counts", name)
		}
		if err := os.Chtimes(victim, old, old); err != nil {
			t.Fatal(err)
		}
		touch(presentFile(state), time.Now())
		if !watched(state, time.Now()) {
			t.Errorf("%s: it is not said that somebody watches", name)
		}
		touch(presentFile(state), time.Now())
		if err := os.Remove(presentFile(state)); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(victim); err != nil || !info.ModTime().Equal(old) || info.Size() != 4 {
		t.Errorf("the file behind the link was touched: %v, %v", info, err)
	}
	if _, err := os.Lstat(victim + "-new"); err == nil {
		t.Error("a file was made behind the link")
	}
}
