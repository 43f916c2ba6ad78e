package settings

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
)

// TestServerEntryIsRead: all that is written of a server is a setting, and comes
// back as it was.
func TestServerEntryIsRead(t *testing.T) {
	s := clientfiles.Server{
		Name: "s", Command: "c", Args: []string{"a b", "\u00e9"}, Env: map[string]string{"K": "v\nw"}, Cwd: "/d", URL: "https://u.example", Transport: clientfiles.SSE,
		Headers: map[string]string{"H": "v"}, Timeout: 90 * time.Second, EnabledTools: []string{"x"}, DisabledTools: []string{"y"}, Agents: []string{"z"}, Disabled: true,
		OAuth: clientfiles.Login{ClientID: "i", ClientSecret: "${secret:x}", Issuer: "https://i.example", Scopes: []string{"r", "w"}, RedirectPort: 8080, RedirectURL: "http://localhost:1/c", Off: true},
	}
	text, err := AddServer(nil, "s", ServerEntry(s))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(Defaults(), config.Options{User: file})
	if err != nil {
		t.Fatal(err)
	}
	want := MCPServer{
		Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.Cwd, URL: s.URL, Transport: "sse", Headers: s.Headers, Timeout: s.Timeout,
		EnabledTools: s.EnabledTools, DisabledTools: s.DisabledTools, Agents: s.Agents, Disabled: true,
		OAuth: MCPOAuth{ClientID: "i", ClientSecret: "${secret:x}", Issuer: "https://i.example", Scopes: []string{"r", "w"}, RedirectPort: 8080, RedirectURL: "http://localhost:1/c", Flow: "off"},
	}
	if diff := cmp.Diff(want, loaded.Value.MCPServers["s"]); diff != "" {
		t.Errorf("%s\n%s", diff, text)
	}
}
