package chatui

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/chatui/vttest"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/model"
)

// patience is how long a test waits for what has to come: the machine may be busy.
const patience = 30 * time.Second

// fake is a backend whose turns are functions of the test.
type fake struct {
	turn      func(ctx context.Context, input string, emit func(agent.Event)) error
	questions chan desk.Event
	past      []model.Message
	todo      []Todo

	mu      sync.Mutex
	status  Status
	inputs  []string
	replies []desk.Reply
	gone    []string // questions that were dismissed
	settle  chan desk.Reply
}

func newFake(turn func(ctx context.Context, input string, emit func(agent.Event)) error) *fake {
	return &fake{turn: turn, questions: make(chan desk.Event, 8), settle: make(chan desk.Reply, 8), status: Status{Model: "scripted", Mode: "default", Session: "s-1"}}
}

func (f *fake) Turn(ctx context.Context, input string, emit func(agent.Event)) error {
	f.mu.Lock()
	f.inputs = append(f.inputs, input)
	f.mu.Unlock()
	return f.turn(ctx, input, emit)
}

func (f *fake) said() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.inputs)
}

func (f *fake) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

func (f *fake) Choices(_ context.Context, what Kind) ([]Choice, error) {
	switch what {
	case Mode:
		return []Choice{{Name: "default", Now: true, Text: "ask first"}, {Name: "plan"}, {Name: "yolo"}}, nil
	case Session:
		return []Choice{{Name: "s-0", Text: "an earlier one"}}, nil
	}
	return nil, errors.New("there are none here")
}

func (f *fake) Choose(_ context.Context, what Kind, name string) (string, error) {
	if name == "wrong" {
		return "", errors.New("there is no " + string(what) + " wrong")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch what {
	case Mode:
		f.status.Mode = name
	case Model:
		f.status.Model = name
	}
	return "The " + string(what) + " is " + name + " now.", nil
}

func (f *fake) Tools() []Choice                       { return []Choice{{Name: "read_file", Text: "Read a text file."}} }
func (f *fake) Todos(context.Context) ([]Todo, error) { return f.todo, nil }

func (f *fake) Resume(_ context.Context, id string) ([]model.Message, error) {
	if id == "nowhere" {
		return nil, errors.New("there is no such session")
	}
	return f.past, nil
}

func (f *fake) Branch(context.Context) (string, error) { return "s-2", nil }
func (f *fake) Questions() <-chan desk.Event           { return f.questions }

func (f *fake) Offers(q *desk.Question) []desk.Offer {
	if q.Text != "" {
		return []desk.Offer{{Choice: desk.AllowOnce}, {Choice: desk.Deny}}
	}
	return []desk.Offer{
		{Choice: desk.AllowOnce, Text: "allow it once"}, {Choice: desk.AllowSession, Text: "allow it in this session, for 24 h", Wider: []desk.Wider{{By: desk.ByRule, Text: "allow shell(git *) in this session"}}},
		{Choice: desk.Deny, Text: "deny it"}, {Choice: desk.Edit, Text: "change the arguments, and allow that once"},
	}
}

func (f *fake) Answer(_ context.Context, id string, r desk.Reply) (desk.Question, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replies = append(f.replies, r)
	f.settle <- r
	return desk.Question{ID: id, State: desk.Allowed, Reply: &desk.Given{Choice: r.Choice}}, nil
}

func (f *fake) Dismiss(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = append(f.gone, id)
}

// sitting is a person at a terminal.
type sitting struct {
	t      *testing.T
	screen *vttest.Screen
	keys   *io.PipeWriter
	size   chan struct{}
	mu     sync.Mutex
	w, h   int
	ended  chan error
}

func sit(t *testing.T, b Backend, columns, rows int, change func(*Terminal, *Options)) *sitting {
	t.Helper()
	in, keys := io.Pipe()
	s := &sitting{t: t, screen: vttest.New(columns, rows), keys: keys, size: make(chan struct{}, 1), w: columns, h: rows, ended: make(chan error, 1)}
	term := Terminal{In: in, Out: s.screen, Resized: s.size, Colour: true, Size: func() (int, int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.w, s.h
	}}
	opt := Options{Greeting: []string{"Toolcrib chat", "/help lists what can be typed."}}
	if change != nil {
		change(&term, &opt)
	}
	go func() { s.ended <- Run(t.Context(), term, b, opt) }()
	t.Cleanup(func() { keys.Close() })
	return s
}

func (s *sitting) resize(columns, rows int) {
	s.screen.Resize(columns, rows)
	s.mu.Lock()
	s.w, s.h = columns, rows
	s.mu.Unlock()
	s.size <- struct{}{}
}

func (s *sitting) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sitting) wait(texts ...string) {
	s.t.Helper()
	if err := s.screen.Wait(patience, texts...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sitting) waitNot(text string) {
	s.t.Helper()
	if err := s.screen.WaitFor(patience, func(now string) bool { return !strings.Contains(now, text) }, "no "+text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sitting) over() {
	s.t.Helper()
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Error(err)
		}
	case <-time.After(patience):
		s.t.Fatalf("it did not end:\n%s", s.screen)
	}
	if odd := s.screen.Odd(); len(odd) > 0 {
		s.t.Errorf("the terminal was sent %v", odd)
	}
}

func says(text string) agent.Event { return agent.Event{Kind: agent.Content, Text: text} }
