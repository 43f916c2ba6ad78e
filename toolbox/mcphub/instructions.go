package mcphub

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
)

// A server may tell a model how its tools are meant. That reaches the model like
// the description of a tool, and is pinned like one: as a definition of its own,
// by a name that no tool has.

// InstructionsName is what the instructions of a server are called where its
// definitions are: in hub show, and in hub approve.
const InstructionsName = "@instructions"

// instructionsDefinition puts instructions into the form of a definition; nil:
// there are none.
func instructionsDefinition(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return append(jsontext.AppendString([]byte(`{"name":"`+InstructionsName+`","instructions":`), text), '}')
}

// readInstructions gives the instructions of a manifest as a definition.
func (m *manifest) readInstructions() (definition, bool) {
	if m.Instructions == nil {
		return definition{}, false
	}
	d, err := define(m.Instructions)
	d.sum = m.InstructionsSum
	return d, err == nil && d.Name == InstructionsName
}

// Instructions are what the server tells models, as they were approved and fit to
// be read; empty: nothing. Held says that others wait for a person.
func (b *Box) Instructions() (said string, held bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.held {
		held = held || h.Tool == InstructionsName
	}
	safe, ok := b.neutral(b.instructions)
	if !ok {
		return "", held
	}
	return strings.TrimSpace(visible(textMember(safe, "instructions"))), held
}

// Instructions of servers cost room in every conversation.
const (
	instructionsOne = 1500 // characters of one server
	instructionsAll = 6000
)

// Instructions are what the servers of some boxes tell models, as it was approved.
// Each stands under its server's name, and further in than words of ours, so that none
// is taken for another's. No hub tells nothing.
func (h *Hub) Instructions(boxes map[string]bool) string {
	if h == nil {
		return ""
	}
	var b strings.Builder
	left := instructionsAll
	for _, box := range h.Boxes() {
		if !boxes[box.Name()] {
			continue
		}
		said, held := box.Instructions()
		if held {
			fmt.Fprintf(&b, "\n\nThe MCP server %s has new instructions. They are not shown before a person has approved them: toolcrib hub approve %s", box.Name(), box.Name())
		}
		if said == "" {
			continue
		}
		if left == 0 {
			fmt.Fprintf(&b, "\n\nThe MCP server %s has instructions too, for which there is no room: toolcrib hub show %s", box.Name(), box.Name())
			continue
		}
		shown := text.ClipSentence(said, min(left, instructionsOne))
		left = max(0, left-len([]rune(shown)))
		fmt.Fprintf(&b, "\n\nThe MCP server %s says about its tools:\n  %s", box.Name(), strings.ReplaceAll(shown, "\n", "\n  "))
	}
	return b.String()
}
