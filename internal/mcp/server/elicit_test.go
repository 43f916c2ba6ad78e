package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/desk"
)

func TestElicit(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		var shown atomic.Value
		h := build(t, version, func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			shown.Store(p)
			return accept(map[string]any{"answer": "allow it once"})
		})
		if text, bad := h.call("touch", `{"n":1}`); bad || h.ran.Load() != 1 || h.asked.Load() != 1 {
			t.Fatalf("%s; ran %d, asked %d", text, h.ran.Load(), h.asked.Load())
		}
		p := shown.Load().(*mcp.ElicitParams)
		schema, err := json.Marshal(p.RequestedSchema)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"touch, for ann, in window 1, by mcp, would run", "It can: write", "n: 1", "Asked by the test guard", `everything is asked[U+001B][2J`} {
			if !strings.Contains(p.Message, part) {
				t.Errorf("it does not say %q:\n%s", part, p.Message)
			}
		}
		for _, part := range []string{"allow it in this session, for 24 h", "allow it in /srv/p, for 90 days", "deny it", "allow touch(x *) in this session, for 24 h"} {
			if !strings.Contains(string(schema), part) {
				t.Errorf("it does not offer %q:\n%s", part, schema)
			}
		}
		if strings.Contains(p.Message, "\x1b") {
			t.Errorf("it steers a terminal: %q", p.Message)
		}
	})
}

func TestElicitAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		says  *mcp.ElicitResult
		err   error
		text  string
		runs  int64
		again int64 // how often it is asked when it is called twice
	}{
		"session":   {says: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow it in this session, for 24 h"}}, runs: 2, again: 1},
		"deny":      {says: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "deny it", "message": "not asked for"}}, text: "denied: a person said no", again: 2},
		"say why":   {says: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "deny it, and tell the model why", "message": "not now"}}, text: "denied: a person said no: not now", again: 4},
		"decline":   {says: &mcp.ElicitResult{Action: "decline"}, text: "denied: a person said no", again: 2},
		"cancel":    {says: &mcp.ElicitResult{Action: "cancel"}, text: "closed the question without an answer", again: 2},
		"edit":      {says: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "change the arguments, and allow that once", "arguments": `{"n":7}`}}, runs: 2, again: 4},
		"bad edit":  {says: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "change the arguments, and allow that once", "arguments": `nonsense`}}, text: "closed the question without an answer", again: 8},
		"nonsense":  {says: &mcp.ElicitResult{Action: "maybe"}, text: "closed the question without an answer", again: 2},
		"by a rule": {says: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow touch(x *) everywhere, until it is revoked"}}, runs: 2, again: 1},
	} {
		t.Run(name, func(t *testing.T) {
			versions(t, func(t *testing.T, version string) {
				h := build(t, version, func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) { return c.says, c.err })
				for range 2 {
					if text, bad := h.call("touch", `{"n":1}`); bad != (c.text != "") || !strings.Contains(text, c.text) {
						t.Errorf("%v %s", bad, text)
					}
				}
				if h.ran.Load() != c.runs || h.asked.Load() != c.again {
					t.Errorf("ran %d, asked %d; want %d, %d", h.ran.Load(), h.asked.Load(), c.runs, c.again)
				}
				if name == "edit" && h.last.Load() != 7 {
					t.Errorf("ran with %v", h.last.Load())
				}
				if name == "by a rule" {
					grants, err := h.desk.Grants(t.Context(), desk.GrantFilter{})
					if err != nil || len(grants) != 1 || len(grants[0].Rules) != 1 || grants[0].By != "ann in window" {
						t.Errorf("%+v, %v", grants, err)
					}
				}
			})
		})
	}
}

// One field at a time: a client that lets no field stay empty can be answered in, and
// nothing that was typed for one answer goes along with another.
func TestElicitOneField(t *testing.T) {
	for name, c := range map[string]struct {
		tool   string
		fields []string // in the order in which they are asked for
		given  []any
		want   string
	}{
		"once":      {"touch", []string{"answer"}, []any{"allow it once"}, `{"n":1}`},
		"no":        {"touch", []string{"answer"}, []any{"deny it"}, "a person said no"},
		"edit":      {"touch", []string{"answer", "arguments"}, []any{"change the arguments, and allow that once", `{"n":7}`}, `{"n":7}`},
		"edit late": {"touch", []string{"answer", "arguments", "arguments"}, []any{"change the arguments, and allow that once", "", `{"n":7}`}, `{"n":7}`},
		"why":       {"touch", []string{"answer", "message"}, []any{"deny it, and tell the model why", "use b"}, "a person said no: use b"},
		"chosen":    {"consult", []string{"answer"}, []any{"blue"}, `"said":"blue"`},
		"other":     {"consult", []string{"answer", "answer"}, []any{"something else", "green"}, `"said":"green"`},
	} {
		t.Run(name, func(t *testing.T) {
			versions(t, func(t *testing.T, version string) {
				var asked []string
				h := build(t, version, func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					var form struct {
						Properties map[string]struct{ Default string }
						Required   []string
					}
					schema, err := json.Marshal(p.RequestedSchema)
					if err == nil {
						err = json.Unmarshal(schema, &form)
					}
					if err != nil || len(form.Properties) != 1 || len(form.Required) != 1 || len(asked) == len(c.given) {
						t.Errorf("asked for %s after %q: %v", schema, asked, err)
						return &mcp.ElicitResult{Action: "cancel"}, err
					}
					asked = append(asked, form.Required[0])
					if form.Required[0] == "arguments" && (form.Properties["arguments"].Default != `{"n":1}` || !strings.Contains(p.Message, `{"n":1}`)) {
						t.Errorf("it does not show what is to be changed: %s: %s", p.Message, schema)
					}
					return accept(map[string]any{form.Required[0]: c.given[len(asked)-1]})
				})
				if text, _ := h.call(c.tool, `{"n":1}`); !strings.Contains(text, c.want) || !slices.Equal(asked, c.fields) {
					t.Errorf("asked for %q: %s", asked, text)
				}
			})
		})
	}
}

// A tool's own question, and the question of a call that a tool makes.
func TestElicitWithin(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		h := build(t, version, func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			if strings.Contains(p.Message, "Which colour?") {
				return accept(map[string]any{"answer": "blue"})
			}
			return accept(map[string]any{"answer": "allow it once"})
		})
		if text, bad := h.call("consult", `{"n":1}`); bad || !strings.Contains(text, `"said":"blue"`) {
			t.Errorf("%v %s", bad, text)
		}
		if text, bad := h.call("nested", `{"n":5}`); bad || h.last.Load() != 5 || h.asked.Load() != 2 {
			t.Errorf("%v %s; asked %d", bad, text, h.asked.Load())
		}
	})
}

// A client that cannot ask is no screen: the call waits a while for an answer
// from elsewhere, and is then told where its question is.
func TestNoElicitation(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		h := build(t, version, nil)
		text, bad := h.call("touch", `{"n":1}`)
		if !bad || !strings.Contains(text, "timeout: a person has to approve this, and nobody answered within 1s: test: everything is asked") || !strings.Contains(text, "answers it with 'answer q-") {
			t.Fatal(text)
		}
		open, err := h.desk.Questions(t.Context(), desk.Filter{State: desk.Open})
		if err != nil || len(open) != 1 {
			t.Fatalf("%+v, %v", open, err)
		}
		if _, err := h.desk.Answer(t.Context(), open[0].ID, desk.Reply{Choice: desk.AllowOnce}, "bob"); err != nil {
			t.Fatal(err)
		}
		if text, bad := h.call("touch", `{"n":1}`); bad || h.ran.Load() != 1 {
			t.Errorf("repeated: %s", text)
		}
	})
}

// Somebody else answers while the client shows the question: the call goes on
// at once where the client can be told, and else when it comes back.
func TestElicitAnsweredElsewhere(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		var h *house
		ready := make(chan struct{})
		h = build(t, version, func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			<-ready
			open, err := h.desk.Questions(ctx, desk.Filter{State: desk.Open})
			if err != nil || len(open) != 1 {
				return nil, errors.Join(err, errors.New("not one question"))
			}
			if _, err := h.desk.Answer(context.WithoutCancel(ctx), open[0].ID, desk.Reply{Choice: desk.AllowOnce}, "bob"); err != nil {
				return nil, err
			}
			if version < modernVersion {
				<-ctx.Done() // the server takes it back
				return nil, ctx.Err()
			}
			return &mcp.ElicitResult{Action: "decline"}, nil
		})
		close(ready)
		if text, bad := h.call("touch", `{"n":1}`); bad || h.ran.Load() != 1 {
			t.Errorf("%v %s", bad, text)
		}
	})
}

// A state that is not ours brings nothing but an error: nothing is run, and
// nobody is asked.
func TestForgedRound(t *testing.T) {
	h := build(t, modernVersion, func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "decline"}, nil
	})
	_, err := h.session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "touch", Arguments: json.RawMessage(`{"n":1}`), RequestState: "guessed",
		InputResponses: mcp.InputResponseMap{inputName: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow it once"}}},
	})
	if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeInvalidParams || h.ran.Load() != 0 || h.asked.Load() != 0 {
		t.Errorf("%v; ran %d, asked %d", err, h.ran.Load(), h.asked.Load())
	}
}

// An approval is for what was shown: one that was brought unasked is none.
func TestApprovalUnasked(t *testing.T) {
	h := build(t, modernVersion, func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "decline"}, nil
	})
	r, err := h.session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "touch", Arguments: json.RawMessage(`{"n":1}`),
		InputResponses: mcp.InputResponseMap{inputName: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow it once"}}},
	})
	if err != nil || !r.IsError || h.ran.Load() != 0 || h.asked.Load() != 1 {
		t.Errorf("%+v, %v; ran %d, asked %d", r, err, h.ran.Load(), h.asked.Load())
	}
}

// A client that gives up takes its call with it; the question stays.
func TestElicitCancelled(t *testing.T) {
	h := build(t, "2025-11-25", func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := h.session.CallTool(ctx, &mcp.CallToolParams{Name: "touch", Arguments: json.RawMessage(`{"n":1}`)}); err == nil {
		t.Error("it came back")
	}
	for range 200 {
		open, err := h.desk.Questions(t.Context(), desk.Filter{State: desk.Open})
		if err != nil || len(open) != 1 {
			t.Fatalf("%+v, %v", open, err)
		}
		if open[0].Waiting == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the call still waits")
}
