package mcphub

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// readResult reads what a tool answered.
func (b *Box) readResult(text json.RawMessage) (*toolcrib.Result, error) {
	var all map[string]json.RawMessage
	var r struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		IsError    bool              `json:"isError"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, badAnswer(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, badAnswer(err)
	}
	out := &toolcrib.Result{Failed: r.IsError}
	if string(r.Structured) != "null" {
		out.Value = r.Structured
	}
	for _, text := range r.Content {
		c, err := b.piece(text)
		if err != nil {
			return nil, badAnswer(err)
		}
		out.Content = append(out.Content, c)
	}
	more, err := rest(all, "content", "structuredContent", "isError")
	if err != nil {
		return nil, badAnswer(err)
	}
	out.More = more
	return out, nil
}

// rest is what else a result says, without what the server says of itself, and
// without questions: those are put in our own way, or not at all. Names are
// read here whatever their case is, so that a second one in another case would
// pass unseen.
func rest(all map[string]json.RawMessage, without ...string) (json.RawMessage, error) {
	without = append(without, "inputRequests", "requestState", "resultType")
	maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool {
		return slices.ContainsFunc(without, func(name string) bool { return strings.EqualFold(key, name) })
	})
	var meta map[string]json.RawMessage
	if text, ok := all["_meta"]; ok && json.Unmarshal(text, &meta) == nil {
		maps.DeleteFunc(meta, func(key string, _ json.RawMessage) bool {
			return key == mcp.MetaServer || notPassed(key)
		})
		delete(all, "_meta")
		if len(meta) > 0 {
			text, err := json.Marshal(meta)
			if err != nil {
				return nil, err
			}
			all["_meta"] = text
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(all)
	return withoutMarks(text), err
}

func badAnswer(err error) error {
	return &toolcrib.Error{Code: toolcrib.CodeInternal, Message: "the MCP server's answer cannot be read: " + err.Error(), Err: err}
}

func (b *Box) emitProgress(env *toolcrib.Env, params json.RawMessage) {
	params, ok := b.harmless(params)
	if !ok {
		return
	}
	var p struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total"`
		Message  string  `json:"message"`
	}
	if json.Unmarshal(params, &p) == nil {
		env.Emit(toolcrib.Event{Kind: "progress", Text: p.Message, Progress: p.Progress, Total: p.Total})
	}
}

// emitLog shows a log message on screens, and passes it on to a client that
// wants such.
func (b *Box) emitLog(env *toolcrib.Env, peer mcp.Peer, params json.RawMessage) {
	params, ok := b.harmless(params)
	if !ok {
		return
	}
	if peer != nil {
		peer.Log(b.signed(params))
		return
	}
	var p struct {
		Level string          `json:"level"`
		Data  json.RawMessage `json:"data"`
	}
	if json.Unmarshal(params, &p) == nil {
		env.Emit(toolcrib.Event{Kind: "log", Text: p.Level + ": " + string(p.Data)})
	}
}
