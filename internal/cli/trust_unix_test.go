//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrustOfAnotherAccount: a file of another account does not count before it
// is trusted, so that all of it is new then.
func TestTrustOfAnotherAccount(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "toolcrib.yaml")
	if err := os.WriteFile(file, []byte("mode: plan\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, 65533, 65533); err != nil {
		t.Skip("files cannot be given to others here:", err)
	}
	shows := func(want, warns bool, args ...string) {
		t.Helper()
		out, errs, _ := runCLI(t, home, args...)
		if strings.Contains(out, "mode: plan") != want || strings.Contains(errs, "belongs to user 65533") != warns {
			t.Errorf("%v: %s\n%s", args, out, errs)
		}
	}
	shows(false, true, "config", "show")
	shows(true, false, "trust")
	shows(true, false, "trust", "--yes")
	shows(true, false, "config", "show")
}
