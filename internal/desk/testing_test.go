package desk_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/desk/desktest"
)

const secret = "hunter2-hunter2"

func TestMemory(t *testing.T) {
	desktest.Store(t, func(*testing.T) desk.Store { return &desk.Memory{} })
}

// config has a small redactor that knows one secret.
func config(s desk.Store) desk.Config {
	hide := func(text string) string { return strings.ReplaceAll(text, secret, "[redacted]") }
	return desk.Config{
		Store: s, Project: "/srv/project", RedactText: hide,
		RedactJSON: func(m json.RawMessage) json.RawMessage { return json.RawMessage(hide(string(m))) },
	}
}

func newDesk(t testing.TB, cfg desk.Config) *desk.Desk {
	t.Helper()
	d, err := desk.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// ask is a question as the core puts it.
func ask() toolcrib.Question {
	return toolcrib.Question{
		Call:  toolcrib.Call{ID: "call-1", Tool: "write_file", Caller: toolcrib.Caller{Subject: "alice", Agent: "coder", Session: "s1", Frontend: "mcp"}},
		Spec:  toolcrib.Entry{Spec: toolcrib.Spec{Name: "write_file", Description: "Write a file.", Effects: toolcrib.Reads | toolcrib.Writes}, Box: "files", Native: "write_file", Hash: "h1"},
		Input: json.RawMessage(`{"path":"a.txt","text":"x"}`), Effects: toolcrib.Writes, Preview: "-old\n+x\n",
		Reasons: []toolcrib.Verdict{{Decision: toolcrib.Ask, Guard: "mode", Rule: "default", Reason: "it writes"}, {Decision: toolcrib.Allow, Guard: "paths"}},
	}
}

// outcome is what a call got.
type outcome struct {
	answer toolcrib.Answer
	err    error
}

// pending is a call that waits at the desk.
type pending struct {
	t    testing.TB
	done chan outcome
}

func start(ctx context.Context, t testing.TB, d *desk.Desk, q toolcrib.Question) pending {
	p := pending{t, make(chan outcome, 1)}
	go func() {
		a, err := d.Approve(ctx, q)
		p.done <- outcome{a, err}
	}()
	return p
}

// got is what the call got; it must have got something.
func (p pending) got() outcome {
	p.t.Helper()
	select {
	case o := <-p.done:
		return o
	case <-time.After(time.Minute):
		p.t.Fatal("the call still waits")
		return outcome{}
	}
}

// watch registers a screen that is there and looks at nothing.
func watch(t testing.TB, d *desk.Desk) {
	t.Helper()
	events, stop, err := d.Watch(context.Background(), desk.Screen{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range events {
			continue
		}
	}()
	t.Cleanup(stop)
}

func open(t testing.TB, d *desk.Desk) []desk.Question {
	t.Helper()
	list, err := d.Questions(context.Background(), desk.Filter{State: desk.Open})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// theOne is the only open question.
func theOne(t testing.TB, d *desk.Desk) desk.Question {
	t.Helper()
	list := open(t, d)
	if len(list) != 1 {
		t.Fatalf("%d questions are open, want 1: %+v", len(list), list)
	}
	return list[0]
}

func answer(t testing.TB, d *desk.Desk, id string, r desk.Reply) desk.Question {
	t.Helper()
	q, err := d.Answer(context.Background(), id, r, "bob")
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// bubble runs a test in a bubble with a desk that a screen watches.
func bubble(t *testing.T, change func(*desk.Config), run func(t *testing.T, d *desk.Desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg := config(&desk.Memory{})
		if change != nil {
			change(&cfg)
		}
		d := newDesk(t, cfg)
		events, stop, err := d.Watch(t.Context(), desk.Screen{Name: "test", Buffer: 10000})
		if err != nil {
			t.Fatal(err)
		}
		run(t, d)
		stop()
		for range events {
			continue
		}
	})
}

// unasked asserts that a call goes on without anybody being asked.
func unasked(t testing.TB, d *desk.Desk, q toolcrib.Question) toolcrib.Answer {
	t.Helper()
	o := start(context.Background(), t, d, q).got()
	if o.err != nil || o.answer.Decision != toolcrib.Allow {
		t.Fatalf("not allowed: %+v", o)
	}
	return o.answer
}

// asked asserts that a person is asked, and withdraws the question.
func asked(t *testing.T, d *desk.Desk, q toolcrib.Question) desk.Question {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := start(ctx, t, d, q)
	synctest.Wait()
	one := theOne(t, d)
	cancel()
	if o := p.got(); !errors.Is(o.err, context.Canceled) {
		t.Errorf("a call that was cancelled got %+v", o)
	}
	answer(t, d, one.ID, desk.Reply{Choice: desk.Deny})
	if o := start(t.Context(), t, d, q).got(); o.err != nil || o.answer.Decision != toolcrib.Deny {
		t.Errorf("the refusal is not told to the call that is repeated: %+v", o)
	}
	return one
}
