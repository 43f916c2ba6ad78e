package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPluginsAreNamed: servers that plugins of a client bring are found in every form that
// the files have, and with each the command that stops it.
func TestPluginsAreNamed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(content, "HOME", filepath.ToSlash(dir))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".claude/settings.json", `{"enabledPlugins": {"tickets@shop": true, "off@shop": false}}`)
	write(".claude/plugins/installed_plugins.json", `{"version": 2, "plugins": {
		"tickets@shop": [{"scope": "user", "installPath": "HOME/p/tickets"}],
		"old@shop": {"installPath": "HOME/p/old"},
		"named@shop": [{"installPath": "HOME/p/named"}],
		"off@shop": [{"installPath": "HOME/p/tickets"}],
		"skills@shop": [{"installPath": "HOME/p/skills"}],
		"bad@shop; rm -rf x": [{"installPath": "HOME/p/tickets"}],
		"-f": [{"installPath": "HOME/p/tickets"}],
		"strange@shop": 3}}`)
	write("p/tickets/.mcp.json", `{"mcpServers": {"tickets": {"command": "t"}, "mail": {"url": "https://m.example"}}}`)
	write("p/old/.mcp.json", `{"weather": {"command": "w"}, "note": {"x": 1}}`)
	write("p/named/.claude-plugin/plugin.json", `{"name": "named", "mcpServers": ["./a.json", "../../secret.json"]}`)
	write("p/named/a.json", `{"mcpServers": {"a": {"command": "a"}}}`)
	write("secret.json", `{"mcpServers": {"outside": {"command": "a"}}}`)
	write("p/skills/.claude-plugin/plugin.json", `{"name": "skills"}`)
	m := machine(dir, testKey)
	var got []string
	for _, p := range m.Plugins() {
		got = append(got, p.Plugin+": "+strings.Join(p.Servers, " "))
	}
	if want := []string{"-f: mail tickets", "bad@shop; rm -rf x: mail tickets", "named@shop: a", "old@shop: weather", "tickets@shop: mail tickets"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if said := m.Plugins()[4].String(); said != "mail, tickets, of the plugin tickets@shop of Claude Code; to stop that: claude plugin disable tickets@shop" {
		t.Error(said)
	}
	write(".claude/plugins/installed_plugins.json", "[")
	if list := m.Plugins(); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

func FuzzPlugins(f *testing.F) {
	f.Add(`{"plugins": {"a@b": [{"installPath": "/x"}]}}`, `{"mcpServers": "x.json"}`)
	f.Add(`{"plugins": {"a@b": {"installPath": 1}}}`, `{"mcpServers": {"a": null}}`)
	f.Fuzz(func(t *testing.T, installed, manifest string) {
		dir := t.TempDir()
		for name, content := range map[string]string{"plugins/installed_plugins.json": installed, ".claude-plugin/plugin.json": manifest} {
			path := filepath.Join(dir, ".claude", name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range (Machine{GOOS: "linux", Home: dir}).Plugins() {
			if stop := p.Stop(); !plainID(stop[strings.LastIndexByte(stop, ' ')+1:]) || strings.Count(stop, " ") > 3 || strings.ContainsAny(p.String(), "\x1b\n") {
				t.Fatalf("%+v", p)
			}
		}
		serversOfPlugin(filepath.Join(dir, ".claude"))
	})
}
