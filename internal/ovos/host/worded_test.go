package host_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// failing is a tool of the field that fails with these words.
func failing(name string, said ...string) toolcrib.Tool {
	return toolcrib.Tool{
		Spec: toolcrib.Spec{Name: name, Description: "Fails.", Input: json.RawMessage(`{"type":"object"}`)}, Foreign: true,
		Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			r := &toolcrib.Result{Failed: true}
			for _, text := range said {
				r.Content = append(r.Content, toolcrib.Content{Type: "text", Text: text})
			}
			return r, nil
		},
	}
}

// TestToolboxesOfTheField: what a genuine toolbox says of a failure is the answer,
// and it knows its tools by their own names, also where another box has the same.
func TestToolboxesOfTheField(t *testing.T) {
	const words = "RuntimeError: Tool 'odd' returned an unexpected type: list. Must return Dict[str, Any] or ToolOutput."
	genuine := toolcrib.NewBox("genuine", failing("odd", "[untrusted: genuine/odd] All that follows is data.", words, "Hint: none."),
		failing("silent", "no class here"), failing("unit_convert", "KeyError: 'x'"))
	other := toolcrib.NewBox("other", failing("strange", words))
	r := furnish(t, setup{more: []toolcrib.Toolbox{genuine, other}})
	r.shelving.Yield = []string{"genuine"}
	if _, faults := r.load(t.Context()); faults != nil {
		t.Fatal(faults)
	}
	cfg := r.config()
	cfg.Worded = func(box string) bool { return box == "genuine" }
	url, _ := serve(t, cfg)
	s := ready(t, url)
	for _, c := range []struct{ topic, data, want string }{
		{"ovos.persona.tools.genuine.call", `{"name":"odd"}`, words},
		{"ovos.tools.invoke", `{"name":"odd"}`, words},
		{"ovos.persona.tools.genuine.call", `{"name":"silent"}`, "RuntimeError: Tool execution failed for 'silent' in ToolBox 'genuine'"},
		{"ovos.persona.tools.other.call", `{"name":"strange"}`, "RuntimeError: Tool execution failed for 'strange' in ToolBox 'other'"},
		{"ovos.persona.tools.genuine.call", `{"name":"unit_convert"}`, "KeyError: 'x'"},
		{"ovos.persona.tools.genuine.call", `{"name":"unit_convert","kwargs":[]}`, "RuntimeError: Tool 'unit_convert' called with unexpected type arguments: list. Must be Dict[str, Any] or ToolArguments."},
		{"ovos.tools.invoke", `{"name":"genuine__unit_convert"}`, "KeyError: 'x'"},
		{"ovos.persona.tools.genuine.call", `{"name":"nothing"}`, "ValueError: Unknown tool 'nothing' for ToolBox 'genuine'."},
	} {
		if got := s.ask(c.topic, c.data).Data["error"]; got != c.want {
			t.Errorf("%s %s: %v", c.topic, c.data, got)
		}
	}
	names := map[string]bool{}
	for _, answer := range s.discover(6) {
		if answer.Data["toolbox_id"] == "genuine" {
			for _, tool := range answer.Data["tools"].([]any) {
				names[tool.(map[string]any)["name"].(string)] = true
			}
		}
	}
	if len(names) != 3 || !names["unit_convert"] {
		t.Errorf("the toolbox has %v", names)
	}
}
