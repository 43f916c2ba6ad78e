package openai

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/wire"
)

// chunk is an answer, or a piece of one: message and delta have the same form.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Delta        *said  `json:"delta"`
		Message      *said  `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type said struct {
	Content          json.RawMessage `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        string          `json:"reasoning"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	ToolCalls        []calling       `json:"tool_calls"`
}

type calling struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached     int `json:"cached_tokens"`
		CacheWrite int `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	CacheHit int `json:"prompt_cache_hit_tokens"` // DeepSeek
}

// thoughts is what of an answer goes back as it was.
type thoughts struct {
	Content string          `json:"reasoning_content,omitempty"`
	Details json.RawMessage `json:"reasoning_details,omitempty"`
}

// collector puts an answer together.
type collector struct {
	emit    func(model.Delta)
	by      string
	text    strings.Builder
	thought strings.Builder
	// own is set if the thoughts were called reasoning_content: only those go back.
	own     bool
	details []json.RawMessage
	calls   []*pending
	finish  string
	refused bool
	model   string
	usage   model.Usage
}

type pending struct {
	index     int
	id, name  string
	arguments []byte
}

func (c *collector) read(r *wire.Reply) error {
	if !r.Stream {
		var raw json.RawMessage
		if err := r.Whole(&raw); err != nil {
			return err
		}
		if c.emit == nil {
			c.emit = func(model.Delta) {}
		}
		if err := c.take(wire.Event{Data: raw}); err != nil {
			return err
		}
		if c.finish == "" && c.text.Len() == 0 && len(c.calls) == 0 {
			if f, ok := wire.ReadFault(raw); ok {
				return wire.Late(f)
			}
			return wire.Cut(errors.New("the answer is empty and has no end"))
		}
		return nil
	}
	done, err := r.Each(func(e wire.Event) (bool, error) {
		if bytes.Equal(bytes.TrimSpace(e.Data), []byte("[DONE]")) {
			return true, nil
		}
		return false, c.take(e)
	})
	if err != nil {
		return err
	}
	if !done && c.finish == "" {
		return wire.Cut(errors.New("the stream ended before the answer did"))
	}
	return nil
}

// take reads one chunk.
func (c *collector) take(e wire.Event) error {
	var in chunk
	if err := wire.Decode(e, &in); err != nil {
		return err
	}
	if e.Name == "error" || len(in.Error) > 0 && string(in.Error) != "null" {
		f, _ := wire.ReadFault(e.Data)
		return wire.Late(f)
	}
	if in.Model != "" {
		c.model = in.Model
	}
	if u := in.Usage; u != nil {
		c.usage = model.Usage{Input: u.Prompt, Output: u.Completion, CacheRead: max(u.Details.Cached, u.CacheHit), CacheWrite: u.Details.CacheWrite}
	}
	if len(in.Choices) == 0 {
		return nil
	}
	choice := in.Choices[0]
	if choice.FinishReason != "" {
		c.finish = choice.FinishReason
	}
	s := choice.Delta
	if s == nil {
		s = choice.Message
	}
	if s == nil {
		return nil
	}
	c.think(s)
	text, thought := contentOf(s.Content)
	if thought != "" {
		c.thought.WriteString(thought)
		c.emit(model.Delta{Thought: thought})
	}
	if s.Refusal != "" {
		c.refused = true
		text += s.Refusal
	}
	if text != "" {
		c.text.WriteString(text)
		c.emit(model.Delta{Text: text})
	}
	for _, t := range s.ToolCalls {
		if err := c.call(t); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) think(s *said) {
	thought := s.ReasoningContent
	if thought == "" {
		thought = s.Reasoning
	} else {
		c.own = true
	}
	if thought != "" {
		c.thought.WriteString(thought)
		c.emit(model.Delta{Thought: thought})
	}
	var details []json.RawMessage
	if json.Unmarshal(s.ReasoningDetails, &details) == nil {
		c.details = append(c.details, details...)
	}
}

// contentOf reads a text, or a list of texts and thoughts.
func contentOf(raw json.RawMessage) (text, thought string) {
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &text) == nil {
		return text, ""
	}
	var parts []struct {
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", ""
	}
	for _, p := range parts {
		text += p.Text
		if len(p.Thinking) > 0 {
			inner, _ := contentOf(p.Thinking)
			thought += inner
		}
	}
	return text, thought
}

// call adds a piece of a call. Pieces belong together by their index. Where there is
// none, or where all have the same, a new id or a new name begins a call.
func (c *collector) call(t calling) error {
	var at *pending
	if n := len(c.calls); n > 0 {
		at = c.calls[n-1]
	}
	if t.Index != nil {
		at = nil
		for _, p := range c.calls {
			if p.index == *t.Index {
				at = p // the last with this index
			}
		}
	}
	name := t.Function.Name
	begins := at == nil || t.ID != "" && at.id != "" && t.ID != at.id || name != "" && at.name != "" && (t.Index == nil && t.ID == "")
	if begins {
		if len(c.calls) >= wire.MaxCalls {
			return &model.Error{Kind: model.Broken, Message: "the model made more than 256 calls in one answer"}
		}
		at = &pending{index: len(c.calls)}
		if t.Index != nil {
			at.index = *t.Index
		}
		c.calls = append(c.calls, at)
	}
	if at.id == "" {
		at.id = t.ID
	}
	if name != "" && at.name == "" {
		at.name = name
		c.emit(model.Delta{Call: name})
	}
	raw := t.Function.Arguments
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
	case json.Unmarshal(raw, &text) == nil:
		at.arguments = append(at.arguments, text...)
	default:
		at.arguments = append(at.arguments, raw...)
	}
	return nil
}

// answer gives what was collected.
func (c *collector) answer() (*model.Answer, error) {
	m := model.Message{Role: model.Assistant}
	if c.thought.Len() > 0 {
		m.Parts = append(m.Parts, model.Part{Text: c.thought.String(), Thought: true})
	}
	if c.text.Len() > 0 {
		m.Parts = append(m.Parts, model.Part{Text: c.text.String()})
	}
	for _, p := range c.calls {
		if p.id == "" {
			p.id = "call_" + rand.Text()
		}
		if len(bytes.TrimSpace(p.arguments)) == 0 {
			p.arguments = []byte("{}")
		}
		m.Calls = append(m.Calls, model.ToolCall{ID: p.id, Name: p.name, Arguments: p.arguments})
	}
	own := thoughts{}
	if c.own {
		own.Content = c.thought.String()
	}
	if len(c.details) > 0 {
		own.Details, _ = json.Marshal(c.details) // it was JSON when it came
	}
	if own.Content != "" || own.Details != nil {
		m.Own, _ = json.Marshal(own)
		m.By = c.by
	}
	out := &model.Answer{Message: m, Usage: c.usage, Model: c.model, Stop: model.StopEnd}
	switch {
	case c.finish == "length":
		out.Stop = model.StopLength
	case c.finish == "content_filter" || c.refused:
		out.Stop = model.StopRefused
	case c.finish == "error":
		return nil, &model.Error{Kind: model.Broken, Message: "the model's service broke the answer off"}
	case len(m.Calls) > 0:
		out.Stop = model.StopCalls
	}
	return out, nil
}
