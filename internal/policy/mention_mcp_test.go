package policy

import (
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestTypedNameOfMCP: the name that a tool is shown by, typed into an allow, means that
// tool and no tool of a server or a box whose name only looks like it.
func TestTypedNameOfMCP(t *testing.T) {
	of := func(box, native, group, name string) toolcrib.Entry {
		return toolcrib.Entry{Spec: toolcrib.Spec{Name: name, Group: group}, Box: box, Native: native}
	}
	all := []toolcrib.Entry{
		of("hub", "mcp_connect", "mcp", "mcp_connect"), of("mcp__hub", "mcp_connect", "mcp", "mcp__hub__mcp_connect"),
		of("shop", "work", "mcp", "shop__work"), of("mcp__shop", "work", "mcp", "mcp__shop__work"),
		of("mcp", "shop", "mcp", "mcp__shop"), of("files", "read", "fs", "read"), of("mcp__files", "read", "mcp", "mcp__files__read"),
	}
	own := []string{"hub", "files"}
	for i := range all {
		typed := TypedName(&all[i], own)
		s, err := ParseSelector(typed)
		if err != nil {
			t.Fatalf("%s: %v", typed, err)
		}
		for j := range all {
			if got := s.picksForCertain(&all[j], own); got != (i == j) {
				t.Errorf("%s, shown for %s/%s, means %s/%s: %v", typed, all[i].Box, all[i].Native, all[j].Box, all[j].Native, got)
			}
		}
		if !s.Picks(&all[i]) {
			t.Errorf("a deny of %s does not mean %s/%s", typed, all[i].Box, all[i].Native)
		}
	}
}
