package ovosbox

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Message is one message of a bus. Its bytes may be shared: they are only read.
type Message struct {
	Type    string
	Data    json.RawMessage // an object
	Context map[string]json.RawMessage
}

// Bus is what the box needs of a message bus. Requests carry a private key in
// their context that hosts echo, and only answers with that key are given back:
// the bus has no other way to tell whose answer is whose.
type Bus interface {
	// Ask sends a request, once, and gives the first answer to it that fits. An
	// answer is of the request's type with ".response" after it.
	Ask(ctx context.Context, request Message, fits func(Message) bool) (Message, error)
	// Collect sends a request and gives every answer of a span of time. With an
	// error it gives what it has.
	Collect(ctx context.Context, request Message, window time.Duration) ([]Message, error)
	// Listen hands over every message of these types, one after another, until
	// stop is called; hear returns at once.
	Listen(types []string, hear func(Message)) (stop func())
}

// ErrAway is in the chain of an error of a [Bus] that says that there is no
// bus now and that nothing was sent.
var ErrAway = errors.New("the bus is not there")

// The topics, see the reference of the voice assistant. The call of a single
// toolbox has its id in the topic in the shipped generations, and in the data
// in the coming one.
const (
	topicDiscover = "ovos.persona.tools.discover"
	topicCall     = "ovos.persona.tools.call"
	topicPrefix   = "ovos.persona.tools."
	topicSuffix   = ".call"
	topicReload   = "ovos.tools.reload"
	topicGet      = "ovos.tools.get"
	topicJoined   = "ovos.session.sync" // what clients said as they joined, up to a version of 2026
	answerSuffix  = ".response"
)
