package app

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestHealthIsNotForAll: who has a token hears of the servers that they have tools
// of, and what went wrong there only the person whose program it is: people have
// instances of their own, whose errors say what they did.
func TestHealthIsNotForAll(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := newDoorway(t, func(c *settings.Config) {
		c.Hub.Wait = time.Minute
		c.MCPServers = map[string]settings.MCPServer{
			"good": {Command: exe, Env: map[string]string{"FAKE_MCP": "1", "GORACE": "atexit_sleep_ms=0"}},
			"gone": {Command: filepath.Join(t.TempDir(), "no-such-program")},
		}
		c.Tokens = map[string]settings.Token{
			"most": {SHA256: sumOf("most"), EnabledTools: []string{"mcp__good", "mcp__gone"}},
			"less": {SHA256: sumOf("less"), EnabledTools: []string{"get_time"}},
		}
	})
	health := func(token string) (text string) {
		r := knock(t, "GET", strings.TrimSuffix(d.url, "/mcp")+"/healthz", "", http.Header{"Authorization": {"Bearer " + token}})
		var said struct{ Servers json.RawMessage }
		if err := json.NewDecoder(r.body).Decode(&said); err != nil || r.status != http.StatusOK {
			t.Fatal(r.status, err)
		}
		return string(said.Servers)
	}
	if told := health(d.token()); !strings.Contains(told, "no-such-program") || !strings.Contains(told, `"good":{`) {
		t.Errorf("the owner is told %s", told)
	}
	if told := health("less"); told != `{}` {
		t.Errorf("who has no tool of a server is told %s", told)
	}
	told := health("most")
	var states map[string]map[string]any
	if err := json.Unmarshal([]byte(told), &states); err != nil || len(states) != 1 || len(states["good"]) != 1 || states["good"]["state"] == "" {
		t.Errorf("most is told %s, %v", told, err)
	}
}
