package app

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
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Tool: name, Message: fmt.Sprintf(format, args...)}
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
