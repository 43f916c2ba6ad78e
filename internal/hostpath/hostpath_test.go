package hostpath

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func program(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return path
}

// TestLook is the attack: a command puts a program into a directory of the
// project that stands in PATH.
func TestLook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have endings there")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, tools := filepath.Join(top, "project"), filepath.Join(top, "tools")
	evil := program(t, filepath.Join(project, ".venv", "bin", "npx"))
	good := program(t, filepath.Join(tools, "npx"))
	only := program(t, filepath.Join(project, ".venv", "bin", "only"))
	if err := os.Symlink(filepath.Join(project, ".venv", "bin"), filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(evil, filepath.Join(tools, "linked")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(evil))
	f := Finder{Writable: func(path string) bool { return path == project || strings.HasPrefix(path, project+"/") }}
	for _, before := range []string{filepath.Dir(evil), filepath.Join(top, "link"), ".", "", "../bin"} {
		t.Setenv("PATH", before+":"+tools)
		if got, err := f.Look("npx"); err != nil || got != good {
			t.Errorf("PATH begins with %q: got %q, %v", before, got, err)
		}
		if got := f.Path(os.Getenv("PATH")); got != tools {
			t.Errorf("PATH begins with %q: a program gets %q", before, got)
		}
		for _, name := range []string{"only", "linked"} {
			if _, err := f.Look(name); !errors.Is(err, ErrWritable) || !strings.Contains(err.Error(), "whole path") {
				t.Errorf("PATH begins with %q: %s: %v", before, name, err)
			}
		}
	}
	if got, err := f.Look(only); err != nil || got != only {
		t.Errorf("by its whole path: %q, %v", got, err)
	}
	if got := f.Environ([]string{"A=1", "PATH=" + filepath.Dir(evil) + ":" + tools}); got[0] != "A=1" || got[1] != "PATH="+tools {
		t.Errorf("variables: %q", got)
	}
	if got, err := (Finder{}).Look("npx"); err != nil || got != good { // "../bin" is first, and relative
		t.Errorf("without a grant: %q, %v", got, err)
	}
}

// TestMisleads: variables by which programs find code must not lead to where
// commands can write; others may.
func TestMisleads(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths of this test are of another system")
	}
	f := Finder{Writable: func(path string) bool { return path == "/p" || strings.HasPrefix(path, "/p/") }}
	for variable, want := range map[string]bool{
		"PYTHONPATH=/p/src": true, "PYTHONPATH=/lib:/p/src": true, "NODE_OPTIONS=--require=/p/x.js": true, "NODE_OPTIONS=--max-old-space-size=4096": false, "LD_PRELOAD=/p/x.so /lib/y.so": true, "BASH_ENV=/p/env": true,
		"PYTHONPATH=/lib": false, "PWD=/p": false, "VIRTUAL_ENV=/p/.venv": false, "RUBYOPT=-r/p/x": true, "RUBYOPT=-r /p/x": true, "PERL5LIB=/p/lib": true,
	} {
		name, value, _ := strings.Cut(variable, "=")
		if got := f.Misleads(name, value); got != want {
			t.Errorf("%s: %v", variable, got)
		}
	}
}
