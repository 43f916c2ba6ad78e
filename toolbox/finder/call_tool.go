package finder

import (
	"bytes"
	_ "embed" // the description
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib"
)

//go:embed call_tool.md
var callToolText string

// CallToolName is what models call it.
const CallToolName = "call_tool"

// CallTool is the contract by which a model calls a tool that it found. There
// is no tool behind it: the frontend that shows it makes the real call of it,
// so that the real tool is what is judged, shown and recorded. Its effects are
// undeclared, because they are those of whatever is called.
func CallTool() toolcrib.Entry {
	return toolcrib.Entry{Spec: toolcrib.Spec{
		Name:        CallToolName,
		Title:       "Call a tool",
		Description: strings.TrimSpace(callToolText),
		Group:       "search",
		Input: json.RawMessage(`{"type":"object","properties":{` +
			`"name":{"type":"string","minLength":1,"maxLength":128,"description":"The tool's name, as found."},` +
			`"arguments":{"type":"object","description":"Its arguments, as its input schema wants them."}},` +
			`"required":["name"],"additionalProperties":false}`),
	}}
}

// Unwrap makes the call of another tool of a call of the tool that calls them. Any
// other call stays as it is.
func Unwrap(call *toolcrib.Call) error {
	if call.Tool != CallToolName {
		return nil
	}
	var other struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	dec := json.NewDecoder(bytes.NewReader(call.Input))
	dec.DisallowUnknownFields() // a misspelt key would be a call without arguments
	if dec.Decode(&other) != nil || other.Name == "" {
		return &toolcrib.Error{Code: toolcrib.CodeInvalid, Tool: CallToolName, Message: `it takes {"name": the tool to call, "arguments": {what that tool takes}}`}
	}
	call.Tool, call.Input = other.Name, other.Arguments
	if string(call.Input) == "null" {
		call.Input = nil
	}
	return nil
}
