//go:build amd64 || arm64

package linux

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestPipesAreHidden: who reads from a pipe in the project is outside.
func TestPipesAreHidden(t *testing.T) {
	root := tempProject(t)
	pipe := filepath.Join(root, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	s := open(t, Config{Shield: obeyedShield(t)})
	out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "exec 2>/dev/null; echo evil > pipe && echo DONE; mkfifo own && (echo fine > own &) && cat own")
	if strings.Contains(out, "DONE") || !strings.Contains(out, "fine") {
		t.Errorf("%+v %s", exit, out)
	}
}
