package settings

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// KnownNames are the names of dialects and of settings for tools, each with the
// tool it means. One that means several tools is left out.
func (cfg Config) KnownNames() map[string]string {
	known, twice := map[string]string{}, map[string]bool{}
	add := func(name, tool string) {
		if was, ok := known[name]; ok && was != tool {
			twice[name] = true
		}
		known[name] = tool
	}
	for name, tool := range dialect.Tools {
		add(name, tool)
	}
	own := maps.Clone(known)
	full := func(tool string) string { // the settings may name a tool of ours without its box
		if strings.Contains(tool, "/") {
			return tool
		}
		for _, to := range own {
			if _, native, _ := strings.Cut(to, "/"); native == tool {
				return to
			}
		}
		return ""
	}
	for tool, name := range cfg.Tools.Rename {
		if tool = full(tool); tool != "" {
			add(name, tool)
		}
	}
	for name, tool := range cfg.Tools.Alias {
		if tool = full(tool); tool != "" {
			add(name, tool)
		}
	}
	maps.DeleteFunc(known, func(name, tool string) bool {
		_, native, _ := strings.Cut(tool, "/")
		return twice[name] || name == native
	})
	return known
}

// canonical writes a tool that settings name in any way as box/tool; a box, and
// what it does not know, stays as it is.
func canonical(known map[string]string, name string) string {
	if rest, ok := toolname.FromClient(name); ok && rest != "*" {
		name = rest
	}
	if tool, ok := known[name]; ok {
		return tool
	}
	rest := strings.TrimPrefix(name, "mcp__")
	if box, tool, ok := toolname.Split(rest); ok && !strings.Contains(name, "/") {
		return box + "/" + tool
	}
	return name
}

// PlainNames writes the settings that go by box/tool, or by the native name, in
// that way, whatever name they were written with.
func (cfg Config) PlainNames(own []string) Config {
	known := sync.OnceValue(cfg.KnownNames) // most settings need none
	if len(cfg.Sandbox.Tools) > 0 {
		tools := map[string]SandboxTool{}
		for _, name := range slices.Sorted(maps.Keys(cfg.Sandbox.Tools)) {
			plain := name
			if _, native, ok := strings.Cut(canonical(known(), name), "/"); ok {
				plain = native
			}
			if _, twice := tools[plain]; !twice || plain == name {
				tools[plain] = cfg.Sandbox.Tools[name]
			}
		}
		cfg.Sandbox.Tools = tools
	}
	if len(cfg.Vault.Grants) > 0 {
		grants := map[string][]string{}
		boxes := slices.Concat(own, slices.Collect(maps.Keys(cfg.MCPServers)), slices.Collect(maps.Keys(cfg.OpenAPI)))
		for _, who := range slices.Sorted(maps.Keys(cfg.Vault.Grants)) {
			plain := who
			if !slices.Contains(boxes, who) {
				plain = canonical(known(), who)
			}
			grants[plain] = append(grants[plain], cfg.Vault.Grants[who]...)
		}
		cfg.Vault.Grants = grants
	}
	return cfg
}

// ServerNames adds to the names of a server's tools in its settings those that the
// settings call otherwise.
func (t Tools) ServerNames(server string, names []string) []string {
	out := slices.Clone(names)
	add := func(shown, tool string) {
		box, native, ok := strings.Cut(tool, "/")
		if !ok {
			box, native = server, tool
		}
		if box == server && slices.ContainsFunc(names, func(p string) bool { return toolname.Match(p, shown) || toolname.Match(p, server+"__"+shown) }) {
			out = append(out, native)
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(t.Rename)) {
		add(t.Rename[tool], tool)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Alias)) {
		add(name, t.Alias[name])
	}
	return out
}
