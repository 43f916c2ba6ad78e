package finder

import (
	_ "embed" // the description
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib"
)

//go:embed call_tool.md
var callToolText string

const callToolName = "call_tool"

// CallTool is the contract by which a model calls a tool that it found. There
// is no tool behind it: the frontend that shows it makes the real call of it,
// so that the real tool is what is judged, shown and recorded. Its effects are
// undeclared, because they are those of whatever is called.
func CallTool() toolcrib.Entry {
	return toolcrib.Entry{Spec: toolcrib.Spec{
		Name:        callToolName,
		Title:       "Call a tool",
		Description: strings.TrimSpace(callToolText),
		Group:       "search",
		Input: json.RawMessage(`{"type":"object","properties":{` +
			`"name":{"type":"string","minLength":1,"maxLength":128,"description":"The tool's name, as found."},` +
			`"arguments":{"type":"object","description":"Its arguments, as its input schema wants them."}},` +
			`"required":["name"],"additionalProperties":false}`),
	}}
}
