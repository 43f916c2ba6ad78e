//go:build amd64 || arm64

package linux

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// TestApprovedWrite: a program that waits for a person to allow a write to what
// others obey cannot change what was written, neither by the file's own name
// nor by one that it had for a moment. What is not there cannot be made, and what
// is there cannot be removed, as long as the program runs.
func TestApprovedWrite(t *testing.T) {
	root, state := tempProject(t), t.TempDir()
	put(t, root, map[string]string{".mcp.json": "{}", "file": "x"})
	s := open(t, Config{Shield: obeyedShield(t, state)})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}
	holds := &sandbox.Holds{Dir: state}
	files, err := files.New(grant.Dirs, files.Options{
		Held: func(path string) bool { return filepath.Base(path) != "file" }, Busy: holds.Busy, Kept: filepath.Join(t.TempDir(), "kept"), Trash: filepath.Join(t.TempDir(), "trash"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if holds.Busy(filepath.Join(root, ".mcp.json")) {
		t.Error("nothing runs yet")
	}
	var group sync.WaitGroup
	group.Go(func() {
		_, _ = sh(t, s, grant, `exec 2>/dev/null; touch ready; while ! test -e stop; do
			(echo evil >> .mcp.json); (echo evil > .vscode/tasks.json); for f in .toolcrib-*; do exec 3<>"$f" && sleep .05 && echo evil >&3; done; done`)
	})
	stop := sync.OnceFunc(func() {
		if err := os.WriteFile(filepath.Join(root, "stop"), nil, 0o644); err != nil {
			t.Error(err)
		}
		group.Wait()
	})
	defer stop()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Lstat(filepath.Join(root, "ready")); err == nil {
			break
		}
	}
	if !holds.Busy(filepath.Join(root, ".mcp.json")) || holds.Busy(filepath.Join(t.TempDir(), "x")) {
		t.Error("a program runs here, and none elsewhere")
	}
	for range 20 {
		if err := files.WriteFile(".mcp.json", []byte("approved"), nil); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(root, ".mcp.json")); err != nil || string(text) != "approved" {
			t.Fatalf("%q, %v", text, err)
		}
		if err := files.WriteFile(".mcp.json", []byte("{}"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := files.Remove(".mcp.json"); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("removing it: %v", err)
	}
	if err := files.WriteFile(".devcontainer.json", []byte("approved"), nil); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("making what a placeholder lies in the way of: %v", err)
	}
	stop()
	if text, err := os.ReadFile(filepath.Join(root, ".mcp.json")); err != nil || string(text) != "{}" {
		t.Fatalf("%q, %v", text, err)
	}
	if err := files.WriteFile(".devcontainer.json", []byte("approved"), nil); err != nil {
		t.Error(err)
	}
	if _, err := files.Remove(".mcp.json"); err != nil {
		t.Error(err)
	}
}
