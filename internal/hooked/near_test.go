package hooked

import (
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
