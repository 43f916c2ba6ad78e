//go:build amd64 || arm64

package linux

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
)

// TestCrowdsHideNothing: with more repositories than can be protected one by one,
// what the settings of one of them name elsewhere is held all the same.
func TestCrowdsHideNothing(t *testing.T) {
	root := tempProject(t)
	handle := map[string]string{"hooks/pre-commit": "x", "vendor/x/.git/HEAD": "ref: refs/heads/main\n", "vendor/x/.git/config": "[core]\n\thooksPath = ../../hooks\n"}
	for i := range 80 {
		handle[fmt.Sprintf("a%d/.git/HEAD", i)] = "ref: refs/heads/main\n"
	}
	put(t, root, handle)
	shield := obeyedShield(t, t.TempDir())
	shield.Git = gitconfig.Source{Read: os.ReadFile}
	s := open(t, Config{Shield: shield})
	out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "exec 2>/dev/null; echo evil >> hooks/pre-commit && echo DONE; echo evil > hooks/new && echo DONE; true")
	if strings.Contains(out, "DONE") || exit.Code != 0 {
		t.Errorf("%+v %s", exit, out)
	}
}

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
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, "exec 2>/dev/null; echo evil > pipe && echo DONE; mkfifo own && (echo fine > own &) && cat own")
	if strings.Contains(out, "DONE") || !strings.Contains(out, "fine") {
		t.Errorf("%+v %s", exit, out)
	}
}
