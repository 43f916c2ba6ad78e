package namecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// ToolNamed finds a tool by any of its names: what a person typed is looked up
// as it is first, and then among all names of the tools that exist for the
// caller. An error says why it is none; hidden may know more about that.
func ToolNamed(c *toolcrib.Crib, caller toolcrib.Caller, name string, hidden func(toolcrib.Caller, string) string) (toolcrib.Entry, error) {
	if spec, ok := c.Tool(caller, name); ok {
		return spec, nil
	}
	if rest, ok := toolname.FromClient(name); ok {
		name = rest
		if spec, ok := c.Tool(caller, name); ok {
			return spec, nil
		}
	}
	var found []toolcrib.Entry
	var names []string
	for spec := range c.Tools(caller) {
		all := spec.Names()
		names = append(append(names, spec.Name), all...)
		if slices.Contains(all, name) {
			found = append(found, spec)
		}
	}
	found = oneEach(found)
	refuse := func(format string, args ...any) error {
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Tool: name, Message: fmt.Sprintf(format, args...)}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if why := hidden(caller, name); why != "" {
			return toolcrib.Entry{}, refuse("%s", why)
		}
		if near := text.Nearest(name, names); near != "" {
			return toolcrib.Entry{}, refuse("there is no tool %q. Did you mean %s? 'toolcrib tools' lists what there is", name, near)
		}
		return toolcrib.Entry{}, refuse("there is no tool %q; 'toolcrib tools' lists what there is", name)
	}
	shown := make([]string, len(found))
	for i := range found {
		shown[i] = found[i].Name
	}
	return toolcrib.Entry{}, refuse("%q is a name of several tools: say which of %s", name, strings.Join(shown, ", "))
}

// oneEach keeps one entry of each tool: aliases are further entries.
func oneEach(specs []toolcrib.Entry) []toolcrib.Entry {
	var out []toolcrib.Entry
	for _, s := range specs {
		if !slices.ContainsFunc(out, func(o toolcrib.Entry) bool { return o.Box == s.Box && o.Native == s.Native }) {
			out = append(out, s)
		}
	}
	return out
}
