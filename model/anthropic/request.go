package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/model"
)

type request struct {
	Model       string            `json:"model"`
	MaxTokens   int               `json:"max_tokens"`
	System      []block           `json:"system,omitempty"`
	Messages    []message         `json:"messages"`
	Tools       []json.RawMessage `json:"tools,omitempty"`
	ToolChoice  *choice           `json:"tool_choice,omitempty"`
	Stop        []string          `json:"stop_sequences,omitempty"`
	Temperature *float64          `json:"temperature,omitempty"`
	Stream      bool              `json:"stream,omitempty"`
}

type choice struct {
	Type string `json:"type"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a piece of content. Raw, if set, is all of it.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Source    *source         `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   []block         `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *cache          `json:"cache_control,omitempty"`

	raw json.RawMessage
}

type plainBlock block

// MarshalJSON writes what came from the service as it came.
func (b block) MarshalJSON() ([]byte, error) {
	if b.raw != nil {
		return b.raw, nil
	}
	return json.Marshal(plainBlock(b))
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

type cache struct {
	Type string `json:"type"`
}

// usualOutput is how many tokens an answer may have if nobody said: the API wants a
// number, and most models take this one.
const usualOutput = 8192

func (m *Model) request(r model.Request) request {
	out := request{
		Model: m.client.Model, MaxTokens: r.MaxTokens, Messages: m.messages(r.Messages), Tools: r.Tools,
		Temperature: r.Temperature, Stream: !m.client.NoStream,
	}
	if out.MaxTokens <= 0 {
		out.MaxTokens = m.client.Traits.Output
	}
	if out.MaxTokens <= 0 {
		out.MaxTokens = usualOutput
	}
	if strings.TrimSpace(r.System) != "" {
		out.System = []block{{Type: "text", Text: r.System}}
	}
	if r.NoCalls && len(r.Tools) > 0 {
		out.ToolChoice = &choice{"none"}
	}
	for _, s := range r.Stop {
		if strings.TrimSpace(s) != "" { // others are refused
			out.Stop = append(out.Stop, s)
		}
	}
	if r.Cache {
		out.keep()
	}
	return out
}

// keep marks up to where the service shall keep a request: its tools, the system's text,
// what was new in the request before, and what is new in this one. Four is the most.
func (r *request) keep() {
	mark := &cache{"ephemeral"}
	if n := len(r.Tools); n > 0 {
		r.Tools = append([]json.RawMessage(nil), r.Tools...)
		r.Tools[n-1] = withCache(r.Tools[n-1])
	}
	if n := len(r.System); n > 0 {
		r.System[n-1].Cache = mark
	}
	left := 2
	for i := len(r.Messages) - 1; i >= 0 && left > 0; i-- {
		c := r.Messages[i].Content
		if r.Messages[i].Role == model.User && len(c) > 0 {
			c[len(c)-1].Cache = mark
			left--
		}
	}
}

// withCache adds the mark to the definition of a tool.
func withCache(tool json.RawMessage) json.RawMessage {
	t := bytes.TrimSpace(tool)
	if len(t) < 3 || t[len(t)-1] != '}' || bytes.Contains(t, []byte(`"cache_control"`)) {
		return tool
	}
	out := append([]byte(nil), t[:len(t)-1]...)
	return append(out, `,"cache_control":{"type":"ephemeral"}}`...)
}

// messages puts a conversation into turns of user and assistant: what came of calls is
// said by the user, all of it in one message.
func (m *Model) messages(in []model.Message) []message {
	var out []message
	for _, msg := range in {
		role, content := model.User, []block(nil)
		switch msg.Role {
		case model.Assistant:
			role, content = model.Assistant, m.assistant(msg)
		case model.Tool:
			content = []block{{Type: "tool_result", ToolUseID: msg.CallID, Content: parts(msg), IsError: msg.Failed}}
		default:
			content = parts(msg)
		}
		if len(content) == 0 {
			content = []block{{Type: "text", Text: "(nothing)"}} // the API takes no empty message
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, content...)
			continue
		}
		out = append(out, message{role, content})
	}
	return out
}

// parts gives texts and images. Texts of white space alone are refused by the API.
func parts(msg model.Message) []block {
	var out []block
	for _, p := range msg.Parts {
		switch {
		case p.Thought:
		case len(p.Data) > 0:
			out = append(out, block{Type: "image", Source: &source{"base64", p.MIME, p.Data}})
		case strings.TrimSpace(p.Text) != "":
			out = append(out, block{Type: "text", Text: p.Text})
		}
	}
	return out
}

// assistant gives back what the model said. Own has its blocks in their order: thoughts
// as they came, and marks where texts and calls belong.
func (m *Model) assistant(msg model.Message) []block {
	texts := parts(msg)
	var calls []block
	for _, c := range msg.Calls {
		calls = append(calls, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: object(c.Arguments)})
	}
	var own []json.RawMessage
	if msg.By != m.name() || json.Unmarshal(msg.Own, &own) != nil {
		return append(texts, calls...)
	}
	var out []block
	for _, raw := range own {
		switch string(raw) {
		case markText:
			if len(texts) > 0 {
				out, texts = append(out, texts[0]), texts[1:]
			}
		case markCall:
			if len(calls) > 0 {
				out, calls = append(out, calls[0]), calls[1:]
			}
		default:
			out = append(out, block{raw: raw})
		}
	}
	return append(append(out, texts...), calls...)
}

// The marks in Own.
const (
	markText = `"text"`
	markCall = `"call"`
)

// object is the arguments of a call as the API wants them back: an object, whatever the
// model wrote.
func object(arguments json.RawMessage) json.RawMessage {
	t := bytes.TrimSpace(arguments)
	if len(t) == 0 || t[0] != '{' || !json.Valid(t) {
		return json.RawMessage("{}")
	}
	return t
}
