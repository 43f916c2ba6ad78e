//go:build !windows

package reach

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/linked"
)

// TestClientServers: the servers of the person's clients are found in the files
// of all of them, however broken some are, and those that run elsewhere do not
// count.
func TestClientServers(t *testing.T) {
	home, top := t.TempDir(), t.TempDir()
	for _, name := range []string{"XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "CLINE_MCP_SETTINGS_PATH"} {
		t.Setenv(name, "")
	}
	history := strings.Repeat(`{"display": "say \"mcpServers\": {\"no\": {\"command\": \"npx\", \"args\": [\"history\"]}}"},`, 5000)
	for path, text := range map[string]string{
		filepath.Join(home, ".claude.json"): `{"history": [` + history + ` 1], "mcpServers": {"a": {"command": "npx", "args": ["-y", "claude-user"]}},
			"projects": {"` + filepath.ToSlash(top) + `": {"mcpServers": {"b": {"command": "python", "args": ["-m", "claude_local"]}}}}}`,
		filepath.Join(home, ".cursor", "mcp.json"):                  `{ /* mine */ "mcpServers": {"c": {"command": "npx", "args": ["cursor-user"],}}}`,
		filepath.Join(home, ".codex", "config.toml"):                "[mcp_servers.d]\ncommand = \"npx\"\nargs = [\"codex-user\"]\n[mcp_servers.e]\ncommand = \"npx\"\nargs = [\"elsewhere\"]\ncwd = \"" + filepath.ToSlash(home) + "\"\n[mcp_servers.j]\ncommand = \"python\"\nargs = [\"-m\", \"codex_sub\"]\ncwd = \"" + filepath.ToSlash(filepath.Join(top, "sub")) + "\"\n",
		filepath.Join(home, ".gemini", "settings.json"):             `{"mcpServers": {"f": {"command": "npx", "args": ["broken"`,
		filepath.Join(home, ".config", "goose", "config.yaml"):      "extensions:\n  g:\n    type: stdio\n    cmd: npx\n    args: [goose-user]\n    enabled: true\n",
		filepath.Join(home, ".config", "opencode", "opencode.json"): `{"mcp": {"h": {"type": "local", "command": ["bunx", "opencode-user"]}}}`,
		filepath.Join(top, ".mcp.json"):                             `{"mcpServers": {"i": {"command": "npx", "args": ["project"]}}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &clientServers{home: home, tops: []string{top}, granted: func(path string) bool { return linked.Within(path, top) }}
	want := []string{"claude-user", "codex-user", "cursor-user", "goose-user", "opencode-user", "project"}
	for range 2 {
		got := c.Taken()
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got.Packages))); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{"claude_local": "the MCP server b of Claude Code", "codex_sub": "the MCP server j of Codex"}, got.Modules); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{filepath.Join(top, "sub")}, got.Dirs); diff != "" {
			t.Error(diff)
		}
	}
	there := filepath.Join(top, "node_modules", ".bin", "cursor-user")
	if err := os.MkdirAll(there, 0o755); err != nil {
		t.Fatal(err)
	}
	if notes := c.Notes(); len(notes) != 2 || !strings.Contains(notes[0].Text, there) || !strings.Contains(notes[1].Fix, "PYTHONSAFEPATH") {
		t.Errorf("%+v", notes)
	}
}
