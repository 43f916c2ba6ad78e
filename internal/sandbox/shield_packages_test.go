package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/named"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// TestRenamedPart: a part of a project that git has is set aside if a program gave
// it the name of what npx runs for the person. One that had the name before is what
// the project is about, and changes.
func TestRenamedPart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is swept here")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		t.Helper()
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("package.json", `{"name": "p", "workspaces": ["packages/*", "deep/**"]}`)
	parts := []string{"packages/foo/package.json", "deep/a/b/package.json"}
	for _, name := range parts {
		put(name, `{"name": "foo"}`)
	}
	put("packages/own/package.json", `{"name": "mcp-x"}`)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = top
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	s := shield(t, "", nil, nil)
	if s.Obeyed, err = sensitive.NewObeyedSet(); err != nil {
		t.Fatal(err)
	}
	s.Taken = func() named.Taken { return named.TakenBy("the server x", "npx", []string{"-y", "mcp-x"}, nil) }
	before, err := s.Look([]files.Dir{{Path: top, Write: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(parts, "packages/own/package.json") {
		put(name, `{"name": "mcp-x", "version": "2.0.0"}`)
	}
	notes := before.Sweep()
	for _, name := range parts {
		if _, err := os.Lstat(filepath.Join(top, name)); err == nil {
			t.Errorf("%s stays: %q", name, notes)
		}
	}
	if _, err := os.Lstat(filepath.Join(top, "packages", "own", "package.json")); err != nil || len(notes) != len(parts) {
		t.Errorf("the project's own: %v, %q", err, notes)
	}
}
