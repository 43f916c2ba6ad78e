package reach

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestStartedInAPart: who starts in a part of a repository is held to what the
// settings at its top run, as far as that lies in this part.
func TestStartedInAPart(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".husky/pre-commit": "sh app/check.sh\nsh tools/other.sh\n", ".envrc": "source app/env.sh\n",
		".mcp.json": `{"mcpServers": {"x": {"command": "node", "args": ["app/server.js"]}}}`, "app/check.sh": "", "app/env.sh": "", "app/server.js": "", "app/plain.js": "", "tools/other.sh": "",
	} {
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(top, "app", ".git"), 0o755); err != nil { // which a command can make
		t.Fatal(err)
	}
	r, err := Of(settings.Grant{Write: []string{"."}}, Start{Dir: filepath.Join(top, "app"), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	r.Own.now.Store(&ownState{})
	got := r.Own.Places()
	slices.Sort(got)
	var want []string
	for _, name := range []string{"check.sh", "env.sh", "server.js"} {
		want = append(want, filepath.Join(top, "app", name))
	}
	if !slices.Equal(slices.Compact(got), want) {
		t.Errorf("%q, want %q", got, want)
	}
}
