package conformance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestFirstTool: the three commands of the README lead from an empty home to a call by a
// client that knows nothing but the file that was written for it.
func TestFirstTool(t *testing.T) {
	for lang, tool := range map[string]string{"sh": "word_count", "python": "letters"} {
		t.Run(lang, func(t *testing.T) {
			home := t.TempDir()
			vars := slices.DeleteFunc(os.Environ(), func(v string) bool {
				return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "TOOLCRIB_")
			})
			vars = append(vars, "HOME="+home)
			for _, line := range [][]string{
				{"new", "tool", tool, "--lang", lang},
				{"tools", "try", tool, "text=to be or not to be"},
				{"connect", "claude-code"},
			} {
				cmd := exec.CommandContext(t.Context(), "toolcrib", line...)
				cmd.Dir, cmd.Env = home, vars
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", line, err, out)
				}
			}
			var clients struct {
				Servers map[string]struct {
					Command string            `json:"command"`
					Args    []string          `json:"args"`
					Env     map[string]string `json:"env"`
				} `json:"mcpServers"`
			}
			content, err := os.ReadFile(filepath.Join(home, ".claude.json"))
			if err == nil {
				err = json.Unmarshal(content, &clients)
			}
			server := clients.Servers["toolcrib"]
			if err != nil || server.Command == "" {
				t.Fatalf("%v: %s", err, content)
			}
			if filepath.Base(server.Command) != "toolcrib" { // this test is the program only by that name
				server.Command = "toolcrib"
			}
			log := &logged{}
			cmd := exec.CommandContext(t.Context(), server.Command, server.Args...)
			cmd.Dir, cmd.Env, cmd.Stderr = home, vars, log
			for name, value := range server.Env {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
			client := mcp.NewClient(&mcp.Implementation{Name: "claude-code", Version: "1"}, nil)
			s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			defer func() { _ = s.Close() }() // what it says at its end is for other tests
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"text": "to be or not to be"}})
			if err != nil || r.IsError || len(r.Content) != 1 {
				t.Fatalf("%v, %+v\n%s", err, r, log)
			}
			if text, ok := r.Content[0].(*mcp.TextContent); !ok || strings.TrimSpace(text.Text) != "6" {
				t.Errorf("%+v", r.Content[0])
			}
		})
	}
}
