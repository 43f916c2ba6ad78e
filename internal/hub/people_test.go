package hub

import (
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// TestPeople: where there are tokens, and so several people, each has a server of their
// own unless it says otherwise.
func TestPeople(t *testing.T) {
	servers := map[string]settings.MCPServer{"plain": {Command: "c"}, "shared": {Command: "c", Instance: "shared"}, "far": {URL: "https://example.com/mcp"}}
	for _, tokens := range []map[string]settings.Token{nil, {"ci": {}}} {
		list, faults := Servers(settings.Config{MCPServers: servers, Tokens: tokens}, "", nil)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		want := mcphub.Instance("")
		if tokens != nil {
			want = mcphub.PerPerson
		}
		if list["plain"].Instance != want || list["far"].Instance != want || list["shared"].Instance != mcphub.Shared {
			t.Errorf("with %d tokens: %q %q %q", len(tokens), list["plain"].Instance, list["far"].Instance, list["shared"].Instance)
		}
	}
}
