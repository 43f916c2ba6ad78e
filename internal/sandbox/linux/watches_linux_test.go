//go:build amd64 || arm64

package linux

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

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
