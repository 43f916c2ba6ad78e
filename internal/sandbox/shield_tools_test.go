package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// TestPutFirst: where a script of the project puts a directory before PATH, as
// "PATH_add bin" in .envrc does, a program there that is called as one of the
// machine is set aside, and others stay.
func TestPutFirst(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is swept here")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	machine, bin := t.TempDir(), filepath.Join(top, "bin")
	put := func(dir string, names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(machine, "git", "ls")
	put(bin, "ls") // the project's own
	s := shield(t, "", nil, nil)
	if s.Obeyed, err = sensitive.NewObeyedSet(); err != nil {
		t.Fatal(err)
	}
	s.Path = []string{machine}
	s.First = func() []string { return []string{bin, filepath.Join(top, "missing")} }
	before, err := s.Look([]files.Dir{{Path: top, Write: true}})
	if err != nil {
		t.Fatal(err)
	}
	put(bin, "git", "tool")
	notes := before.Sweep()
	if _, err := os.Lstat(filepath.Join(bin, "git")); err == nil || len(notes) != 1 {
		t.Errorf("it stays: %q", notes)
	}
	for _, name := range []string{"ls", "tool"} {
		if _, err := os.Lstat(filepath.Join(bin, name)); err != nil {
			t.Errorf("%v: %q", err, notes)
		}
	}
}
