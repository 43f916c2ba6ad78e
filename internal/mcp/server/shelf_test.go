package server

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// pantry is a shelf with a few things, and the box that reads them.
type pantry struct {
	mu      sync.Mutex
	changed func(method string, params json.RawMessage, hears func(toolcrib.Caller) bool)
	subs    map[string]int
	hears   func(toolcrib.Caller) bool // nil: everybody
}

func newPantry() *pantry { return &pantry{subs: map[string]int{}} }

func (p *pantry) Resources(context.Context, toolcrib.Caller) ([]Item, error) {
	return []Item{
		{Name: "b", Definition: json.RawMessage(`{"uri":"test://b","name":"b","mimeType":"image/png"}`)},
		{Name: "a", Definition: json.RawMessage(`{"uri":"test://a","name":"a","mimeType":"text/plain"}`)},
	}, nil
}

func (p *pantry) Templates(context.Context, toolcrib.Caller) ([]Item, error) {
	return []Item{{Name: "t", Definition: json.RawMessage(`{"uriTemplate":"test://t/{x}","name":"t"}`)}}, nil
}

func (p *pantry) Prompts(context.Context, toolcrib.Caller) ([]Item, error) {
	return []Item{{Name: "hello", Definition: json.RawMessage(`{"name":"hello","arguments":[{"name":"who"}]}`)}}, nil
}

func (p *pantry) Reading(_ context.Context, _ toolcrib.Caller, method string, params json.RawMessage) (string, json.RawMessage, bool, error) {
	var q struct {
		URI  string          `json:"uri"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
		Ref  json.RawMessage `json:"ref"`
	}
	if err := json.Unmarshal(params, &q); err != nil {
		return "", nil, false, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: "it cannot be read"}
	}
	input, err := json.Marshal(map[string]string{"uri": q.URI, "name": q.Name, "method": method})
	if err != nil {
		return "", nil, false, err
	}
	switch method {
	case mcp.MethodResourcesRead, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		return "shelf_read", input, strings.HasPrefix(q.URI, "test://"), nil
	case mcp.MethodPromptsGet:
		return "shelf_read", input, q.Name == "hello" || q.Name == "asks", nil
	}
	return "shelf_read", input, q.Ref != nil, nil
}

func (p *pantry) Watch(changed func(method string, params json.RawMessage, hears func(toolcrib.Caller) bool)) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = changed
	return func() {}
}

func (p *pantry) tell(method, params string) {
	p.mu.Lock()
	changed := p.changed
	p.mu.Unlock()
	var raw json.RawMessage
	if params != "" {
		raw = json.RawMessage(params)
	}
	changed(method, raw, p.hears)
}

func (p *pantry) subscribed(uri string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.subs[uri]
}

// run is the tool that everything on the shelf is read by.
func (p *pantry) run(ctx context.Context, _ *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
	var in struct{ URI, Name, Method string }
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	switch in.Method {
	case mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		p.mu.Lock()
		defer p.mu.Unlock()
		if in.Method == mcp.MethodSubscribe {
			p.subs[in.URI] = 1 // to a server a second time is the same
		} else {
			p.subs[in.URI] = 0
		}
		return toolcrib.Text("ok"), nil
	case mcp.MethodPromptsGet:
		who := "all"
		if in.Name == "asks" {
			peer := mcp.PeerOf(ctx)
			if peer == nil {
				return nil, errors.New("no client")
			}
			got, err := peer.Ask(ctx, map[string]mcp.Request{"who": {Method: mcp.MethodElicit, Params: json.RawMessage(`{"mode":"form","message":"who?","requestedSchema":{"type":"object","properties":{"who":{"type":"string"}}}}`)}})
			if err != nil {
				return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "cannot ask", Err: err}
			}
			var e struct {
				Content struct{ Who string }
			}
			if err := json.Unmarshal(got["who"], &e); err != nil {
				return nil, err
			}
			who = e.Content.Who
		}
		return &toolcrib.Result{Value: json.RawMessage(`{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"hello ` + who + `"}}]}`)}, nil
	case mcp.MethodComplete:
		return &toolcrib.Result{Value: json.RawMessage(`{"completion":{"values":["paris","park"],"total":2,"hasMore":false}}`)}, nil
	}
	if code, ok := strings.CutPrefix(in.URI, "test://code/"); ok {
		n, err := strconv.Atoi(code)
		return nil, &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "no", Err: errors.Join(err, &mcp.Error{Code: n, Message: "says another server"})}
	}
	if more, ok := strings.CutPrefix(in.URI, "test://cached/"); ok {
		return &toolcrib.Result{Content: []toolcrib.Content{{Type: "resource", URI: in.URI, Text: "x"}}, More: json.RawMessage(`{"cacheScope":"public","ttlMs":` + more + `}`)}, nil
	}
	switch in.URI {
	case "test://a":
		return &toolcrib.Result{Content: []toolcrib.Content{{Type: "resource", URI: in.URI, MIME: "text/plain", Text: "an a"}}}, nil
	case "test://b":
		return &toolcrib.Result{
			Content: []toolcrib.Content{{Type: "resource", URI: in.URI, MIME: "image/png", Data: []byte{1, 2}}},
			More:    json.RawMessage(`{"ttlMs":77,"cacheScope":"public","contents":"never","_meta":{"x":1}}`),
		}, nil
	case "test://upstream":
		return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "no", Err: &mcp.Error{Code: -32777, Message: "of another server", Data: json.RawMessage(`{"k":1}`)}}
	case "test://failed":
		return toolcrib.Failed("it broke"), nil
	}
	return nil, &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "no such resource"}
}

func (p *pantry) tool() toolcrib.Tool {
	return toolcrib.Tool{Spec: toolcrib.Spec{Name: "shelf_read", Input: json.RawMessage(`true`), Effects: toolcrib.Pure}, Run: p.run}
}

// newStore is a server with a pantry.
func newStore(t testing.TB, more ...toolcrib.Tool) (*Server, *pantry) {
	t.Helper()
	p := newPantry()
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{},
		Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}, Log: quiet(),
	}
	load(t, c, append(append(tools(), p.tool()), more...))
	s := New(Config{
		Crib: c, Version: "1", Log: quiet(), Shelf: p,
		Hidden: func(s toolcrib.Entry) bool { return s.Native == "shelf_read" },
	}, toolcrib.Caller{Subject: "ann", Frontend: "mcp-http"})
	t.Cleanup(s.Close)
	return s, p
}
