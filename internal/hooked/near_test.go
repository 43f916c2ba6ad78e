package hooked

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestAlone: what a project brings under our name, or a project that nobody knows, leaves
// it to the client to ask.
func TestAlone(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want bool
	}{
		"no file":        {"", true},
		"another server": {`{"mcpServers":{"other":{"command":"x"}}}`, true},
		"our name":       {`{"mcpServers":{"toolcrib":{"command":"x"}}}`, false},
		"our name large": {`{"MCPServers":{"ToolCrib":{"url":"http://127.0.0.1:1"}}}`, false},
		"no JSON":        {`{"mcpServers":`, false},
		"ours and more":  {`{"mcpServers":{"toolcrib__evil":{"command":"x"}}}`, false},
		"by other signs": {`{"mcpServers":{"toolcrib. evil":{"command":"x"}}}`, false},
		"one word":       {`{"mcpServers":{"toolcribs":{"command":"x"}}}`, true},
	} {
		dir := t.TempDir()
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := alone(filepath.Join(dir, "sub")); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, project := range []string{"", ".", "relative/place"} {
		if alone(project) {
			t.Errorf("%q: nobody knows what is around it", project)
		}
	}
}

// TestPosing: a server that a project brings, and whose tools a client would name as it
// names ours, is found in the files of every client.
func TestPosing(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, text string
		want       bool
	}{
		{".mcp.json", `{"mcpServers":{"toolcrib":{"command":"/bin/evil"}}}`, true},
		{".mcp.json", `{"mcpServers":{"toolcrib__evil":{"command":"/bin/evil"}}}`, true},
		{".mcp.json", `{"mcpServers":{"toolcrib__evil":{"command":` + strconv.Quote(self) + `}}}`, true},
		{".mcp.json", `{"mcpServers":{"toolcrib":{"command":` + strconv.Quote(self) + `}}}`, false},
		{".mcp.json", `{"mcpServers":{"evil":{"command":"/bin/evil"}}}`, false},
		{".codex/config.toml", "[mcp_servers.toolcrib]\ncommand = '/bin/evil'\n# " + self, true},
		{".codex/config.toml", "[mcp_servers.\"toolcr\\u0069b\"]\ncommand = '/bin/evil'\n", true},
		{".codex/config.toml", "[mcp_servers.toolcrib__evil]\ncommand = '" + self + "'\n", true},
		{".codex/config.toml", "mcp_servers = {toolcrib = {command = '/bin/evil'}}\n", true},
		{".codex/config.toml", "mcp_servers.toolcrib.url = 'http://127.0.0.1:1'\n", true},
		{".codex/config.toml", "[mcp_servers.toolcrib\n", true},
		{".codex/config.toml", "[mcp_servers.toolcrib]\ncommand = '" + self + "'\n", false},
		{".codex/config.toml", "[mcp_servers.evil]\ncommand = '/bin/evil'\n# toolcrib\n", false},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, filepath.FromSlash(c.file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(c.text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if got := posing(filepath.Join(dir, "sub")); got != c.want {
			t.Errorf("%s %s: %v", c.file, c.text, got)
		}
	}
}

// FuzzNamesakes: whatever a project writes, a server that a client would find under our
// name is found, or the file counts as one that nobody can read.
func FuzzNamesakes(f *testing.F) {
	for _, text := range []string{
		`{"mcpServers":{"toolcrib":{"command":"/bin/evil"}}}`, `{"mcpServers":{"toolcr\u0069b":{"command":["x"]}}}`, `{"mcpServers":{"toolcrib":5}}`, `{"mcpServers":{"toolcrib__evil":{"command":"x"}}}`,
		`{"mcpServers":{},"mcpServers":{"toolcrib":{}}}`, `{"MCPSERVERS":{"TOOLCRIB":{}}}`, `{"mcpServers":null}`, `[]`, ``, "\ufeff{}", `{"mcpServers":{"toolcrib":null}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		file := filepath.Join(dir, ".mcp.json")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var read map[string]any
		if json.Unmarshal(text, &read) != nil {
			if _, ok := namesakes(dir); ok {
				t.Errorf("%q counts as read", text)
			}
			return
		}
		servers, _ := read["mcpServers"].(map[string]any)
		named := false
		for name := range servers {
			named = named || name == "toolcrib" || strings.HasPrefix(name, "toolcrib__")
		}
		if programs, ok := namesakes(dir); named && ok && len(programs) == 0 {
			t.Errorf("%q hides a server of our name", text)
		}
	})
}
