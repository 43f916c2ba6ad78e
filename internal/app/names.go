package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// knownNames are the names of dialects and of settings for tools, each with the
// tool it means. One that means several tools is left out.
func knownNames(cfg Config) map[string]string {
	known, twice := map[string]string{}, map[string]bool{}
	add := func(name, tool string) {
		if was, ok := known[name]; ok && was != tool {
			twice[name] = true
		}
		known[name] = tool
	}
	for _, a := range dialect.Adapters(dialect.Options{}) {
		add(a.Name, a.Box+"/"+a.Native)
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

// plainNames writes the settings that go by box/tool, or by the native name, in
// that way, whatever name they were written with.
func plainNames(cfg Config) Config {
	known := knownNames(cfg)
	if len(cfg.Sandbox.Tools) > 0 {
		tools := map[string]SandboxTool{}
		for _, name := range slices.Sorted(maps.Keys(cfg.Sandbox.Tools)) {
			plain := name
			if _, native, ok := strings.Cut(canonical(known, name), "/"); ok {
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
		boxes := append(ownBoxes(), slices.Collect(maps.Keys(cfg.MCPServers))...)
		for _, who := range slices.Sorted(maps.Keys(cfg.Vault.Grants)) {
			plain := who
			if !slices.Contains(boxes, who) {
				plain = canonical(known, who)
			}
			grants[plain] = append(grants[plain], cfg.Vault.Grants[who]...)
		}
		cfg.Vault.Grants = grants
	}
	return cfg
}

// serverNames adds to the names of a server's tools in its settings those that the
// settings call otherwise.
func (t Tools) serverNames(server string, names []string) []string {
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

// ToolNamed finds a tool by any of its names: what a person typed is looked up
// as it is first, and then among all names of the tools that exist for the
// caller. An error says why it is none.
func (a *App) ToolNamed(caller toolcrib.Caller, name string) (toolcrib.Spec, error) {
	if spec, ok := a.Crib.Tool(caller, name); ok {
		return spec, nil
	}
	if rest, ok := toolname.FromClient(name); ok {
		name = rest
		if spec, ok := a.Crib.Tool(caller, name); ok {
			return spec, nil
		}
	}
	var found []toolcrib.Spec
	var names []string
	for spec := range a.Crib.Tools(caller) {
		all := spec.Names()
		names = append(append(names, spec.Name), all...)
		if slices.Contains(all, name) {
			found = append(found, spec)
		}
	}
	found = oneEach(found)
	refuse := func(format string, args ...any) error {
		return &toolcrib.Error{Code: toolcrib.NotFound, Tool: name, Message: fmt.Sprintf(format, args...)}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if why := a.Hidden(caller, name); why != "" {
			return toolcrib.Spec{}, refuse("%s", why)
		}
		if near := text.Nearest(name, names); near != "" {
			return toolcrib.Spec{}, refuse("there is no tool %q. Did you mean %s? 'toolcrib tools' lists what there is", name, near)
		}
		return toolcrib.Spec{}, refuse("there is no tool %q; 'toolcrib tools' lists what there is", name)
	}
	shown := make([]string, len(found))
	for i := range found {
		shown[i] = found[i].Name
	}
	return toolcrib.Spec{}, refuse("%q is a name of several tools: say which of %s", name, strings.Join(shown, ", "))
}

// oneEach keeps one entry of each tool: aliases are further entries.
func oneEach(specs []toolcrib.Spec) []toolcrib.Spec {
	var out []toolcrib.Spec
	for _, s := range specs {
		if !slices.ContainsFunc(out, func(o toolcrib.Spec) bool { return o.Box == s.Box && o.Native == s.Native }) {
			out = append(out, s)
		}
	}
	return out
}
