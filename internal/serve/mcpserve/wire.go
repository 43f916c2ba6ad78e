package mcpserve

import (
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
)

// callIDKey is the _meta key under which a client that may repeat a call
// names it; see toolcrib.Call.ID.
const callIDKey = "toolcrib/callId"

// contract shows a Spec as an MCP tool. The annotations are derived from the
// declared effects, so that they can never promise more than guards go by.
func contract(s toolcrib.Spec) *mcp.Tool {
	effects := s.Effects.All()
	// To MCP only what adds and never replaces is not destructive.
	destroys := effects&(toolcrib.Writes|toolcrib.Destroys|toolcrib.Runs) != 0
	open := effects&(toolcrib.Network|toolcrib.Runs) != 0
	t := &mcp.Tool{
		Name: s.Name, Title: s.Title, Description: s.Description, InputSchema: inputSchema(s.Input),
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: s.Effects.ReadOnly(), IdempotentHint: s.Idempotent || s.Effects.ReadOnly(),
			DestructiveHint: &destroys, OpenWorldHint: &open,
		},
	}
	if s.Output != nil {
		t.OutputSchema = s.Output
	}
	return t
}

// inputSchema gives the schema as it is, with the word MCP insists on: the
// arguments are an object, whether or not the contract says so.
func inputSchema(text json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(text, &m) != nil || m == nil { // true, or nothing at all
		return json.RawMessage(`{"type":"object"}`)
	}
	if string(m["type"]) == `"object"` {
		return text
	}
	m["type"] = json.RawMessage(`"object"`)
	out, err := json.Marshal(m)
	if err != nil { // it was JSON a moment ago
		return json.RawMessage(`{"type":"object"}`)
	}
	return out
}

// answer gives a Result to a client: its contents, and its value both as
// structured content and, for clients that only read text, as JSON text.
func answer(r *toolcrib.Result) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: r.Failed, Content: []mcp.Content{}}
	for _, c := range r.Content {
		out.Content = append(out.Content, content(c))
	}
	if r.Value != nil {
		if r.Value[0] == '{' { // only objects go by this name
			out.StructuredContent = r.Value
		}
		if len(out.Content) == 0 {
			out.Content = append(out.Content, &mcp.TextContent{Text: string(r.Value)})
		}
	}
	return out
}

func content(c toolcrib.Content) mcp.Content {
	switch c.Type {
	case "image":
		return &mcp.ImageContent{Data: c.Data, MIMEType: c.MIME}
	case "audio":
		return &mcp.AudioContent{Data: c.Data, MIMEType: c.MIME}
	case "link":
		return &mcp.ResourceLink{URI: c.URI, Name: c.Name, MIMEType: c.MIME}
	case "resource":
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: c.URI, MIMEType: c.MIME, Text: c.Text, Blob: c.Data}}
	}
	return &mcp.TextContent{Text: c.Text}
}

// refusal gives a refused call to a client as a failed result, since only
// that reaches the model; the code and the bad fields are there for programs.
func refusal(err error) *mcp.CallToolResult {
	e, ok := errors.AsType[*toolcrib.Error](err)
	if !ok {
		e = &toolcrib.Error{Code: toolcrib.Internal, Message: "the call broke down"}
	}
	out := &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(e.Code) + ": " + e.Message}}}
	out.Meta = mcp.Meta{"toolcrib/code": string(e.Code)}
	if len(e.Bad) > 0 {
		if bad, err := json.Marshal(e.Bad); err == nil {
			out.Meta["toolcrib/bad"] = json.RawMessage(bad)
		}
	}
	return out
}
