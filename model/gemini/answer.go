package gemini

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/wire"
)

// chunk is an answer, or a piece of one.
type chunk struct {
	Candidates []struct {
		Content struct {
			Parts []incoming `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		Tools      int `json:"toolUsePromptTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
	Error json.RawMessage `json:"error"`
}

type incoming struct {
	Text      string `json:"text"`
	Thought   bool   `json:"thought"`
	Signature string `json:"thoughtSignature"`
	Call      *call  `json:"functionCall"`
}

// collector puts an answer together.
type collector struct {
	emit   func(model.Delta)
	by     string
	pieces []piece
	calls  []model.ToolCall
	signed bool
	finish string
	why    string // what the service says about the end
	model  string
	usage  model.Usage
}

// piece is a part of the answer: consecutive texts of one kind are one, unless a
// signature stands between.
type piece struct {
	mark
	said []byte
}

func (c *collector) read(r *wire.Reply) error {
	if r.Stream {
		if _, err := r.Each(func(e wire.Event) (bool, error) { return false, c.take(e) }); err != nil {
			return err
		}
	} else {
		var raw json.RawMessage
		if err := r.Whole(&raw); err != nil {
			return err
		}
		var list []json.RawMessage // a stream without alt=sse
		if json.Unmarshal(raw, &list) != nil {
			list = []json.RawMessage{raw}
		}
		for _, one := range list {
			if err := c.take(wire.Event{Data: one}); err != nil {
				return err
			}
		}
	}
	if c.finish == "" {
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
	if len(in.Error) > 0 && string(in.Error) != "null" {
		f, _ := wire.ReadFault(e.Data)
		return wire.Late(f)
	}
	if in.Model != "" {
		c.model = in.Model
	}
	if u := in.Usage; u != nil {
		c.usage = model.Usage{Input: u.Prompt + u.Tools, Output: u.Candidates + u.Thoughts, CacheRead: u.Cached}
	}
	if in.Feedback.BlockReason != "" {
		c.finish = "SAFETY"
	}
	if len(in.Candidates) == 0 {
		return nil
	}
	one := in.Candidates[0]
	for _, p := range one.Content.Parts {
		if err := c.add(p); err != nil {
			return err
		}
	}
	if one.FinishReason != "" {
		c.finish, c.why = one.FinishReason, one.FinishMessage
	}
	return nil
}

func (c *collector) add(p incoming) error {
	c.signed = c.signed || p.Signature != ""
	kind := "text"
	switch {
	case p.Call != nil:
		if len(c.calls) >= wire.MaxCalls {
			return &model.Error{Kind: model.Broken, Message: "the model made more than 256 calls in one answer"}
		}
		id, args := p.Call.ID, p.Call.Args
		if id == "" {
			id = madeUp + rand.Text()
		}
		if len(args) == 0 || string(args) == "null" {
			args = json.RawMessage("{}")
		}
		c.calls = append(c.calls, model.ToolCall{ID: id, Name: p.Call.Name, Arguments: args})
		c.pieces = append(c.pieces, piece{mark: mark{Kind: "call", Signature: p.Signature}})
		c.emit(model.Delta{Call: p.Call.Name})
		return nil
	case p.Thought:
		kind = "thought"
		c.emit(model.Delta{Thought: p.Text})
	case p.Text == "" && p.Signature == "":
		return nil // what no form is known of, such as code that the service ran
	case p.Text == "":
		kind = "empty"
	default:
		c.emit(model.Delta{Text: p.Text})
	}
	if n := len(c.pieces); n == 0 || c.pieces[n-1].Kind != kind || c.pieces[n-1].Signature != "" || p.Signature != "" {
		if n >= 16*wire.MaxCalls {
			return &model.Error{Kind: model.Broken, Message: "the answer of the model's service has too many pieces"}
		}
		c.pieces = append(c.pieces, piece{mark: mark{Kind: kind, Signature: p.Signature}})
	}
	last := &c.pieces[len(c.pieces)-1]
	last.said = append(last.said, p.Text...)
	return nil
}

// answer gives what was collected.
func (c *collector) answer() (*model.Answer, error) {
	m := model.Message{Role: model.Assistant, Calls: c.calls}
	var own []mark
	for i := range c.pieces {
		p := &c.pieces[i]
		said := string(p.said)
		switch p.Kind {
		case "text":
			m.Parts = append(m.Parts, model.Part{Text: said})
		case "thought":
			m.Parts = append(m.Parts, model.Part{Text: said, Thought: true})
			if p.Signature == "" {
				continue // nobody wants it back
			}
			p.Text = said
		}
		own = append(own, p.mark)
	}
	if c.signed {
		m.Own, _ = json.Marshal(own)
		m.By = c.by
	}
	out := &model.Answer{Message: m, Usage: c.usage, Model: c.model, Stop: model.StopEnd}
	switch c.finish {
	case "MAX_TOKENS":
		out.Stop = model.StopLength
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT":
		out.Stop = model.StopRefused
	case "STOP", "FINISH_REASON_UNSPECIFIED":
		if len(m.Calls) > 0 {
			out.Stop = model.StopCalls
		}
	default: // MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL, OTHER, and what is new
		why := strings.ToLower(strings.ReplaceAll(c.finish, "_", " "))
		return nil, &model.Error{Kind: model.Broken, Message: wire.Clean("the model's service broke the answer off: " + strings.TrimSpace(why+" "+c.why))}
	}
	return out, nil
}
