package agent

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/toolcrib/toolcrib/model"
)

// run is one run of an agent.
type run struct {
	ctx    context.Context //nolint:containedctx // it is the run's own, and ends with it
	agent  *Agent
	c      *Conversation
	out    *Outcome
	traits model.Traits
	above  *run // whose delegate this is
	depth  int
	stop   func() // of Agent.Questions
	defs   *Definitions
	window window

	mu      sync.Mutex // events come from one goroutine at a time
	watcher func(Event)
	ended   bool // whoever is late tells nobody
}

func newRun(ctx context.Context, a *Agent, c *Conversation, out *Outcome, emit func(Event), traits model.Traits) *run {
	r := &run{agent: a, c: c, out: out, traits: traits, watcher: emit, defs: cmp.Or(a.Definitions, &Definitions{})}
	if above, ok := ctx.Value(runKey{}).(*run); ok {
		r.above, r.depth = above, above.depth+1
	}
	r.ctx = context.WithValue(ctx, runKey{}, r)
	if a.Questions != nil {
		r.stop = a.Questions(r.ctx, r.asked)
	}
	return r
}

// end closes what the run has open. What it used counts with the run above.
func (r *run) end() {
	if r.stop != nil {
		r.stop()
	}
	if r.above != nil {
		r.above.delegated(r.out)
	}
}

func (r *run) delegated(below *Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.out.Usage = r.out.Usage.Add(below.Usage)
	r.out.Delegated = r.out.Delegated.Add(below.Usage)
	r.out.Cost += below.Cost
}

func (r *run) emit(e Event) {
	e.Agent, e.Depth = r.agent.Caller.Agent, r.depth
	r.forward(e)
}

// forward tells an event that may be a delegate's.
func (r *run) forward(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watcher != nil && !r.ended {
		r.watcher(e)
	}
}

func (r *run) asked(q Question) { r.emit(Event{Kind: AskUser, Question: &q}) }

// append adds to the conversation.
func (r *run) append(m model.Message) {
	r.c.Messages = append(r.c.Messages, m)
	if r.agent.Keep != nil {
		r.agent.Keep(m)
	}
}

// used counts what an answer cost.
func (r *run) used(answer *model.Answer) {
	cost := 0.0
	if r.agent.Cost != nil {
		cost = r.agent.Cost(*answer)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Usage = r.out.Usage.Add(answer.Usage)
	r.out.Cost += cost
	r.out.Model = cmp.Or(answer.Model, r.out.Model)
}

// finish tells the last event, and why the run ended.
func (r *run) finish(outer context.Context, err error) error {
	last := Event{Kind: Done}
	if err != nil {
		last = Event{Kind: Failed, Text: err.Error()}
		r.out.Stopped = StoppedError
		switch {
		case r.ctx.Err() == nil:
		case errors.Is(outer.Err(), context.Canceled):
			last, r.out.Stopped, err = Event{Kind: Aborted}, StoppedAborted, outer.Err()
		default:
			r.out.Stopped, err = StoppedTimeout, timeoutError{}
			last.Text = err.Error()
		}
	}
	r.mu.Lock()
	usage := r.out.Usage
	last.Usage, last.Cost, last.Stopped = &usage, r.out.Cost, r.out.Stopped
	r.mu.Unlock()
	r.emit(last)
	r.mu.Lock()
	r.ended = true // nothing comes behind the last event
	r.mu.Unlock()
	return err
}

// timeoutError is what a run ends with whose time is over.
type timeoutError struct{}

func (timeoutError) Error() string {
	return "the agent's time ran out before it had an answer; what it did so far is in the conversation, so it can go on"
}
func (timeoutError) Unwrap() error { return context.DeadlineExceeded }
