package chatui

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/model"
)

// Backend is what a conversation is held with. Its methods are called by one goroutine
// at a time, but for Turn: while a turn runs the others may be called.
type Backend interface {
	// Turn says something to the agent, and tells emit what happens until it has
	// answered. When ctx ends it stops, and the conversation can be gone on with.
	Turn(ctx context.Context, input string, emit func(agent.Event)) error
	Status() Status
	// Choices lists what can be chosen: a Kind's words.
	Choices(ctx context.Context, what Kind) ([]Choice, error)
	// Choose changes to another one, and says in a sentence what holds now.
	Choose(ctx context.Context, what Kind, name string) (string, error)
	Tools() []Choice
	// Todos is the agent's list, as it is kept.
	Todos(ctx context.Context) ([]Todo, error)
	// Resume goes on with a session, and gives what was said in it. Empty: a new one.
	Resume(ctx context.Context, id string) ([]model.Message, error)
	// Branch goes on in a copy of this session, and gives its name.
	Branch(ctx context.Context) (string, error)
	// Questions tells what becomes of the questions of this conversation.
	Questions() <-chan desk.Event
	Offers(q *desk.Question) []desk.Offer
	Answer(ctx context.Context, id string, r desk.Reply) (desk.Question, error)
	// Dismiss leaves a question unanswered: the call that waits is told.
	Dismiss(id string)
}

// Kind is something that can be chosen.
type Kind string

// The kinds.
const (
	Model   Kind = "model"
	Agent   Kind = "agent"
	Mode    Kind = "mode"
	Profile Kind = "profile"
	Session Kind = "session"
)

// Choice is one of what can be chosen, or a tool.
type Choice struct {
	Name string
	Text string // what it is, in a few words
	Now  bool   // it is the one that holds
}

// Status is what the last line shows.
type Status struct {
	Model, Agent, Mode, Profile, Session string
	Used, Context                        int // tokens of the last request, and how many fit; 0: not known
	Usage                                model.Usage
	Cost                                 float64 // so far, in Currency; with Priced
	Priced                               bool    // the price is known
	Currency                             string  // empty: $
}

// Todo is an entry of the agent's list.
type Todo struct {
	Text   string
	Status string // pending, in_progress or completed
}

// Options are what a conversation needs besides its backend.
type Options struct {
	// History is what was typed before, oldest first; Remember keeps one more. Nil: nobody does.
	History  []string
	Remember func(string)
	Greeting []string         // said at the start
	Past     []model.Message  // what was said in the session that is gone on with
	Notes    <-chan string    // what the program has to say meanwhile, such as warnings; nil: nothing
	Now      func() time.Time // nil: time.Now
}
