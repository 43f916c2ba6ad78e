package modeltest

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// Request is what the model was asked: as it came, and in words that the APIs share.
type Request struct {
	N      int // the how-manyth, from 0
	API    string
	Method string
	Path   string
	Query  string
	Header http.Header
	Body   []byte

	Model    string
	Stream   bool
	System   string
	Messages []Message
	Tools    []string // names
	// Ended is closed when the answer has ended, or its client has gone.
	Ended <-chan struct{}
}

// Message is one message of a request. What came of several calls in one message is
// several messages here.
type Message struct {
	Role   string // user, assistant or tool
	Text   string
	Calls  []Call
	CallID string // of a tool message; Gemini: the name, where there is no id
	Images int
}

// Last is the text of the last message.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Text
}

// Results gives the texts of the tool messages after the last assistant message.
func (r Request) Results() []string {
	var out []string
	for _, m := range r.Messages {
		switch m.Role {
		case "assistant":
			out = nil
		case "tool":
			out = append(out, m.Text)
		}
	}
	return out
}

// textOf reads what may be a string or a list of parts, and counts the images.
func textOf(raw json.RawMessage) (text string, images int) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, 0
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", 0
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
		if p.Type == "image_url" || p.Type == "image" {
			images++
		}
	}
	return b.String(), images
}

func (r *Request) readOpenAI() error {
	r.API = "openai"
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Body, &in); err != nil {
		return err
	}
	r.Model, r.Stream = in.Model, in.Stream
	for _, m := range in.Messages {
		text, images := textOf(m.Content)
		if m.Role == "system" || m.Role == "developer" {
			r.System += text
			continue
		}
		out := Message{Role: m.Role, Text: text, Images: images, CallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			out.Calls = append(out.Calls, Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		r.Messages = append(r.Messages, out)
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	if len(in.Messages) == 0 {
		return errors.New("no messages")
	}
	return nil
}

func (r *Request) readAnthropic() error {
	r.API = "anthropic"
	type block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   json.RawMessage `json:"content"`
	}
	var in struct {
		Model     string          `json:"model"`
		MaxTokens int             `json:"max_tokens"`
		Stream    bool            `json:"stream"`
		System    json.RawMessage `json:"system"`
		Messages  []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Body, &in); err != nil {
		return err
	}
	r.Model, r.Stream = in.Model, in.Stream
	r.System, _ = textOf(in.System)
	for _, m := range in.Messages {
		out := Message{Role: m.Role}
		var results []Message
		var blocks []block
		if json.Unmarshal(m.Content, &blocks) != nil {
			out.Text, _ = textOf(m.Content)
		}
		for _, b := range blocks {
			switch b.Type {
			case "text":
				out.Text += b.Text
			case "image":
				out.Images++
			case "tool_use":
				out.Calls = append(out.Calls, Call{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
			case "tool_result":
				text, images := textOf(b.Content)
				results = append(results, Message{Role: "tool", Text: text, Images: images, CallID: b.ToolUseID})
			}
		}
		r.Messages = append(r.Messages, results...)
		if len(results) == 0 || out.Text != "" || out.Images > 0 {
			r.Messages = append(r.Messages, out)
		}
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	if len(in.Messages) == 0 || in.MaxTokens <= 0 {
		return errors.New("no messages, or no max_tokens")
	}
	return nil
}

func (r *Request) readGemini() error {
	r.API = "gemini"
	_, after, _ := strings.Cut(r.Path, "/models/")
	r.Model, after, _ = strings.Cut(after, ":")
	r.Stream = after == "streamGenerateContent"
	type content struct {
		Role  string `json:"role"`
		Parts []struct {
			Text         string          `json:"text"`
			Thought      bool            `json:"thought"`
			InlineData   json.RawMessage `json:"inlineData"`
			FunctionCall *struct {
				ID   string          `json:"id"`
				Name string          `json:"name"`
				Args json.RawMessage `json:"args"`
			} `json:"functionCall"`
			FunctionResponse *struct {
				ID       string          `json:"id"`
				Name     string          `json:"name"`
				Response json.RawMessage `json:"response"`
			} `json:"functionResponse"`
			ThoughtSignature string `json:"thoughtSignature"`
		} `json:"parts"`
	}
	var in struct {
		System   content   `json:"systemInstruction"`
		Contents []content `json:"contents"`
		Tools    []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Body, &in); err != nil {
		return err
	}
	for _, p := range in.System.Parts {
		r.System += p.Text
	}
	for _, c := range in.Contents {
		out := Message{Role: c.Role}
		if c.Role == "model" {
			out.Role = "assistant"
		}
		var results []Message
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				out.Calls = append(out.Calls, Call{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: string(p.FunctionCall.Args), Signature: p.ThoughtSignature})
			case p.FunctionResponse != nil:
				id := p.FunctionResponse.ID
				if id == "" {
					id = p.FunctionResponse.Name
				}
				results = append(results, Message{Role: "tool", Text: responseText(p.FunctionResponse.Response), CallID: id})
			case p.InlineData != nil:
				out.Images++
			case !p.Thought:
				out.Text += p.Text
			}
		}
		r.Messages = append(r.Messages, results...)
		if len(results) == 0 || out.Text != "" || out.Images > 0 {
			r.Messages = append(r.Messages, out)
		}
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			r.Tools = append(r.Tools, f.Name)
		}
	}
	if len(in.Contents) == 0 {
		return errors.New("no contents")
	}
	return nil
}

// responseText is the text of a function's response: that of its one field output or
// error, or all of it as JSON.
func responseText(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil && len(fields) == 1 {
		for _, key := range []string{"output", "error", "result"} {
			var s string
			if json.Unmarshal(fields[key], &s) == nil && fields[key] != nil {
				return s
			}
		}
	}
	return string(raw)
}
