//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// TestToolsOfAnotherAccount: who is asked is told whose file it is.
func TestToolsOfAnotherAccount(t *testing.T) {
	home := t.TempDir()
	file := writeTool(t, filepath.Join(home, "project"), "x.sh", "#!/bin/sh\n# toolcrib:\n#   description: X.\n#   effects: [pure]\n")
	if err := os.Chown(file, 65533, 65533); err != nil {
		if os.Getenv("CI") == "true" || os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skip("only root can give files to others:", err)
	}
	out, errs, _ := runCLI(t, home, "trust", "project")
	if !strings.Contains(out, "it belongs to user 65533, and not to you or root") {
		t.Errorf("%s\n%s", out, errs)
	}
}

// TestOddFilesAmongTools: a pipe keeps nobody waiting, and is no tool.
func TestOddFilesAmongTools(t *testing.T) {
	home := t.TempDir()
	writeTool(t, filepath.Join(home, "project"), "x.sh", "#!/bin/sh\n# toolcrib:\n#   description: X.\n#   effects: [pure]\n")
	if err := syscall.Mkfifo(filepath.Join(home, "project", ".toolcrib", "tools", "pipe.sh"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, status := runCLI(t, home, "trust", "--yes", "project")
	if status != 0 || !strings.Contains(out, "pipe.sh cannot be trusted: it is not a regular file") || !strings.Contains(out, "Trusted: x.") {
		t.Errorf("%d %s\n%s", status, out, errs)
	}
}
