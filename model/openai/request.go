package openai

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib/model"
)

type request struct {
	Model               string            `json:"model"`
	Messages            []message         `json:"messages"`
	Tools               []json.RawMessage `json:"tools,omitempty"`
	ToolChoice          string            `json:"tool_choice,omitempty"`
	MaxTokens           int               `json:"max_tokens,omitempty"`
	MaxCompletionTokens int               `json:"max_completion_tokens,omitempty"`
	Stop                []string          `json:"stop,omitempty"`
	Temperature         *float64          `json:"temperature,omitempty"`
	PromptCacheKey      string            `json:"prompt_cache_key,omitempty"`
	Stream              bool              `json:"stream,omitempty"`
	StreamOptions       *streamOptions    `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role             string          `json:"role"`
	Content          any             `json:"content"` // a string, a list of parts, or null
	ToolCalls        []toolCall      `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// The parts of a request that a service may do without.
const (
	withoutStreamOptions uint32 = 1 << iota
	withoutMaxTokens            // it wants max_completion_tokens
	withoutTemperature
	withoutStop
	withoutChoice
	withoutThoughts
)

// refusedPart says which part a service did not take, if that is what is wrong.
func refusedPart(err error) uint32 {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != model.BadRequest || e.Status == 0 {
		return 0
	}
	for _, p := range []struct {
		word string
		bit  uint32
	}{
		{"stream_options", withoutStreamOptions},
		{"max_tokens", withoutMaxTokens},
		{"temperature", withoutTemperature},
		{"'stop'", withoutStop},
		{"tool_choice", withoutChoice},
		{"reasoning_content", withoutThoughts},
		{"reasoning_details", withoutThoughts},
	} {
		if strings.Contains(e.Message, p.word) {
			return p.bit
		}
	}
	return 0
}

func (m *Model) request(r model.Request, without uint32) request {
	out := request{
		Model: m.client.Model, Messages: m.messages(r, without), Tools: r.Tools,
		Stop: r.Stop, Temperature: r.Temperature, Stream: !m.client.NoStream,
	}
	switch tokens := r.MaxTokens; {
	case tokens > 0 && (m.own || without&withoutMaxTokens != 0):
		out.MaxCompletionTokens = tokens
	case tokens > 0:
		out.MaxTokens = tokens
	}
	if r.NoCalls && len(r.Tools) > 0 && without&withoutChoice == 0 {
		out.ToolChoice = "none"
	}
	if out.Stream && without&withoutStreamOptions == 0 {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if without&withoutTemperature != 0 {
		out.Temperature = nil
	}
	if without&withoutStop != 0 {
		out.Stop = nil
	}
	if r.Cache && m.own {
		out.PromptCacheKey = cacheKey(r)
	}
	return out
}

// cacheKey is the same for all requests of a conversation, so that they come to where
// its beginning is kept.
func cacheKey(r model.Request) string {
	h := sha256.New()
	h.Write([]byte(r.System))
	for _, t := range r.Tools {
		h.Write(t)
	}
	if len(r.Messages) > 0 {
		h.Write([]byte(r.Messages[0].Said()))
	}
	return "toolcrib-" + hex.EncodeToString(h.Sum(nil)[:16])
}

func (m *Model) messages(r model.Request, without uint32) []message {
	var out []message
	if r.System != "" {
		out = append(out, message{Role: "system", Content: r.System})
	}
	// Thoughts belong to the turn that is still going on: those before the last words of
	// the user are of no use, and some services refuse them.
	current := 0
	for i, msg := range r.Messages {
		if msg.Role == model.User {
			current = i
		}
	}
	var images []part // of results: a tool message takes none
	for i, msg := range r.Messages {
		if msg.Role != model.Tool && len(images) > 0 {
			out, images = append(out, message{Role: model.User, Content: images}), nil
		}
		switch msg.Role {
		case model.Tool:
			out = append(out, message{Role: "tool", Content: msg.Said(), ToolCallID: msg.CallID})
			if found := pictures(msg); len(found) > 0 {
				images = append(images, part{Type: "text", Text: "What the call " + msg.CallID + " of " + msg.Name + " showed:"})
				images = append(images, found...)
			}
		case model.Assistant:
			out = append(out, m.assistant(msg, i > current && without&withoutThoughts == 0))
		default:
			out = append(out, message{Role: model.User, Content: content(msg)})
		}
	}
	if len(images) > 0 {
		out = append(out, message{Role: model.User, Content: images})
	}
	return out
}

func (m *Model) assistant(msg model.Message, current bool) message {
	out := message{Role: model.Assistant}
	if said := msg.Said(); said != "" || len(msg.Calls) == 0 {
		out.Content = said
	}
	for _, c := range msg.Calls {
		arguments := string(c.Arguments)
		if !json.Valid(c.Arguments) {
			arguments = "{}" // some services read them, and would refuse the conversation for ever
		}
		out.ToolCalls = append(out.ToolCalls, toolCall{ID: c.ID, Type: "function", Function: function{Name: c.Name, Arguments: arguments}})
	}
	if current && msg.By == m.name() && len(msg.Own) > 0 {
		var own thoughts
		if json.Unmarshal(msg.Own, &own) == nil {
			out.ReasoningContent, out.ReasoningDetails = own.Content, own.Details
		}
	}
	return out
}

// content is a text, or a list if there are images.
func content(msg model.Message) any {
	images := pictures(msg)
	if len(images) == 0 {
		return msg.Said()
	}
	var out []part
	for _, p := range msg.Parts {
		switch {
		case p.Thought:
		case len(p.Data) > 0:
			out = append(out, images[0])
			images = images[1:]
		case p.Text != "":
			out = append(out, part{Type: "text", Text: p.Text})
		}
	}
	return out
}

// pictures gives the images of a message.
func pictures(msg model.Message) []part {
	var out []part
	for _, p := range msg.Parts {
		if len(p.Data) > 0 {
			out = append(out, part{Type: "image_url", ImageURL: &imageURL{URL: "data:" + p.MIME + ";base64," + base64.StdEncoding.EncodeToString(p.Data)}})
		}
	}
	return out
}
