package settings

import "testing"

func TestMade(t *testing.T) {
	cfg := Defaults()
	cfg.Toolboxes.Web.Engine = "searx"
	cfg.Agents = map[string]Agent{"coder": {Mode: "plan"}}
	for key, want := range map[string]bool{
		"mode": true, "toolboxes.web.engine": true, "agents": true, "agents.coder": true, "agents.coder.mode": true,
		"agents.coder.profile": false, "agents.other": false, "agents.other.mode": false,
		"": false, ".": false, "mode.x": false, "nothing": false, "toolboxes.web.endpoint": false, "Mode": false,
	} {
		if got := Made(cfg, key); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}
