package mcphub

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
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
func (b *Box) Instructions() (text string, held bool) {
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
