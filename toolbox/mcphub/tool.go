package mcphub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// longest is the time a tool has with the crib: the hub holds it to its own,
// which stands still while a person is asked.
const longest = 24 * time.Hour

// group is the one that profiles know the tools of servers by.
const group = "mcp"

// tool makes a tool of a definition. Its effects are what the owner of this
// machine says: what a server says of itself is not taken for it.
func (b *Box) tool(d definition, sum string) (toolcrib.Tool, error) {
	mirror, err := client.Mirrors(d.Input)
	if err != nil {
		return toolcrib.Tool{}, fmt.Errorf("its arguments cannot be sent as it wants: %w", err)
	}
	spec := toolcrib.Spec{
		Name: plainName(d.Name), Title: d.Title, Description: d.Description, Input: d.Input, Output: d.Output,
		Effects: b.effects(d.Name), Group: group, Timeout: longest,
	}
	if len(spec.Input) == 0 || string(spec.Input) == "null" {
		spec.Input = json.RawMessage(`{"type":"object"}`)
	}
	if string(spec.Output) == "null" {
		spec.Output = nil
	}
	if spec.Title == "" {
		var a struct {
			Title string `json:"title"`
		}
		if json.Unmarshal(d.Annotations, &a) == nil {
			spec.Title = a.Title
		}
	}
	name, err := json.Marshal(d.Name)
	if err != nil {
		return toolcrib.Tool{}, err
	}
	return toolcrib.Tool{Spec: spec, Run: func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		params := make([]byte, 0, len(input)+len(name)+32)
		params = append(append(params, `{"name":`...), name...)
		params = append(append(params, `,"arguments":`...), input...)
		text, err := b.do(ctx, env, use{method: mcp.MethodToolsCall, params: append(params, '}'), mirror: mirror, tool: d.Name, hash: sum})
		if err != nil {
			return nil, err
		}
		return readResult(text)
	}}, nil
}

func (b *Box) effects(tool string) toolcrib.Effects {
	if e, ok := b.server.Effects[tool]; ok {
		return e
	}
	for pattern, e := range b.server.Effects {
		if matches(pattern, tool) {
			return e
		}
	}
	return 0
}

// plainName makes a name that every model API takes. One that had to be changed
// ends in a hash, so that two never meet.
func plainName(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if plain == name && len(name) <= 64 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return plain[:min(len(plain), 55)] + "_" + hex.EncodeToString(sum[:4])
}

// use is one request to a server.
type use struct {
	method string
	params json.RawMessage
	mirror map[string]string
	tool   string // by the server's name for it; empty: none
	hash   string // of the definition that was approved
}

// do sends a request for a call and waits for its result. What may have reached
// the server is not repeated; what has not, because the server was gone by then,
// is sent to the next one.
func (b *Box) do(ctx context.Context, env *toolcrib.Env, u use) (json.RawMessage, error) {
	i, err := b.instance(env.Call.Caller.Session)
	if err != nil {
		return nil, unavailable(err)
	}
	for try := 0; ; try++ {
		result, sent, err := b.attempt(ctx, env, i, u)
		if err == nil || sent || try > 0 || !errors.Is(err, mcp.ErrClosed) || ctx.Err() != nil {
			return result, err
		}
	}
}

// attempt sends a request to a running server.
func (b *Box) attempt(ctx context.Context, env *toolcrib.Env, i *instance, u use) (_ json.RawMessage, sent bool, _ error) {
	s, err := i.acquire(ctx)
	if err != nil {
		return nil, false, b.notStarted(ctx, err)
	}
	defer i.release()
	// A server says what it offers when it starts: what it says now counts.
	if u.tool != "" && !b.stands(u.tool, u.hash) {
		return nil, false, &toolcrib.Error{Code: toolcrib.Denied, Message: fmt.Sprintf(
			"the MCP server %s has changed the definition of %s since it was approved; a person has to look at it (toolcrib hub show %s)", b.name, u.tool, b.name)}
	}
	peer := mcp.PeerOf(ctx)
	clock := newClock(ctx, b.server.Timeout)
	defer clock.stop()
	var reached atomic.Bool
	call := client.Call{
		Method: u.method, Params: u.params, Mirror: u.mirror, Capabilities: b.canBeAsked(peer),
		Sent: func() { reached.Store(true) },
		Ask: func(ctx context.Context, requests map[string]mcp.Request) (map[string]json.RawMessage, error) {
			defer clock.pause()()
			return b.ask(ctx, env, peer, requests)
		},
		Progress: func(params json.RawMessage) { emitProgress(env, params) },
		Log:      func(params json.RawMessage) { emitLog(env, peer, params) },
	}
	if peer != nil {
		call.LogLevel = peer.LogLevel()
		i.wantLogs(clock.ctx, s, call.LogLevel)
	}
	if who := env.Call.Caller; who.Session != "" {
		call.For = who.Organisation + "/" + who.Subject + "/" + who.Session
	}
	result, err := s.Do(clock.ctx, call)
	if err == nil {
		i.works()
		return result, true, nil
	}
	i.lost(s, err)
	return nil, reached.Load(), b.failure(ctx, clock, err, reached.Load())
}

// stands reports whether a definition is still the one that was approved.
func (b *Box) stands(tool, hash string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.approved[tool] == hash
}

func unavailable(err error) error {
	return &toolcrib.Error{Code: toolcrib.Unavailable, Message: err.Error(), Err: err}
}

// notStarted is the refusal of a call whose server is not there.
func (b *Box) notStarted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if e, ok := errors.AsType[*toolcrib.Error](err); ok {
		return e
	}
	return unavailable(err)
}

// failure says what became of a call that was not answered well.
func (b *Box) failure(ctx context.Context, c *clock, err error, sent bool) error {
	switch {
	case ctx.Err() != nil:
		return err
	case c.late():
		return &toolcrib.Error{Code: toolcrib.Timeout, Tool: b.name, Message: fmt.Sprintf("the MCP server %s did not answer within %v; the call was cancelled, and may have been done all the same", b.name, b.server.Timeout), Err: err}
	}
	if said, ok := errors.AsType[*mcp.Error](err); ok {
		code := toolcrib.Internal
		switch said.Code {
		case mcp.CodeInvalidParams:
			code = toolcrib.Invalid
		case mcp.CodeMethodNotFound, mcp.CodeResourceNotFound:
			code = toolcrib.NotFound
		}
		return &toolcrib.Error{Code: code, Tool: b.name, Message: fmt.Sprintf("the MCP server %s refused it: %s", b.name, said.Message), Err: err}
	}
	if e, ok := errors.AsType[*toolcrib.Error](err); ok {
		return e
	}
	e := &toolcrib.Error{Code: toolcrib.Unavailable, Message: fmt.Sprintf("the MCP server %s could not be reached: %v", b.name, err), Err: err}
	if sent {
		// Named, so that it is not tried again: it may have been done.
		e.Tool, e.Message = b.name, fmt.Sprintf("the MCP server %s was lost while it was at work: %v; whether it was done is not known, look before you repeat it", b.name, err)
	}
	return e
}

// readResult reads what a tool answered.
func readResult(text json.RawMessage) (*toolcrib.Result, error) {
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
	for _, piece := range r.Content {
		c, err := mcp.ReadContent(piece)
		if err != nil {
			return nil, badAnswer(err)
		}
		out.Content = append(out.Content, c)
	}
	more, err := rest(all, "content", "structuredContent", "isError", "resultType")
	if err != nil {
		return nil, badAnswer(err)
	}
	out.More = more
	return out, nil
}

// rest is what else a result says, without what the server says of itself.
func rest(all map[string]json.RawMessage, without ...string) (json.RawMessage, error) {
	for _, key := range without {
		delete(all, key)
	}
	var meta map[string]json.RawMessage
	if text, ok := all["_meta"]; ok && json.Unmarshal(text, &meta) == nil {
		delete(meta, mcp.MetaServer)
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
	return json.Marshal(all)
}

func badAnswer(err error) error {
	return &toolcrib.Error{Code: toolcrib.Internal, Message: "the MCP server's answer cannot be read: " + err.Error(), Err: err}
}

func emitProgress(env *toolcrib.Env, params json.RawMessage) {
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
func emitLog(env *toolcrib.Env, peer mcp.Peer, params json.RawMessage) {
	if peer != nil {
		peer.Log(params)
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
