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

// TestWhoWatches: numbers name tools, and what is wrong with the settings quotes them.
// Both are for the person whose program it is, and for whoever watches over it.
func TestWhoWatches(t *testing.T) {
	const wrong = "policy.deny: what-the-settings-say"
	for name, c := range map[string]struct {
		change func(*settings.Config)
		tokens map[string]bool // those who may know; "": without a token
	}{
		"people": {func(c *settings.Config) {
			c.Tokens = map[string]settings.Token{"some": {SHA256: sumOf("some"), Approves: true}, "ops": {SHA256: sumOf("ops"), Watches: true, EnabledTools: []string{"get_time"}}}
		}, map[string]bool{"own": true, "ops": true, "some": false}},
		"open, with people": {func(c *settings.Config) {
			c.Serve.Open, c.Tokens = true, map[string]settings.Token{"some": {SHA256: sumOf("some")}}
		}, map[string]bool{"own": true, "some": false, "": false}},
		"open, alone": {func(c *settings.Config) { c.Serve.Open = true }, map[string]bool{"own": true, "": true}},
	} {
		d := newDoorway(t, func(cfg *settings.Config) {
			cfg.Telemetry.Metrics = true
			c.change(cfg)
		})
		broken := wrong
		d.app.policy.broken.Store(&broken)
		base := strings.TrimSuffix(d.url, "/mcp")
		for token, may := range c.tokens {
			head := http.Header{}
			if token != "" {
				head.Set("Authorization", "Bearer "+strings.Replace(token, "own", d.token(), 1))
			}
			want := http.StatusForbidden
			if may {
				want = http.StatusOK
			}
			if r := knock(t, "GET", base+"/metrics", "", head); r.status != want {
				t.Errorf("%s: %q gets %d for the numbers", name, token, r.status)
			}
			r := knock(t, "GET", base+"/healthz", "", head)
			var said struct{ Status string }
			if err := json.NewDecoder(r.body).Decode(&said); err != nil || !strings.HasPrefix(said.Status, "the settings are broken") {
				t.Errorf("%s: %q is told %q, %v", name, token, said.Status, err)
			}
			if strings.Contains(said.Status, wrong) != (may && token != "") {
				t.Errorf("%s: %q is told %q", name, token, said.Status)
			}
		}
	}
}
