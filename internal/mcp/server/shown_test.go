package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
)

// TestShownToModels: a client that shows its model the value of a result instead of
// its texts gets the texts alone, and no word of a schema for the value; others get
// both.
func TestShownToModels(t *testing.T) {
	c, _ := newCrib(t)
	tool := toolcrib.Tool{Spec: toolcrib.Spec{Name: "both", Input: json.RawMessage(`{"type":"object"}`), Output: json.RawMessage(`{"type":"object"}`), Effects: toolcrib.Pure}}
	tool.Run = func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		return &toolcrib.Result{Value: json.RawMessage(`{"a":1}`), Content: []toolcrib.Content{{Type: "text", Text: "marked"}, {Type: "text", Text: "a is 1"}}}, nil
	}
	bare := tool
	bare.Name = "bare"
	bare.Run = func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		return &toolcrib.Result{Value: json.RawMessage(`{"a":1}`)}, nil
	}
	load(t, c, []toolcrib.Tool{tool, bare})
	want := func(tool string, values bool) string {
		switch {
		case tool == "bare":
			return `{"a":1}`
		case values:
			return "marked|a is 1"
		}
		return `marked|a is 1|{"a":1}` // it gets the value in no other form
	}
	for name, values := range map[string]bool{"window": true, "claude-code": false, "codex-mcp-client": false, "Claude-Code/2.1 (cli)": false, "claude-ai": true} {
		for _, version := range []string{"", "2025-11-25"} {
			s := New(Config{Crib: c, Version: "1", Log: quiet()}, toolcrib.Caller{})
			client := dialAs(t, s, name, version, nil)
			list, err := client.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 2 {
				t.Fatalf("%+v, %v", list, err)
			}
			for _, tool := range list.Tools {
				r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name})
				if err != nil {
					t.Fatal(err)
				}
				if (tool.OutputSchema != nil) != values || (r.StructuredContent != nil) != values {
					t.Errorf("%s %s, %s: %v, %v", name, version, tool.Name, tool.OutputSchema, r.StructuredContent)
				}
				var texts []string
				for _, c := range r.Content {
					if text, ok := c.(*mcp.TextContent); ok {
						texts = append(texts, text.Text)
					}
				}
				if got := strings.Join(texts, "|"); got != want(tool.Name, values) {
					t.Errorf("%s %s, %s: %s", name, version, tool.Name, got)
				}
			}
			s.Close()
		}
	}
}

// TestResourceMark: what a vetter says of a resource stands before it, at its own
// address.
func TestResourceMark(t *testing.T) {
	s := &Server{}
	for uri, want := range map[string]string{"file:///a.txt": "mark|words"} {
		out, err := s.encodeResource(&clientRequest{client: &client{}}, &toolcrib.Result{Content: []toolcrib.Content{{Type: "text", Text: "mark"}, {Type: "resource", URI: uri, Text: "words"}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var r mcp.ReadResourceResult
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range r.Contents {
			if got = append(got, c.Text); c.URI != uri {
				t.Errorf("%s: %+v", uri, c)
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q", uri, got)
		}
	}
}

// TestValueIsNotRepeated: where a text says the same, in whatever order, or the value has
// a file in it.
func TestValueIsNotRepeated(t *testing.T) {
	data := strings.Repeat("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 20)
	for _, c := range []struct {
		value, text string
		want        bool
	}{
		{`{"a":1,"b":2}`, `{"b": 2, "a": 1}`, true}, {`{"a":1}`, `{"a":2}`, false}, {`{"a":1}`, "a is 1", false}, {`{"data":"` + data + `"}`, "a picture", true}, {`[1]`, " [1]", true},
		{`{"result":6}`, "6", true}, {`{"result":["a"]}`, `["a"]`, true}, {`{"result":"6"}`, "6", true}, {`{"result":6}`, "7", false}, {`{"result":6,"unit":"m"}`, "6", false}, {`{"other":6}`, "6", false}, {`{"result":null}`, "null", false},
	} {
		if got := saysValue(&toolcrib.Result{Value: json.RawMessage(c.value), Content: []toolcrib.Content{{Type: "text", Text: c.text}}}); got != c.want {
			t.Errorf("%.40s beside %s: %v", c.value, c.text, got)
		}
	}
}
