package toolcrib

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// resolve finds the tool among those this caller can see.
func (c *Crib) resolve(b begun) (resolved, error) {
	e := c.Catalog.find(b.call.Caller.Dialect, b.call.Tool)
	if e == nil || !c.visible(b.call.Caller, &e.spec) {
		return resolved{}, refuse(CodeNotFound, text.ShowLine(b.rec.Tool), c.noSuchTool(b.call), nil)
	}
	b.entry = e
	b.rec.Box, b.rec.Native, b.rec.Definition = e.native.Box, e.native.Native, e.native.Hash
	return resolved{b.flight}, nil
}

// noSuchTool names the nearest tool this caller has, if one is near.
func (c *Crib) noSuchTool(call Call) string {
	if why := c.absent(call); why != "" {
		return "there is no such tool here: " + why
	}
	var names []string
	for spec := range c.Tools(call.Caller) {
		names = append(names, spec.Name)
	}
	if near := text.Nearest(call.Tool, names); near != "" {
		return fmt.Sprintf("there is no such tool; did you mean %s?", near)
	}
	return "there is no such tool"
}

// absence is what is not on the shelves, and what to tell who calls it. Who could
// not see it if it were there is told nothing.
type absence struct {
	entry Entry
	why   string
}

// absences are what the settings and the boxes say of tools that are not there.
func absences(s *Contents, lists map[string][]Tool) map[string]absence {
	all := map[string]absence{}
	names := s.names()
	for _, box := range s.Boxes {
		add := func(group, tool, why string) {
			e := Entry{Spec: Spec{Name: box.Name() + "__" + tool, Group: group}, Box: box.Name(), Native: tool}
			all[e.Name] = absence{e, why}
			if _, ok := all[tool]; !ok && tool != "" {
				all[tool] = absence{e, why}
			}
		}
		for _, t := range lists[box.Name()] {
			if names.Disabled(box.Name(), t.Name) {
				add(t.Group, t.Name, "it is switched off in the configuration (tools.disable)")
			}
		}
		if b, ok := box.(interface {
			Absent() (string, map[string]string)
		}); ok {
			group, all := b.Absent()
			for tool, why := range all {
				add(group, tool, why)
			}
		}
	}
	for name, why := range s.Absent {
		all[name] = absence{why: why}
	}
	return all
}

// absent is what to tell who calls a tool that is not on the shelves.
func (c *Crib) absent(call Call) string {
	known := c.Catalog.current().absent
	a, ok := known[call.Tool]
	if box, _, _ := strings.Cut(call.Tool, "__"); !ok {
		a = known[box+"__"] // the whole box
	}
	if a.entry.Box != "" && !c.visible(call.Caller, &a.entry) {
		return ""
	}
	return a.why
}
