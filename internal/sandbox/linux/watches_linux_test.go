//go:build amd64 || arm64

package linux

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// TestWithoutWatches: where the kernel tells of no changes, because somebody uses
// up all watches of the account, what was removed and made again is covered too.
func TestWithoutWatches(t *testing.T) {
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	s.moves.close() // there are none
	root := tempProject(t)
	put(t, root, map[string]string{".env": "old", "conf/.env": "old", "src/a": "a"})
	const watcher = `while :; do
		s=shut
		for f in .env conf/.env; do (: <$f) 2>/dev/null && s="$s $f"; done
		echo "$s"; sleep 0.01
	done`
	said, end := longJob(t, s, root, watcher)
	said.rounds(t, "shut")
	for _, name := range []string{".env", "conf"} {
		if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(2 * settleGrace) // the program goes on without it
	if !said.comes(t, "shut") {
		t.Fatalf("%+v", end())
	}
	put(t, root, map[string]string{".env": "new", "conf/.env": "new"})
	said.comes(t, "shut") // or it had one of them open, and was ended
}

// TestToldWhileMending: what is told while covers are laid anew does not make the
// guard deaf to what is told later.
func TestToldWhileMending(t *testing.T) {
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	root := tempProject(t)
	put(t, root, map[string]string{".env": "old", "conf/.env": "old", "src/a": "a"})
	const watcher = `while :; do
		s=shut
		for f in .env conf/.env; do test -s $f && s="$s $f"; done
		echo "$s"; sleep 0.01
	done`
	said, _ := longJob(t, s, root, watcher)
	said.rounds(t, "shut")
	if err := os.Remove(filepath.Join(root, ".env")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(settleGrace / 3) // it waits for a new one
	if err := os.Rename(filepath.Join(root, "conf", ".env"), filepath.Join(root, "conf", ".env.old")); err != nil {
		t.Fatal(err) // and is told of this; no cover is laid, because that one lies already
	}
	time.Sleep(settleGrace)
	said.rounds(t, "shut")
	put(t, root, map[string]string{".env": "new", "conf/.env": "new"})
	said.rounds(t, "shut")
}

// TestWatchesAreBounded: one program does not get all that the account has.
func TestWatchesAreBounded(t *testing.T) {
	s := open(t, Config{})
	out, exit := sh(t, s, toolcrib.Grant{}, "exec 2>/dev/null; cd /proc/sys/user; echo 100000 > max_inotify_instances; cat max_inotify_instances max_inotify_watches")
	for i, name := range []string{"max_inotify_instances", "max_inotify_watches"} {
		text, err := os.ReadFile(watchBounds + name)
		if err != nil {
			t.Skip("this kernel does not count them")
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Fields(out); len(got) != 2 || got[i] != strconv.Itoa(n/2) {
			t.Errorf("%s is %q of %d: %+v", name, got, n, exit)
		}
	}
}
