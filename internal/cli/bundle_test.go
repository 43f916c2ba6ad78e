package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBundleLife: a bundle goes through its life by commands. What is shown are the names
// that people type, and the words of other programs work.
func TestBundleLife(t *testing.T) {
	s := openMarketStall(t)
	s.must("bundle", "new", "kit")
	kit := filepath.Join(s.home, "kit")
	says := func(out string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%q is missing in\n%s", w, out)
			}
		}
	}
	plugin := func(script string) {
		writeFiles(t, kit, map[string]string{
			".claude-plugin/plugin.json": `{"name":"kit","version":"1.0.0"}`, "agents/reviewer.md": "---\nname: reviewer\ndescription: Reviews.\n---\nReview.\n",
			".mcp.json": `{"mcpServers":{"echo":{"command":"node","args":["${CLAUDE_PLUGIN_ROOT}/` + script + `"]},"far":{"command":"npx","args":["-y","@acme/far"]}}}`,
		})
	}
	if err := os.Remove(filepath.Join(kit, "plugin.json")); err != nil {
		t.Fatal(err)
	}
	plugin("a.js")
	s.refused("say --yes", "bundle", "install", "./kit")
	says(s.must("bundle", "install", "./kit", "--yes"),
		"server kit-echo: starts node ${PACKAGE_ROOT}/a.js", "${PACKAGE_ROOT} is the folder", "agent kit-reviewer", "left out: server kit-far: ", "Installed kit: 1 skill, 1 server, 1 agent")
	says(s.must("hub", "ls"), "kit-echo")
	says(s.must("bundle", "install", "./kit"), "already installed")
	plugin("b.js")
	s.refused("b.js; before: starts node ${PACKAGE_ROOT}/a.js", "bundle", "update", "kit")
	s.must("bundle", "update", "kit", "--yes")
	says(s.must("bundle", "rollback", "kit", "--yes"), "a.js; before: starts node ${PACKAGE_ROOT}/b.js")
	s.refused("no earlier state", "bundle", "rollback", "kit", "--yes")
	says(s.must("bundle", "show", "kit"), "It has:", "server kit-echo: starts")
	s.refused("Did you mean kit?", "bundle", "rm", "kat")
	says(s.must("bundle", "rm", "kit", "--yes"), "Removed kit.")
	says(s.must("bundle", "ls"), "No bundle is installed")
	s.must("bundle", "install", "./kit", "--yes")
	s.must("bundle", "uninstall", "kit")
	s.refused("small letters and digits", "bundle", "new", "Kit")
	s.refused("there is no file or directory ./nothing", "bundle", "install", "./nothing")
	s.refused("git+https://", "bundle", "install", "https://acme.example/kit")
}

// TestBundleAsks: what a bundle asks for can be seen and given later, by the names that are shown.
func TestBundleAsks(t *testing.T) {
	s := openMarketStall(t)
	writeFiles(t, filepath.Join(s.home, "weather"), map[string]string{"manifest.json": `{"manifest_version":"0.3","name":"weather","version":"1.0.0","server":{"mcp_config":{"command":"node","args":["${user_config.city}"],"env":{"KEY":"${user_config.key}"}}},
		"user_config":{"city":{"type":"string","required":true},"key":{"type":"string","sensitive":true,"required":true}}}`})
	s.refused("what it asks for is called city, key", "bundle", "install", "./weather", "--yes", "--value", "CITY=Rome")
	if out := s.must("bundle", "install", "./weather", "--yes"); !strings.Contains(out, "give it with --value city=") || !strings.Contains(out, "0 servers") {
		t.Errorf("%s", out)
	}
	if out := s.must("bundle", "install", "./weather", "--yes", "--value", "city=Rome"); !strings.Contains(out, "server weather: starts node ${ask:city}") || !strings.Contains(out, "1 server") {
		t.Errorf("%s", out)
	}
	out := s.must("bundle", "show", "weather")
	_, name, told := strings.Cut(out, "'toolcrib secret set ")
	if !told || !strings.Contains(out, "value of city: Rome") {
		t.Fatalf("%s", out)
	}
	if !strings.HasPrefix(name, "bundle.weather..") {
		t.Errorf("%s", out)
	}
}
