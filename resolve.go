package toolcrib

import (
	"fmt"

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
	if why := c.Catalog.absent(call.Tool); why != "" {
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
