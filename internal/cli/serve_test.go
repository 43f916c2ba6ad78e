package cli

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestServerURL: clients are given a name that the server takes.
func TestServerURL(t *testing.T) {
	secure := settings.ServeTLS{Cert: "cert", Key: "key"}
	for want, cfg := range map[string]settings.Serve{
		"http://127.0.0.1:7717/mcp":          {Listen: "127.0.0.1:7717"},
		"http://127.0.0.1:7718/mcp":          {Listen: "127.0.0.1:7718", Hosts: []string{"proxy.example.com"}},
		"http://localhost:7717/mcp":          {Listen: "0.0.0.0:7717"},
		"http://localhost:7719/mcp":          {Listen: ":7719"},
		"https://localhost:7717/mcp":         {Listen: "[::]:7717", TLS: secure},
		"https://tools.example.com:7717/mcp": {Listen: "0.0.0.0:7717", TLS: secure, Hosts: []string{"tools.example.com", "x"}},
		"https://[2001:db8::1]:7717/mcp":     {Listen: "[::]:7717", TLS: secure, Hosts: []string{"[2001:db8::1]"}},
		"https://tools.example.com/crib/mcp": {Listen: "127.0.0.1:7717", OIDC: settings.OIDC{Resource: "https://tools.example.com/crib/mcp"}},
		"https://192.0.2.7:7717/mcp":         {Listen: "192.0.2.7:7717", TLS: secure},
	} {
		if got := serverURL(cfg); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestServeTakesNoAgent: a flag that would hold for nobody is an error.
func TestServeTakesNoAgent(t *testing.T) {
	home := t.TempDir()
	for _, args := range [][]string{{"serve", "--agent", "strict", "--listen", "127.0.0.1:0"}, {"connect", "claude-code", "--http", "--agent", "strict"}} {
		if _, stderr, status := runCLI(t, home, args...); status != exitUsage || !strings.Contains(stderr, "takes no --agent") {
			t.Errorf("%q: %d, %s", args, status, stderr)
		}
	}
}
