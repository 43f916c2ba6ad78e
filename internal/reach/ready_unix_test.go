//go:build unix

package reach

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// TestReadyByItsOwnPath: a script whose interpreter only the PATH of its server finds is
// not refused before it is tried; one whose interpreter nobody finds is.
func TestReadyByItsOwnPath(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"server", "odd-interpreter"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/usr/bin/env odd-interpreter\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l := &Launcher{
		Env: func(name string) (string, bool) { return "/usr/bin:/bin", name == "PATH" }, Dir: t.TempDir(), Homes: t.TempDir(),
		Outside: Outside{Finder: hostpath.Finder{PATH: "/usr/bin:/bin"}},
	}
	for path, want := range map[string]string{"": "odd-interpreter", "/bin": "odd-interpreter", "/bin:" + dir: "", "${HOME}/bin": ""} {
		s := mcphub.Server{Command: filepath.Join(dir, "server"), Sandbox: sandbox.Host, Env: map[string]string{"PATH": path}}
		switch err := l.Try(t.Context(), "odd", s); {
		case want == "" && err != nil:
			t.Errorf("PATH=%s: %v", path, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("PATH=%s: %v", path, err)
		}
	}
}
