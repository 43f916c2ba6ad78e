package gemini

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/model"
)

type request struct {
	System     *content    `json:"systemInstruction,omitempty"`
	Contents   []content   `json:"contents"`
	Tools      []tools     `json:"tools,omitempty"`
	ToolConfig *toolConfig `json:"toolConfig,omitempty"`
	Generation *generation `json:"generationConfig,omitempty"`
}

type tools struct {
	Functions []json.RawMessage `json:"functionDeclarations"`
}

type toolConfig struct {
	Calling struct {
		Mode string `json:"mode"`
	} `json:"functionCallingConfig"`
}

type generation struct {
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxOutputTokens,omitempty"`
	Stop        []string `json:"stopSequences,omitempty"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type part struct {
	Text      *string   `json:"text,omitempty"`
	Thought   bool      `json:"thought,omitempty"`
	Inline    *inline   `json:"inlineData,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
}

type inline struct {
	MIME string `json:"mimeType"`
	Data []byte `json:"data"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type response struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

// mark is an entry of Own: what a part was, and its signature. Texts and calls stand in
// the message itself; of a thought with a signature and of an empty text this is all.
type mark struct {
	Kind      string `json:"kind"` // text, call, empty or thought
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
}

// madeUp begins the ids that we gave to calls that had none: the service is not told.
const madeUp = "toolcrib_"

// unsigned stands for the signature of calls that another model made: without any, the
// service refuses the conversation.
const unsigned = "skip_thought_signature_validator"

func text(s string) part { return part{Text: &s} }

func (m *Model) request(r model.Request) request {
	out := request{Contents: m.contents(r.Messages)}
	if r.System != "" {
		out.System = &content{Parts: []part{text(r.System)}}
	}
	if len(r.Tools) > 0 {
		out.Tools = []tools{{r.Tools}}
		if r.NoCalls {
			out.ToolConfig = &toolConfig{}
			out.ToolConfig.Calling.Mode = "NONE"
		}
	}
	if g := (generation{r.Temperature, r.MaxTokens, r.Stop}); g.Temperature != nil || g.MaxTokens > 0 || len(g.Stop) > 0 {
		out.Generation = &g
	}
	return out
}

// contents puts a conversation into turns of user and model. What came of all calls of an
// answer stands in one of them.
func (m *Model) contents(in []model.Message) []content {
	var out []content
	for _, msg := range in {
		role, parts := "user", []part(nil)
		switch msg.Role {
		case model.Assistant:
			role, parts = "model", m.assistant(msg)
		case model.Tool:
			parts = result(msg)
		default:
			parts = plain(msg)
		}
		if len(parts) == 0 {
			parts = []part{text(" ")} // the API takes no empty message
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Parts = append(out[n-1].Parts, parts...)
			continue
		}
		out = append(out, content{role, parts})
	}
	return out
}

func plain(msg model.Message) []part {
	var out []part
	for _, p := range msg.Parts {
		switch {
		case p.Thought:
		case len(p.Data) > 0:
			out = append(out, part{Inline: &inline{p.MIME, p.Data}})
		case p.Text != "":
			out = append(out, text(p.Text))
		}
	}
	return out
}

// result says what came of a call; its images follow as parts of their own.
func result(msg model.Message) []part {
	key := "output"
	if msg.Failed {
		key = "error"
	}
	id := msg.CallID
	if strings.HasPrefix(id, madeUp) {
		id = ""
	}
	out := []part{{Response: &response{ID: id, Name: msg.Name, Response: map[string]string{key: msg.Said()}}}}
	for _, p := range msg.Parts {
		if len(p.Data) > 0 {
			out = append(out, part{Inline: &inline{p.MIME, p.Data}})
		}
	}
	return out
}

// assistant gives back what the model wrote, with its signatures where they were.
func (m *Model) assistant(msg model.Message) []part {
	texts := plain(msg)
	var calls []part
	for _, c := range msg.Calls {
		id := c.ID
		if strings.HasPrefix(id, madeUp) {
			id = ""
		}
		calls = append(calls, part{Call: &call{ID: id, Name: c.Name, Args: object(c.Arguments)}})
	}
	var own []mark
	if msg.By != m.name() || json.Unmarshal(msg.Own, &own) != nil {
		if len(calls) > 0 && strings.HasPrefix(strings.TrimPrefix(m.client.Model, "models/"), "gemini-3") {
			calls[0].Signature = unsigned
		}
		return append(texts, calls...)
	}
	var out []part
	for _, k := range own {
		switch {
		case k.Kind == "text" && len(texts) > 0:
			texts[0].Signature = k.Signature
			out, texts = append(out, texts[0]), texts[1:]
		case k.Kind == "call" && len(calls) > 0:
			calls[0].Signature = k.Signature
			out, calls = append(out, calls[0]), calls[1:]
		case k.Kind == "empty" || k.Kind == "thought":
			p := text(k.Text)
			p.Thought, p.Signature = k.Kind == "thought", k.Signature
			out = append(out, p)
		}
	}
	return append(append(out, texts...), calls...)
}

// object is the arguments of a call as the API wants them back.
func object(arguments json.RawMessage) json.RawMessage {
	t := bytes.TrimSpace(arguments)
	if len(t) == 0 || t[0] != '{' || !json.Valid(t) {
		return json.RawMessage("{}")
	}
	return t
}
