package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/wire"
)

// event is any event of a stream.
type event struct {
	Type    string   `json:"type"`
	Message *whole   `json:"message"`
	Index   int      `json:"index"`
	Block   *content `json:"content_block"`
	Delta   struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		Partial    string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage *usage `json:"usage"`
}

// whole is an answer that is no stream, and the beginning of one that is.
type whole struct {
	Type       string    `json:"type"`
	Model      string    `json:"model"`
	Content    []content `json:"content"`
	StopReason string    `json:"stop_reason"`
	Usage      *usage    `json:"usage"`
}

type content struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`

	index   int
	partial []byte
}

// usage has pointers, because the end of a stream tells again what it knows, and
// nothing of what it does not.
type usage struct {
	Input      *int `json:"input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	Output     *int `json:"output_tokens"`
}

// collector puts an answer together.
type collector struct {
	emit   func(model.Delta)
	by     string
	blocks []*content
	stop   string
	model  string
	plain  int // tokens of input that have nothing to do with the cache
	usage  model.Usage
}

func (c *collector) read(r *wire.Reply) error {
	if !r.Stream {
		return c.readWhole(r)
	}
	ended, err := r.Each(c.take)
	if err != nil {
		return err
	}
	if !ended && c.stop == "" {
		return wire.Cut(errors.New("the stream ended before the answer did"))
	}
	return nil
}

func (c *collector) readWhole(r *wire.Reply) error {
	var raw json.RawMessage
	if err := r.Whole(&raw); err != nil {
		return err
	}
	var in whole
	if err := wire.Decode(wire.Event{Data: raw}, &in); err != nil {
		return err
	}
	if in.Type == "error" || in.StopReason == "" {
		if f, ok := wire.ReadFault(raw); ok {
			return wire.Late(f)
		}
		return wire.Cut(errors.New("the answer has no end"))
	}
	if len(in.Content) > maxBlocks {
		return errMany()
	}
	c.stop, c.model = in.StopReason, in.Model
	c.count(in.Usage)
	for i := range in.Content {
		b := &in.Content[i]
		c.blocks = append(c.blocks, b)
		c.emit(model.Delta{Text: b.Text, Thought: b.Thinking, Call: b.Name})
	}
	return nil
}

// maxBlocks bounds how many pieces an answer may have.
const maxBlocks = 4 * wire.MaxCalls

func errMany() error {
	return &model.Error{Kind: model.Broken, Message: "the answer of the model's service has too many pieces"}
}

// take reads one event, and reports whether it is the last.
func (c *collector) take(e wire.Event) (bool, error) {
	var in event
	if err := wire.Decode(e, &in); err != nil {
		return false, err
	}
	switch in.Type {
	case "error":
		f, _ := wire.ReadFault(e.Data)
		return false, wire.Late(f)
	case "message_start":
		if in.Message != nil {
			c.model = in.Message.Model
			c.count(in.Message.Usage)
		}
	case "content_block_start":
		if in.Block == nil {
			break
		}
		if len(c.blocks) >= maxBlocks {
			return false, errMany()
		}
		b := in.Block
		b.index = in.Index
		c.blocks = append(c.blocks, b)
		c.emit(model.Delta{Text: b.Text, Thought: b.Thinking, Call: b.Name})
	case "content_block_delta":
		c.add(in)
	case "message_delta":
		c.count(in.Usage)
		if in.Delta.StopReason != "" {
			c.stop = in.Delta.StopReason
		}
	case "message_stop":
		if c.stop == "" {
			return false, wire.Cut(errors.New("the answer has no reason for its end"))
		}
		return true, nil
	}
	return false, nil // pings, and what is new
}

// add puts a piece to its block.
func (c *collector) add(in event) {
	for _, b := range slices.Backward(c.blocks) {
		if b.index != in.Index {
			continue
		}
		switch in.Delta.Type {
		case "text_delta":
			b.partial = append(b.partial, in.Delta.Text...)
			c.emit(model.Delta{Text: in.Delta.Text})
		case "thinking_delta":
			b.partial = append(b.partial, in.Delta.Thinking...)
			c.emit(model.Delta{Thought: in.Delta.Thinking})
		case "signature_delta":
			b.Signature += in.Delta.Signature
		case "input_json_delta":
			b.partial = append(b.partial, in.Delta.Partial...)
		}
		return
	}
}

// count takes what is told of tokens. The service does not count what came from the
// cache or went there as input; we do.
func (c *collector) count(u *usage) {
	if u == nil {
		return
	}
	for _, f := range []struct {
		from *int
		to   *int
	}{{u.Input, &c.plain}, {u.CacheRead, &c.usage.CacheRead}, {u.CacheWrite, &c.usage.CacheWrite}, {u.Output, &c.usage.Output}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	c.usage.Input = c.plain + c.usage.CacheRead + c.usage.CacheWrite
}

// answer gives what was collected.
func (c *collector) answer() *model.Answer {
	m := model.Message{Role: model.Assistant}
	var own []any
	thought := false
	for _, b := range c.blocks {
		switch b.Type {
		case "text":
			if text := b.Text + string(b.partial); text != "" {
				m.Parts = append(m.Parts, model.Part{Text: text})
				own = append(own, "text")
			}
		case "thinking":
			thought = true
			b.Thinking += string(b.partial)
			if b.Thinking != "" {
				m.Parts = append(m.Parts, model.Part{Text: b.Thinking, Thought: true})
			}
			own = append(own, map[string]string{"type": "thinking", "thinking": b.Thinking, "signature": b.Signature})
		case "redacted_thinking":
			thought = true
			own = append(own, map[string]string{"type": "redacted_thinking", "data": b.Data})
		case "tool_use":
			arguments := json.RawMessage(b.partial)
			if len(bytes.TrimSpace(arguments)) == 0 {
				arguments = b.Input
			}
			if len(arguments) == 0 {
				arguments = json.RawMessage("{}")
			}
			m.Calls = append(m.Calls, model.ToolCall{ID: b.ID, Name: b.Name, Arguments: arguments})
			own = append(own, "call")
		}
	}
	if thought {
		m.Own, _ = json.Marshal(own)
		m.By = c.by
	}
	out := &model.Answer{Message: m, Usage: c.usage, Model: c.model, Stop: model.StopEnd}
	switch {
	case c.stop == "max_tokens" || c.stop == "model_context_window_exceeded":
		out.Stop = model.StopLength
	case c.stop == "refusal":
		out.Stop = model.StopRefused
	case len(m.Calls) > 0:
		out.Stop = model.StopCalls
	}
	return out
}
