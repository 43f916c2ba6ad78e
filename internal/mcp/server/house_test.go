package server

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// asksAll is a guard that has everything asked but what only asks by itself.
type asksAll struct{}

func (asksAll) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	d := toolcrib.Ask
	if r.Spec.Effects.Within(toolcrib.AsksPerson) {
		d = toolcrib.Allow
	}
	return &toolcrib.Verdict{Decision: d, Guard: "test", Reason: "everything is asked\x1b[2J"}, nil
}

// house is a crib with a desk, served to a client with a person.
type house struct {
	t       *testing.T
	desk    *desk.Desk
	server  *Server
	session *mcp.ClientSession
	ran     atomic.Int64
	last    atomic.Value
	asked   atomic.Int64
}

type person func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error)

// build makes it for a version of the protocol.
func build(t *testing.T, version string, says person) *house {
	t.Helper()
	h := &house{t: t}
	same := func(s string) string { return s }
	var err error
	h.desk, err = desk.New(desk.Config{
		Store: &desk.Memory{}, Unattended: desk.Await, Wait: 20 * time.Second, Alone: time.Second, Project: "/srv/p", Poll: 10 * time.Millisecond,
		RedactJSON: func(m json.RawMessage) json.RawMessage { return m }, RedactText: same,
		Terms: func(toolcrib.Question) desk.Terms { return desk.Terms{Rules: []string{"touch(x *)"}} },
		How:   func(id string, _ bool) string { return "'answer " + id + "'" },
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{asksAll{}}, Approver: h.desk, Log: quiet()}
	touch := toolcrib.Define(toolcrib.Spec{Name: "touch", Description: "Touches.", Effects: toolcrib.Writes},
		func(_ context.Context, _ *toolcrib.Env, i in) (in, error) {
			h.ran.Add(1)
			h.last.Store(i.N)
			return i, nil
		})
	nested := toolcrib.Define(toolcrib.Spec{Name: "nested", Description: "Uses touch.", Effects: toolcrib.AsksPerson},
		func(ctx context.Context, env *toolcrib.Env, i in) (in, error) {
			_, err := env.Use(ctx, "touch", i)
			return i, err
		})
	consult := toolcrib.Define(toolcrib.Spec{Name: "consult", Description: "Asks.", Effects: toolcrib.AsksPerson},
		func(ctx context.Context, env *toolcrib.Env, i in) (map[string]string, error) {
			a, err := env.Ask(ctx, toolcrib.Question{Text: "Which colour?", Options: []string{"red", "blue"}})
			return map[string]string{"said": a.Message, "decision": a.Decision.String()}, err
		})
	load(t, c, []toolcrib.Tool{touch, nested, consult})
	h.server = New(Config{Crib: c, Version: "1", Log: quiet(), Desk: h.desk}, toolcrib.Caller{Subject: "ann", Frontend: "mcp", Session: "s1"})
	h.server.tooSoon = 0 // these clients answer at once, and are meant as people
	t.Cleanup(h.server.Close)
	opts := &mcp.ClientOptions{}
	if says != nil {
		opts.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			h.asked.Add(1)
			return says(ctx, r.Params)
		}
	}
	h.session = dial(t, h.server, version, opts)
	return h
}

// call gives the text of the result, and whether it is an error.
func (h *house) call(name, args string) (string, bool) {
	h.t.Helper()
	r, err := h.session.CallTool(h.t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		h.t.Fatal(err)
	}
	var text string
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text += c.Text
		}
	}
	return text, r.IsError
}

func accept(fields map[string]any) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept", Content: fields}, nil
}

// modernVersion is the one in which clients are asked in rounds.
const modernVersion = "2026-07-28"

// versions runs a test for both ways in which clients are asked.
func versions(t *testing.T, run func(t *testing.T, version string)) {
	t.Helper()
	for _, v := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(v, func(t *testing.T) { run(t, v) })
	}
}
