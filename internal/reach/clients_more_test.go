package reach

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/linked"
)

// TestMoreClients: what servers of clients that hub import does not read take from
// a project is known, and what the status line of an agent does.
func TestMoreClients(t *testing.T) {
	home, top := t.TempDir(), t.TempDir()
	for _, name := range []string{"XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "CLINE_MCP_SETTINGS_PATH", "COPILOT_HOME"} {
		t.Setenv(name, "")
	}
	for path, text := range map[string]string{
		".vscode-server/data/User/mcp.json": `{"servers": {"a": {"command": "npx", "args": ["-y", "remote"]}}}`,
		".copilot/mcp-config.json":          `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "copilot"]}}}`,
		".qwen/settings.json":               `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "qwen"]}}}`,
		".kiro/settings/mcp.json":           `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "kiro"]}}}`,
		".aws/amazonq/mcp.json":             `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "amazon"]}}}`,
		".continue/mcpServers/x.json":       `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "continued"]}}}`,
		".junie/mcp/mcp.json":               `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "junie"]}}}`,
		".claude/settings.json":             `{"statusLine": {"type": "command", "command": "npx -y status"}, "hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "npx prettier"}]}]}}`,
	} {
		full := filepath.Join(home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &clientServers{home: home, tops: []string{top}, granted: func(path string) bool { return linked.Within(path, top) }}
	want := []string{"amazon", "continued", "copilot", "junie", "kiro", "qwen", "remote", "status"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(c.Taken().Packages))); diff != "" {
		t.Error(diff)
	}
}
