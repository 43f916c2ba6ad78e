package mcphub

import (
	"fmt"

	"github.com/toolcrib/toolcrib/internal/schema"
)

// Absent tells who calls a tool that is not given out why that is so. Nothing of it
// is in the server's words: nobody has approved them.
func (b *Box) Absent() (string, map[string]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manifest == nil {
		return group, map[string]string{"": fmt.Sprintf("the MCP server %s was not listed yet; toolcrib hub test %s does it", b.name, b.name)}
	}
	out := map[string]string{}
	for _, d := range b.unwanted {
		out[plainName(d)] = fmt.Sprintf("it is switched off in the settings of the MCP server %s", b.name)
	}
	for _, f := range b.faults {
		out[plainName(f.Tool)] = fmt.Sprintf("the MCP server %s has it, but its definition cannot be used; toolcrib hub show %s says why", b.name, b.name)
	}
	for _, h := range b.held {
		out[plainName(h.Tool)] = fmt.Sprintf("it is kept back until a person has looked at it: %s (toolcrib hub show %s, toolcrib hub approve %s)", h.Why, b.name, b.name)
	}
	return group, out
}

// Unchecked is a part of a schema that is left to the server to check.
type Unchecked struct {
	Tool  string `json:"tool"`
	Where string `json:"where"` // a JSON pointer into the schema of its arguments
	Why   string `json:"why"`
}

// Unchecked tells what of the schemas of its tools only the server can check.
func (b *Box) Unchecked() []Unchecked {
	var out []Unchecked
	for _, d := range b.definitions() {
		if !b.wants(d.Name) || len(d.Input) == 0 {
			continue
		}
		_, left := schema.Foreign(d.Input)
		for _, e := range left {
			out = append(out, Unchecked{Tool: d.Name, Where: e.Pointer, Why: e.Message})
		}
	}
	return out
}
