// Package model is how programs talk to large language models: one port, and a
// conversation in words that every API of theirs can be told in.
//
// It knows no tool of ours. Tools in a [Request] are written in the form of the API
// already ([Traits.Format], see package definition), and what a model calls comes back
// as it was said; whoever asks makes calls of it. The adapters lie below: openai,
// anthropic and gemini. Package agent imports it, and programs that talk to a model
// themselves.
//
// The invariant: an answer is whole. A stream that was cut off is an error, never a
// short answer.
package model

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Model answers conversations. It may be asked from several goroutines.
type Model interface {
	// Ask sends a conversation and gives the whole answer. What arrives of it is told
	// to emit meanwhile, in order; nil: nobody listens. An error is an [*Error] where
	// the service said what is wrong, or that of ctx.
	Ask(ctx context.Context, r Request, emit func(Delta)) (*Answer, error)
	Traits() Traits
}

// Traits says what a model can do. The zero value can do the least.
type Traits struct {
	Name    string // what the service calls it
	Format  string // how it is told of tools: openai, anthropic or gemini
	Tools   bool   // it calls tools by itself; without, it is asked in text (ReAct)
	Images  bool   // it takes images
	Context int    // how many tokens a request may have; 0: not known
	Output  int    // how many tokens an answer may have; 0: not known
}

// Request is a conversation to be continued.
type Request struct {
	System   string
	Messages []Message
	Tools    []json.RawMessage // definitions in the form of Traits.Format
	// NoCalls forbids calls though Tools are shown: the final answer is wanted.
	NoCalls   bool
	MaxTokens int      // of the answer; 0: the adapter's own
	Stop      []string // texts that end the answer
	// Temperature, if set, is how freely it chooses.
	Temperature *float64
	// Cache says that what comes before the last message will be sent again, so that
	// it pays to have the service keep it.
	Cache bool
}

// The roles of messages. What the system says is Request.System.
const (
	User      = "user"
	Assistant = "assistant"
	Tool      = "tool" // what came of a call
)

// Message is one turn of a conversation.
type Message struct {
	Role  string     `json:"role"`
	Parts []Part     `json:"parts,omitempty"`
	Calls []ToolCall `json:"calls,omitempty"` // of an Assistant
	// CallID and Name say which call a Tool message is about, Failed that it went wrong.
	CallID string `json:"call_id,omitempty"`
	Name   string `json:"name,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	// Own is what the service wants to get back as it was, such as signed thoughts.
	// Only the adapter that wrote it reads it, and only if By is its own name.
	Own json.RawMessage `json:"own,omitempty"`
	By  string          `json:"by,omitempty"`
}

// Part is one piece of a message: a text or an image.
type Part struct {
	Text string `json:"text,omitempty"`
	Data []byte `json:"data,omitempty"` // an image, with MIME
	MIME string `json:"mime,omitempty"`
	// Thought is set on what the model thought aloud: it is shown to nobody as an answer.
	Thought bool `json:"thought,omitempty"`
}

// ToolCall is a call as a model made it: under the name it was shown, and with
// arguments that nobody has checked. They may be no JSON at all.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Delta is a piece of an answer that has just arrived.
type Delta struct {
	Text    string
	Thought string
	Call    string // the name of a call whose arguments begin to arrive
}

// Answer is a whole answer.
type Answer struct {
	Message Message
	Stop    string // StopEnd, StopCalls, StopLength or StopRefused
	Usage   Usage
	Model   string // which one answered, as the service says
}

// Why an answer ended.
const (
	StopEnd     = "end"
	StopCalls   = "calls"
	StopLength  = "length"  // it was cut off at the limit of tokens
	StopRefused = "refused" // the service would not answer
)

// Usage is what a request cost in tokens. Input counts all that was read, what came
// from a cache or went into it too; Output all that was written, thoughts too.
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_tokens,omitempty"`
	CacheWrite int `json:"cache_write_tokens,omitempty"`
}

// Add gives the sum.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite}
}

// Error is what a service said instead of an answer. Message is fit to be shown: it has
// no key in it.
type Error struct {
	Kind    string // one of the kinds below
	Status  int    // of HTTP; 0: there was no answer at all
	Message string
	Wait    time.Duration // how long the service wants one to wait; 0: it did not say
	Err     error
}

// Kinds of errors: what can be done about them.
const (
	BadKey     = "key"         // the key is missing or refused
	BadRequest = "request"     // the service does not take this request
	TooLong    = "too_long"    // the conversation does not fit into the context
	Busy       = "busy"        // too many requests, or overloaded: later it may work
	Broken     = "broken"      // the service failed, or the stream was cut off
	Away       = "unavailable" // nobody listens there
)

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("the model's service answered %d: %s", e.Status, e.Message)
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Text is a message of text.
func Text(role, text string) Message {
	return Message{Role: role, Parts: []Part{{Text: text}}}
}

// Said gives the text of a message without its thoughts.
func (m Message) Said() string {
	var out []byte
	for _, p := range m.Parts {
		if !p.Thought {
			out = append(out, p.Text...)
		}
	}
	return string(out)
}
