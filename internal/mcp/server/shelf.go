package server

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib"
)

// Shelf is what there is besides tools. Everything on it is read by a call of a
// tool, so that reading is judged and recorded like any other.
type Shelf interface {
	Resources(ctx context.Context, c toolcrib.Caller) ([]Item, error)
	Templates(ctx context.Context, c toolcrib.Caller) ([]Item, error)
	Prompts(ctx context.Context, c toolcrib.Caller) ([]Item, error)
	// Reading finds the call that reads a resource, gets a prompt, completes an
	// argument or subscribes: method is the MCP method, params the client's. ok
	// false: there is no such thing.
	Reading(ctx context.Context, c toolcrib.Caller, method string, params json.RawMessage) (tool string, input json.RawMessage, ok bool, err error)
	// Watch tells of changes (method and params of the notification) until stop.
	// Hears says which callers may hear of one; nil: all of them.
	Watch(changed func(method string, params json.RawMessage, hears func(toolcrib.Caller) bool)) (stop func())
}

// Item is one thing on the shelf.
type Item struct {
	Definition json.RawMessage // as MCP shows it
	Name       string          // lists are in this order
}

// Search is a short list that stands for all tools: some that find the others,
// and one that calls them.
type Search struct {
	Specs []toolcrib.Entry
	// CallTool is shown like a tool. A call of it, with the name and the arguments
	// of another, becomes the call of that other before it reaches the crib.
	CallTool toolcrib.Entry
	// Unwrap makes that call of one of CallTool. Its error is told to the client.
	Unwrap func(*toolcrib.Call) error
}
