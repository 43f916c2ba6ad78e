//go:build amd64 || arm64

package linux

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
)

// TestCoreLimit: a program does not lower the limit that keeps its crash from the
// machine's own handler; those who do so are not told.
func TestCoreLimit(t *testing.T) {
	s := open(t, Config{})
	const limit = "grep -i 'core file' /proc/self/limits"
	before, _ := sh(t, s, toolcrib.Grant{}, limit)
	after, exit := sh(t, s, toolcrib.Grant{}, "ulimit -c 0 && ulimit -n 100 && ulimit -f >/dev/null && "+limit)
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &own); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(min(own.Max, 1))
	if fields := strings.Fields(before); len(fields) < 6 || fields[4] != want || fields[5] != want || exit.Code != 0 || after != before {
		t.Errorf("%+v: %q, then %q", exit, before, after)
	}
	if out, exit := sh(t, s, toolcrib.Grant{}, "ulimit -n 100; ulimit -n"); out != "100\n" {
		t.Errorf("%+v %q", exit, out)
	}
}
