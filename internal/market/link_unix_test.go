//go:build !windows

package market

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMakeRefusesLinks: what a link leads to does not go into a package.
func TestMakeRefusesLinks(t *testing.T) {
	dir := shop(t)
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "pdf", "leak")); err != nil {
		t.Fatal(err)
	}
	made := make1(t, dir, signer(t), time.Now())
	if !strings.Contains(strings.Join(made.Skipped, "\n"), "leak is no plain file") {
		t.Errorf("%q", made.Skipped)
	}
}
