//go:build amd64 || arm64

package linux

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// TestToolsOfOneProgram: the interpreter of one program is seen by that one, read-only.
func TestToolsOfOneProgram(t *testing.T) {
	dir := tempProject(t)
	put(t, dir, map[string]string{"lib/code.py": "words"})
	s := open(t, Config{Shield: obeyedShield(t)})
	run := func(ctx context.Context, script string) toolcrib.Exit {
		t.Helper()
		exit, err := s.Run(ctx, toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script}}, toolcrib.Grant{Bounds: toolcrib.BoundFiles})
		if err != nil {
			t.Fatal(err)
		}
		return exit
	}
	with := sandbox.WithTools(t.Context(), []string{dir})
	if exit := run(with, "grep -q words "+dir+"/lib/code.py"); exit.Code != 0 {
		t.Errorf("it does not see it: %+v", exit)
	}
	if run(with, "echo x > "+dir+"/lib/new || exit 7"); exists(filepath.Join(dir, "lib", "new")) {
		t.Error("it writes there")
	}
	if exit := run(t.Context(), "test -e "+dir+"/lib/code.py"); exit.Code == 0 {
		t.Error("another one sees it too")
	}
	if exit := run(sandbox.WithTools(t.Context(), []string{filepath.Join(dir, "gone")}), "true"); exit.Code != 0 || len(exit.Notes) == 0 {
		t.Errorf("one that is gone: %+v", exit)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
func putProgram(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}
