package setup

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/text"
)

// PluginServers are the MCP servers that a plugin of a client brings. The client starts
// them itself, round Toolcrib, and they stand in no file that a person writes: the plugin
// brings them back with each update. So they are named, and how to stop them.
type PluginServers struct {
	Client  string   `json:"client"`
	Plugin  string   `json:"plugin"` // as the client's own command takes it
	Servers []string `json:"servers"`
}

// Stop is the command that stops them. A plugin whose name cannot stand in a command is
// named all the same: else an odd name would hide it.
func (p PluginServers) Stop() string {
	if !plainID(p.Plugin) {
		return "claude plugin list"
	}
	return "claude plugin disable " + p.Plugin
}

// String tells a person of them.
func (p PluginServers) String() string {
	return text.ShowLine(strings.Join(p.Servers, ", ")) + ", of the plugin " + text.ShowLine(p.Plugin) + " of " + clientfiles.Title(p.Client) + "; to stop that: " + text.ShowLine(p.Stop())
}

// mostPlugins is how many are looked at: the list is a file that other programs write.
const mostPlugins = 1000

// Plugins finds the plugins of Claude Code that bring servers and are not switched off.
// What cannot be read has none.
func (m Machine) Plugins() (list []PluginServers) {
	file := clientfiles.HookFile(clientfiles.ClaudeCode, m.Home, m.env(), "") // its settings
	if file == "" {
		return nil
	}
	var settings struct {
		Enabled map[string]json.RawMessage `json:"enabledPlugins"`
	}
	readJSON(file, &settings)
	var installed struct {
		Plugins map[string]json.RawMessage `json:"plugins"`
	}
	readJSON(filepath.Join(filepath.Dir(file), "plugins", "installed_plugins.json"), &installed)
	for n, id := range slices.Sorted(maps.Keys(installed.Plugins)) {
		if n >= mostPlugins {
			break
		}
		if string(settings.Enabled[id]) == "false" {
			continue
		}
		found := map[string]bool{}
		for _, dir := range installPaths(installed.Plugins[id]) {
			for _, name := range serversOfPlugin(dir) {
				found[name] = true
			}
		}
		if len(found) > 0 {
			list = append(list, PluginServers{Client: clientfiles.ClaudeCode, Plugin: id, Servers: slices.Sorted(maps.Keys(found))})
		}
	}
	return list
}

// plainID reports whether a name can stand in a command as it is: it is shown to a person
// who copies it.
func plainID(id string) bool {
	return id != "" && len(id) < 200 && id[0] != '-' && !strings.ContainsFunc(id, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("@._-", r)
	})
}

// installPaths reads where a plugin lies: one place, or one for each scope.
func installPaths(raw json.RawMessage) (dirs []string) {
	type place struct {
		Path string `json:"installPath"`
	}
	var many []place
	if json.Unmarshal(raw, &many) != nil {
		var one place
		if json.Unmarshal(raw, &one) != nil {
			return nil
		}
		many = []place{one}
	}
	for _, p := range many {
		if filepath.IsAbs(p.Path) {
			dirs = append(dirs, p.Path)
		}
	}
	return dirs
}

// serversOfPlugin names the servers in the files of a plugin.
func serversOfPlugin(dir string) []string {
	names := serverNames(filepath.Join(dir, ".mcp.json"))
	var manifest struct {
		Servers json.RawMessage `json:"mcpServers"`
	}
	readJSON(filepath.Join(dir, ".claude-plugin", "plugin.json"), &manifest)
	var table map[string]json.RawMessage
	var files []string
	var file string
	switch {
	case json.Unmarshal(manifest.Servers, &table) == nil:
		names = append(names, slices.Collect(maps.Keys(table))...)
	case json.Unmarshal(manifest.Servers, &file) == nil:
		files = []string{file}
	default:
		if json.Unmarshal(manifest.Servers, &files) != nil {
			files = nil
		}
	}
	for _, file := range files {
		if filepath.IsLocal(file) {
			names = append(names, serverNames(filepath.Join(dir, file))...)
		}
	}
	return names
}

// serverNames names the servers of one file, which may have them at its top.
func serverNames(file string) []string {
	var whole struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if readJSON(file, &whole); whole.Servers != nil {
		return slices.Collect(maps.Keys(whole.Servers))
	}
	var top map[string]struct {
		Command string `json:"command"`
		URL     string `json:"url"`
	}
	readJSON(file, &top)
	var names []string
	for name, s := range top {
		if s.Command != "" || s.URL != "" {
			names = append(names, name)
		}
	}
	return names
}

// readJSON reads a file if it can be read, and leaves the value as it is if not.
func readJSON(file string, into any) {
	if content, err := plainfile.Read(file, plainfile.MaxSettings); err == nil {
		_ = json.Unmarshal(content, into) // what cannot be read has nothing
	}
}
