package dialect

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib"
)

// AgenticX knows files and the shell by names of its own (agenticx_tools.go);
// the other tools keep their native names. What differs for all of them is the
// form: a function declaration as model APIs take it.

type function struct {
	Type     string       `json:"type"`
	Function functionBody `json:"function"`
}

type functionBody struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// functionContract is a tool as AgenticX and OWL show it to models. It keeps the
// whole input schema: AgenticX itself drops $defs and the descriptions of
// parameters, which leaves models guessing.
func functionContract(s toolcrib.Entry) any {
	return function{Type: "function", Function: functionBody{Name: s.Name, Description: s.Description, Parameters: s.Input}}
}

func agenticxError(e *toolcrib.Error) string {
	switch e.Code {
	case toolcrib.CodeInvalid:
		return "Parameter validation failed: " + e.Message
	case toolcrib.CodeNotFound:
		return "unknown tool '" + e.Tool + "': " + e.Message
	}
	return "Tool " + e.Tool + " execution failed: " + e.Message
}
