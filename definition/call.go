package definition

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib"
)

// modelCall is a call in the words of any of the APIs; each uses some of them.
type modelCall struct {
	Type      string          `json:"type"`
	Name      string          `json:"name"`
	Function  *modelCall      `json:"function"`     // chat completions
	Nested    *modelCall      `json:"functionCall"` // a part of Gemini's content
	Snake     *modelCall      `json:"function_call"`
	Arguments json.RawMessage `json:"arguments"` // OpenAI: JSON text in a string; MCP: an object
	Input     json.RawMessage `json:"input"`     // Anthropic
	Args      json.RawMessage `json:"args"`      // Gemini
}

// Call makes a call of what a model's API gives: an entry of tool_calls (OpenAI chat completions), an item of type
// function_call (OpenAI responses), a block of type tool_use (Anthropic), a part with a functionCall or that alone
// (Gemini), or the params of tools/call (MCP). Tool and Input are filled in, and nothing else: the caller is for whoever
// authenticated it to say, and an ID of the API is not one of ours, because services give the same one twice.
func (s Set) Call(item json.RawMessage) (toolcrib.Call, error) {
	var c modelCall
	if err := json.Unmarshal(item, &c); err != nil {
		return toolcrib.Call{}, fmt.Errorf("reading the model's call: %w", err)
	}
	for _, inner := range []*modelCall{c.Function, c.Nested, c.Snake} {
		if inner != nil && c.Name == "" {
			c = *inner
			break
		}
	}
	if c.Name == "" {
		return toolcrib.Call{}, errors.New("the model's call names no tool")
	}
	args := c.Arguments
	for _, other := range []json.RawMessage{c.Input, c.Args} {
		if args == nil {
			args = other
		}
	}
	return s.CallNamed(c.Name, args)
}

// CallNamed makes a call of a shown name and the arguments that a model gave for it: an object, or JSON text of one in a
// string, as OpenAI has it.
func (s Set) CallNamed(shown string, args json.RawMessage) (toolcrib.Call, error) {
	name, ok := s.Names[shown]
	if !ok {
		return toolcrib.Call{}, &toolcrib.Error{Code: toolcrib.CodeNotFound, Tool: shown, Message: "no tool is shown by this name in these definitions"}
	}
	var packed string
	if json.Unmarshal(args, &packed) == nil {
		args = json.RawMessage(packed)
	}
	input, err := s.Restore(shown, args)
	if err != nil {
		return toolcrib.Call{}, &toolcrib.Error{Code: toolcrib.CodeInvalid, Tool: name, Message: err.Error(), Err: err}
	}
	return toolcrib.Call{Tool: name, Input: input}, nil
}
