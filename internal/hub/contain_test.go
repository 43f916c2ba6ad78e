package hub

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestContain: which image a server runs in, and what is refused instead of being
// passed over.
func TestContain(t *testing.T) {
	for _, c := range []struct {
		name    string
		server  settings.MCPServer
		general string // sandbox.container.image
		image   string
		starts  time.Duration
		says    string
	}{
		{name: "by the command", server: settings.MCPServer{Command: "npx", Sandbox: "container"}, image: "node:24-slim", starts: fetchTime},
		{name: "by the command, a time of its own", server: settings.MCPServer{Command: "npx", Sandbox: "container", StartTimeout: time.Second}, image: "node:24-slim", starts: time.Second},
		{name: "what fetches nothing", server: settings.MCPServer{Command: "node", Sandbox: "container", Network: "off"}, image: "node:24-slim"},
		{name: "its own image", server: settings.MCPServer{Command: "npx", Sandbox: "container", Image: "mine:1"}, general: "all:1", image: "mine:1", starts: fetchTime},
		{name: "the image of all", server: settings.MCPServer{Command: "my-server", Sandbox: "container"}, general: "all:1", image: "all:1"},
		{name: "no container", server: settings.MCPServer{Command: "npx", Sandbox: "linux", Network: "all"}, general: "all:1", starts: fetchTime},
		{name: "on the host", server: settings.MCPServer{Command: "docker", Args: []string{"run", "-i", "mcp/time"}}, starts: fetchTime},
		{name: "a package, on the host", server: settings.MCPServer{Command: "npx", Args: []string{"-y", "pkg"}}, starts: fetchTime},
		{name: "a package, by a path of Windows", server: settings.MCPServer{Command: `C:\nodejs\npx.cmd`, Args: []string{"-y", "pkg"}}, starts: fetchTime},
		{name: "a package, behind a shell", server: settings.MCPServer{Command: "cmd", Args: []string{"/c", "npx", "-y", "pkg"}}, starts: fetchTime},
		{name: "pipx", server: settings.MCPServer{Command: "pipx", Args: []string{"run", "pkg"}}, starts: fetchTime},
		{name: "uvx", server: settings.MCPServer{Command: "uvx", Args: []string{"pkg"}}, starts: fetchTime},
		{name: "bunx", server: settings.MCPServer{Command: "bunx", Args: []string{"pkg"}}, starts: fetchTime},
		{name: "a package, with a time of its own", server: settings.MCPServer{Command: "npx", Args: []string{"-y", "pkg"}, StartTimeout: time.Second}, starts: time.Second},
		{name: "what is here", server: settings.MCPServer{Command: "node", Args: []string{"server.js"}}},
		{name: "an unknown command", server: settings.MCPServer{Command: "my-server", Sandbox: "container"}, says: "image: no image is known"},
		{name: "an option as image", server: settings.MCPServer{Command: "npx", Sandbox: "container", Image: "--privileged"}, says: "not the name of an image"},
		{name: "an option as image of all", server: settings.MCPServer{Command: "npx", Sandbox: "container"}, general: "-v/:/x", says: "not the name of an image"},
		{name: "an image without container", server: settings.MCPServer{Command: "npx", Image: "node:24"}, says: "sandbox: container"},
		{name: "an image in another sandbox", server: settings.MCPServer{Command: "npx", Sandbox: "linux", Image: "node:24"}, says: "sandbox: container"},
		{name: "no network on the host", server: settings.MCPServer{Command: "npx", Network: "off"}, says: "a server on the host has the whole network"},
		{name: "no network on the host by name", server: settings.MCPServer{Command: "npx", Sandbox: "host", Network: "off"}, says: "a server on the host has the whole network"},
		{name: "an address", server: settings.MCPServer{URL: "https://example.com", Sandbox: "container"}, says: "runs elsewhere"},
		{name: "an engine", server: settings.MCPServer{Command: "docker", Sandbox: "container", Image: "node:24"}, says: "a container of its own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := settings.Config{MCPServers: map[string]settings.MCPServer{"x": c.server}}
			cfg.Sandbox.Container.Image = c.general
			list, faults := Servers(cfg, "", nil)
			s, there := list["x"]
			if c.says != "" {
				if there || len(faults) != 1 || !strings.Contains(faults[0].Error(), c.says) || !strings.Contains(faults[0].Error(), "mcp_servers.x.") {
					t.Errorf("got %+v, %v; want a refusal with %q", s, faults, c.says)
				}
				if err := Check(c.server, cfg.Sandbox); err == nil {
					t.Error("it could be added")
				}
				return
			}
			if len(faults) > 0 || s.Image != c.image || s.Starting != c.starts || s.Network != c.server.Network {
				t.Errorf("got %+v, %v; want the image %q", s, faults, c.image)
			}
			if where := s.Where(); (c.image != "") != strings.Contains(where, "in a container of "+c.image) {
				t.Errorf("it is shown as %q", where)
			}
		})
	}
}
