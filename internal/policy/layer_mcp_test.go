package policy

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestEveryShownNameCanBeDenied: whatever a supplier calls its tools and its
// box, a rule by each name that is shown takes the tool away.
func TestEveryShownNameCanBeDenied(t *testing.T) {
	natives := []string{"delete", "mcp__files__read_file", "mcp__a", "mcp__a__b__c", "files__read_file", "a___b", "__x", "mcp__", "read_file", "mcp__mcp__x"}
	tried := 0
	for _, box := range []string{"files", "mcp", "srv", "mcp__a", "a_b", "a__b"} {
		for _, native := range natives {
			for _, s := range []toolcrib.Contents{
				{}, {Qualify: []string{box}}, {Rename: map[string]string{box + "/" + native: "mcp__other__del"}}, {Alias: map[string]string{"mcp__al__ias": box + "/" + native}},
			} {
				s.Boxes = []toolcrib.Toolbox{toolcrib.NewBox(box, toolcrib.Tool{
					Spec: toolcrib.Spec{Name: native, Group: "mcp"},
					Run:  func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) { return nil, nil },
				})}
				crib := toolcrib.Crib{Catalog: &toolcrib.Catalog{}}
				crib.Catalog.Load(t.Context(), s)
				for spec := range crib.Tools(toolcrib.Caller{}) {
					for _, name := range append([]string{spec.Name}, spec.Names()...) {
						if _, err := ParseSelector(name); err != nil {
							continue
						}
						tried++
						if got := decide(t, Permissions{Deny: []string{name}}, spec, map[string]string{}); got != "deny" {
							t.Errorf("deny %s, of the tool %s of the box %s: %q", name, native, box, got)
						}
					}
				}
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d names were tried", tried)
	}
}
