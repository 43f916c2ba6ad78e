package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib/internal/named"
)

// FuzzClaims: whatever a package or npm's list says, it is read, and a name that
// is claimed is one that was asked for.
func FuzzClaims(f *testing.F) {
	for _, text := range []string{
		`{"name": "mcp-x", "bin": {"z": "a"}, "workspaces": ["a/**", "!b"]}`, `{"bin": ["a/mcp-x"], "directories": {"bin": ".."}}`, `{"name": " mcp-x", "bin": "x", "workspaces": {"packages": [".."]}}`,
		`{"packages": {"node_modules/@a/b": {}, "../..": {"name": "mcp-x"}}}`, `{"packages": []}`, "{", "null", `"mcp-x"`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		manifest := filepath.Join(dir, manifestName)
		if err := os.Mkdir(filepath.Join(dir, modules), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{manifest, hiddenLock(dir)} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		taken := named.TakenBy("x", "npx", []string{"mcp-x"}, nil)
		for name := range claims(manifest, dir, taken) {
			if name != "mcp-x" {
				t.Error(name)
			}
		}
		if name := lockedName(dir, taken); name != "" && name != "mcp-x" {
			t.Error(name)
		}
		n := &npmTree{c: &Covering{}, left: maxPackages, listed: map[string]bool{}, looked: map[string]bool{}}
		n.c.taken.Names = taken
		n.workspaces(dir)
	})
}
