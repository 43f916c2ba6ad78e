package hooked

import (
	"encoding/json"
	"os"
	"path/filepath"
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

// FuzzNamesakes: whatever a project writes, a server that a client would find under our
// name is found, or the file counts as one that nobody can read.
func FuzzNamesakes(f *testing.F) {
	for _, text := range []string{
		`{"mcpServers":{"toolcrib":{"command":"/bin/evil"}}}`, `{"mcpServers":{"toolcr\u0069b":{"command":["x"]}}}`, `{"mcpServers":{"toolcrib":5}}`,
		`{"mcpServers":{},"mcpServers":{"toolcrib":{}}}`, `{"MCPSERVERS":{"TOOLCRIB":{}}}`, `{"mcpServers":null}`, `[]`, ``, "\ufeff{}", `{"mcpServers":{"toolcrib":null}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), ".mcp.json")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var read map[string]any
		if json.Unmarshal(text, &read) != nil {
			if _, ok := namesakes(file); ok {
				t.Errorf("%q counts as read", text)
			}
			return
		}
		servers, _ := read["mcpServers"].(map[string]any)
		_, named := servers["toolcrib"]
		if programs, ok := namesakes(file); named && ok && len(programs) == 0 {
			t.Errorf("%q hides a server of our name", text)
		}
	})
}
