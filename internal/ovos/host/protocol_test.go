package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
)

// oddBox has tools that answer in every way that the bus has to cope with.
func oddBox() toolcrib.Toolbox {
	answer := func(name, value string) toolcrib.Tool {
		return tool(name, func(context.Context, json.RawMessage) (*toolcrib.Result, error) {
			return &toolcrib.Result{Value: json.RawMessage(value)}, nil
		})
	}
	list := answer("list", `[1,2]`)
	list.Output = json.RawMessage(`{"type":"array","items":{"type":"integer"}}`)
	pointing := answer("pointing", `[1]`)
	pointing.Output = json.RawMessage(`{"type":"array","items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":"integer"}}}`)
	lax := answer("lax", `{}`)
	lax.Input = json.RawMessage(`true`)
	odd := answer("odd_contract", `{}`)
	odd.Input = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","default":123456789012345678901234567890}}}`)
	return toolcrib.NewBox("odd", list, pointing, lax, odd, answer("big", `{"n":123456789012345678901234567890}`),
		tool("plain", func(context.Context, json.RawMessage) (*toolcrib.Result, error) { return toolcrib.Text("hello"), nil }),
		tool("picture", func(context.Context, json.RawMessage) (*toolcrib.Result, error) {
			return &toolcrib.Result{Content: []toolcrib.Content{{Type: "text", Text: "a cat"}, {Type: "image", Data: []byte("cat"), MIME: "image/png"}}}, nil
		}),
		tool("fails", func(context.Context, json.RawMessage) (*toolcrib.Result, error) {
			return nil, errors.New("the disk is on fire")
		}),
		tool("panics", func(context.Context, json.RawMessage) (*toolcrib.Result, error) { panic("oh") }))
}

const (
	mathCall  = "ovos.persona.tools.ovos-math-tools.call"
	clockCall = "ovos.persona.tools.ovos-clock-tools.call"
	oddCall   = "ovos.persona.tools.odd.call"
	static    = "ovos.persona.tools.call"
	get       = "ovos.tools.get"
	invoke    = "ovos.tools.invoke"
)

// TestAnswersAreThoseOfTheField holds whole answers against what Python hosts
// give. A detail is compared by a word in it; "-" is none at all.
func TestAnswersAreThoseOfTheField(t *testing.T) {
	_, s := open(t, setup{more: []toolcrib.Toolbox{oddBox()}})
	unknown := func(name, box string) string {
		return "ValueError: Unknown tool '" + name + "' for ToolBox '" + box + "'."
	}
	wrongType := func(kind string) string {
		return "RuntimeError: Tool 'get_current_datetime' called with unexpected type arguments: " + kind + ". Must be Dict[str, Any] or ToolArguments."
	}
	failed := func(name string) string {
		return "RuntimeError: Tool execution failed for '" + name + "' in ToolBox 'odd'"
	}
	type m = map[string]any
	for _, tt := range []struct {
		typ, data string
		want      m
		detail    string
	}{
		{mathCall, `{"name":"evaluate_expression","kwargs":{"expression":"2+2"}}`, m{"result": m{"result": 4.0, "expression": "2+2", "error": nil}, "toolbox_id": "ovos-math-tools"}, "-"},
		{mathCall, `{"name":"evaluate_expression","kwargs":{"expression":"inf"},"extra":1}`, m{"result": m{"result": nil, "expression": "inf", "error": nil}, "toolbox_id": "ovos-math-tools"}, "-"},
		{mathCall, `{"name":"nope"}`, m{"error": unknown("nope", "ovos-math-tools"), "toolbox_id": "ovos-math-tools"}, "not_found"},
		{mathCall, `{}`, m{"error": unknown("", "ovos-math-tools"), "toolbox_id": "ovos-math-tools"}, "not_found"},
		{mathCall, `{"name":null}`, m{"error": unknown("None", "ovos-math-tools"), "toolbox_id": "ovos-math-tools"}, "not_found"},
		{mathCall, `{"name":5}`, m{"error": unknown("5", "ovos-math-tools"), "toolbox_id": "ovos-math-tools"}, "not_found"},
		{mathCall, `{"name":true}`, m{"error": unknown("True", "ovos-math-tools"), "toolbox_id": "ovos-math-tools"}, "not_found"},
		{mathCall, `{"name":-2.50}`, m{"error": unknown("-2.5", "ovos-math-tools"), "toolbox_id": "ovos-math-tools"}, "not_found"},
		{mathCall, `{"name":["evaluate_expression"]}`, m{"error": "TypeError: unhashable type: 'list'", "toolbox_id": "ovos-math-tools"}, "text"},
		{mathCall, `{"name":{}}`, m{"error": "TypeError: unhashable type: 'dict'", "toolbox_id": "ovos-math-tools"}, "text"},
		{mathCall, `{"name":"get_current_datetime"}`, m{"error": unknown("get_current_datetime", "ovos-math-tools"), "toolbox_id": "ovos-math-tools"}, "not_found"},
		{mathCall, `{"name":"evaluate_expression","kwargs":{"expression":5}}`, m{"error": "ValueError: Tool input validation failed for 'evaluate_expression' in ToolBox 'ovos-math-tools'", "toolbox_id": "ovos-math-tools"}, "expression"},
		{mathCall, `{"name":"evaluate_expression","args":{"expression":"1"}}`, m{"error": "ValueError: Tool input validation failed for 'evaluate_expression' in ToolBox 'ovos-math-tools'", "toolbox_id": "ovos-math-tools"}, "expression"},
		{clockCall, `{"name":"get_current_datetime","kwargs":null}`, m{"error": wrongType("NoneType"), "toolbox_id": "ovos-clock-tools"}, "object"},
		{clockCall, `{"name":"get_current_datetime","kwargs":[]}`, m{"error": wrongType("list"), "toolbox_id": "ovos-clock-tools"}, "object"},
		{clockCall, `{"name":"get_current_datetime","kwargs":"{}"}`, m{"error": wrongType("str"), "toolbox_id": "ovos-clock-tools"}, "object"},
		{clockCall, `{"name":"get_current_datetime","kwargs":3}`, m{"error": wrongType("int"), "toolbox_id": "ovos-clock-tools"}, "object"},
		{clockCall, `{"name":"get_current_datetime","kwargs":3.0}`, m{"error": wrongType("float"), "toolbox_id": "ovos-clock-tools"}, "object"},
		{clockCall, `{"name":"get_current_datetime","kwargs":false}`, m{"error": wrongType("bool"), "toolbox_id": "ovos-clock-tools"}, "object"},
		{oddCall, `{"name":"lax","kwargs":[1]}`, m{"error": strings.Replace(wrongType("list"), "get_current_datetime", "lax", 1), "toolbox_id": "odd"}, "object"},
		{oddCall, `{"name":"plain"}`, m{"result": m{"content": "hello"}, "toolbox_id": "odd"}, "-"},
		{oddCall, `{"name":"list"}`, m{"result": m{"result": []any{1.0, 2.0}}, "toolbox_id": "odd"}, "-"},
		{oddCall, `{"name":"picture"}`, m{"result": m{"content": "a cat", "parts": []any{m{"type": "text", "text": "a cat"}, m{"type": "image", "data": "Y2F0", "mime": "image/png"}}}, "toolbox_id": "odd"}, "-"},
		{oddCall, `{"name":"big"}`, m{"error": "TypeError: Integer exceeds 64-bit range", "toolbox_id": "odd"}, "64 bits"},
		{oddCall, `{"name":"fails"}`, m{"error": failed("fails"), "toolbox_id": "odd"}, "on fire"},
		{oddCall, `{"name":"panics"}`, m{"error": failed("panics"), "toolbox_id": "odd"}, "internal"},
		{static, `{"toolbox_id":"odd","name":"plain","kwargs":{}}`, m{"result": m{"content": "hello"}, "toolbox_id": "odd"}, "-"},
		{static, `{"toolbox_id":"odd","name":"nope"}`, m{"error": unknown("nope", "odd"), "toolbox_id": "odd"}, "not_found"},

		{get, `{}`, m{"error": "Missing required field: 'name'"}, "-"},
		{get, `{"name":null}`, m{"error": "Missing required field: 'name'"}, "-"},
		{get, `{"name":""}`, m{"error": "Missing required field: 'name'"}, "-"},
		{get, `{"name":0}`, m{"error": "Missing required field: 'name'"}, "-"},
		{get, `{"name":"x"}`, m{"error": "Unknown tool: 'x'"}, "-"},
		{get, `{"name":7}`, m{"error": "Unknown tool: '7'"}, "-"},
		{get, `{"name":["x"]}`, m{"error": "TypeError: unhashable type: 'list'"}, "text"},

		{invoke, `{"name":"plain"}`, m{"name": "plain", "result": m{"content": "hello"}}, "-"},
		{invoke, `{}`, m{"name": "", "error": "Missing required field: 'name'"}, "-"},
		{invoke, `{"name":null}`, m{"name": "", "error": "Missing required field: 'name'"}, "-"},
		{invoke, `{"name":"n"}`, m{"name": "n", "error": "Unknown tool: 'n'"}, "not_found"},
		{invoke, `{"name":7}`, m{"name": 7.0, "error": "Unknown tool: '7'"}, "not_found"},
		{invoke, `{"name":123456789012345678901234567890}`, m{"name": "123456789012345678901234567890", "error": "Unknown tool: '123456789012345678901234567890'"}, "not_found"},
		{invoke, `{"name":{"a":1}}`, m{"name": "", "error": "TypeError: unhashable type: 'dict'"}, "text"},
		{invoke, `{"name":"get_current_datetime","args":null}`, m{"name": "get_current_datetime", "error": wrongType("NoneType")}, "object"},
		{invoke, `{"name":"evaluate_expression","kwargs":{"expression":"1"}}`, m{"name": "evaluate_expression", "error": "ValueError: Tool input validation failed for 'evaluate_expression' in ToolBox 'ovos-math-tools'"}, "expression"},
		{invoke, `{"name":"fails"}`, m{"name": "fails", "error": failed("fails")}, "on fire"},
	} {
		got := s.ask(tt.typ, tt.data).Data
		detail, told := got["detail"].(string)
		if told != (tt.detail != "-") || told && !strings.Contains(detail, tt.detail) {
			t.Errorf("%s %s: detail %q", tt.typ, tt.data, got["detail"])
		}
		delete(got, "detail")
		spoken(t, got, got["error"] != nil && tt.typ != get)
		delete(got, "spoken")
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.typ, tt.data, diff)
		}
	}
}

func TestForeignToolboxesAreMetWithSilence(t *testing.T) {
	_, s := open(t, setup{})
	for _, tt := range [][2]string{
		{"ovos.persona.tools.ovos-other-tools.call", `{"name":"get_current_datetime","kwargs":{}}`},
		{"ovos.persona.tools.clock.call", `{"name":"get_current_datetime"}`}, // it has another id here
		{"ovos.persona.tools..call", `{"name":"get_current_datetime"}`},
		{"ovos.persona.tools.ovos-clock-tools.call.response", `{"result":{},"toolbox_id":"ovos-clock-tools"}`},
		{static, `{"name":"get_current_datetime"}`},
		{static, `{"toolbox_id":"ovos-other-tools","name":"get_current_datetime"}`},
		{static, `{"toolbox_id":["ovos-clock-tools"],"name":"get_current_datetime"}`},
		{"ovos.tools.nope", `{}`},
		{"toolcrib.approval.response", `{"id":"q-1","choice":"once"}`}, // nobody is asked on this bus
	} {
		s.silent(tt[0], tt[1])
	}
}

func TestContractsOfOtherBoxesFitTheBus(t *testing.T) {
	_, s := open(t, setup{more: []toolcrib.Toolbox{oddBox()}})
	list := s.ask("ovos.tools.list", `{}`).Data["tools"].([]any)
	schemas := map[string]any{}
	for _, c := range list {
		c := c.(map[string]any)
		schemas[c["name"].(string)] = c["output_schema"]
	}
	if _, shown := schemas["odd_contract"]; shown || len(list) < 15 {
		t.Errorf("a contract that poisons frames is shown, or took others with it: %d tools", len(list))
	}
	if got := s.ask(get, `{"name":"odd_contract"}`).Data; got["error"] != "Unknown tool: 'odd_contract'" || got["detail"] == nil {
		t.Errorf("a contract that cannot be sent: %v", got)
	}
	type m = map[string]any
	wrapped := func(inner m) m {
		return m{"properties": m{"result": inner}, "required": []any{"result"}, "title": "ToolOutput", "type": "object"}
	}
	for name, want := range map[string]any{
		"plain":    m{"properties": m{"content": m{"title": "Content", "type": "string"}}, "required": []any{"content"}, "title": "ToolOutput", "type": "object"},
		"list":     wrapped(m{"type": "array", "items": m{"type": "integer"}}),
		"pointing": wrapped(m{}),
	} {
		if diff := cmp.Diff(want, schemas[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
