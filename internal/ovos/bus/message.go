package bus

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
)

// CorrelationKey is the context key by which a client knows the answers to its
// own requests. Every host in the field echoes context keys it does not know.
const CorrelationKey = "toolcrib_request"

// A Message is one frame of the bus. Messages may be shared: treat the bytes
// in them as read-only.
type Message struct {
	Type string
	// Data is a JSON object; empty means {}.
	Data json.RawMessage
	// Context holds the routing keys source and destination, the session, and
	// whatever else senders put there.
	Context map[string]json.RawMessage
}

// NewMessage makes a message whose data is the JSON of a value, which has to be
// an object; nil gives {}.
func NewMessage(typ string, data any) (Message, error) {
	raw, err := Object(data)
	if err != nil {
		return Message{}, fmt.Errorf("making a message %s: %w", text.ShowLine(typ), err)
	}
	return Message{Type: typ, Data: raw}, nil
}

// Object is the JSON of a value as the data of a message: an object without
// anything that poisons a frame.
func Object(value any) (json.RawMessage, error) {
	if value == nil {
		return json.RawMessage("{}"), nil
	}
	raw, err := jsontext.Marshal(value)
	if err != nil {
		return nil, err
	}
	if err := checkValue(raw, 1, true); err != nil {
		return nil, err
	}
	return raw, nil
}

// Reply is a message back to the sender. A replier with an id of its own
// (from) becomes the source, and the old source the destination, or nobody if
// there was none. Without an id, source and destination are swapped if both
// are known, and left alone if not, as the clients in the field do it. All
// other keys of the context are echoed.
func (m Message) Reply(from, typ string, data json.RawMessage) Message {
	context := echo(m.Context)
	source, destination := contextValue(context, "source"), contextValue(context, "destination")
	switch {
	case from != "":
		context["source"] = jsontext.Quote(from)
		delete(context, "destination")
		if source != nil {
			context["destination"] = source
		}
	case source != nil && destination != nil:
		context["source"], context["destination"] = destination, source
	}
	return Message{Type: typ, Data: data, Context: context}
}

// Forward is a message about the same matter: another type and data in the same
// context.
func (m Message) Forward(typ string, data json.RawMessage) Message {
	return Message{Type: typ, Data: data, Context: echo(m.Context)}
}

// Response is the reply that requests wait for: its type is the request's with
// ".response" after it.
func (m Message) Response(from string, data json.RawMessage) Message {
	return m.Reply(from, m.Type+".response", data)
}

// Text is a context value that is a string, and "" for everything else.
func (m Message) Text(key string) string { return stringOf(m.Context[key]) }

func stringOf(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return ""
	}
	return s
}

// With is the message with one more context key.
func (m Message) With(key string, value json.RawMessage) Message {
	context := make(map[string]json.RawMessage, len(m.Context)+1)
	maps.Copy(context, m.Context)
	context[key] = value
	m.Context = context
	return m
}

// echo copies a context for a message of ours. Values that may be read from the
// bus but not written to it (integers beyond 64 bits) are left out: the answer
// matters more. The session is made sound.
func echo(context map[string]json.RawMessage) map[string]json.RawMessage {
	copied := make(map[string]json.RawMessage, len(context)+1)
	for key, raw := range context {
		if checkValue(raw, 2, false) == nil {
			copied[key] = raw
		}
	}
	copied["session"] = soundSession(copied["session"])
	return copied
}

// contextValue is a context value that is there and not null.
func contextValue(context map[string]json.RawMessage, key string) json.RawMessage {
	if raw := context[key]; len(raw) > 0 && string(raw) != "null" {
		return raw
	}
	return nil
}
