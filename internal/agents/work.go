package agents

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
)

// work is an agent at work: as whom, for whom, and what it has used.
type work struct {
	lead    *work    // who put it to work; nil: a person did
	session string   // of its caller, by which it is found
	tools   []string // the only tools it has; nil: all that it would have
	forget  bool     // nothing is kept of what is said, nor of what those say that it puts to work
	lent    int      // to how many runs; Agents.mu is held for it

	mu            sync.Mutex
	caller        toolcrib.Caller
	model         string // by its name in the settings
	budget        settings.AgentBudget
	calls, tokens int
	mode, profile string // that a person chose for this session; empty: none
	tasks         []*task
}

// newWork is an agent that has not used anything yet.
func newWork(caller toolcrib.Caller, lead *work, tools []string) *work {
	return &work{lead: lead, session: caller.Session, caller: caller, tools: tools}
}

// enter has it known that an agent works.
func (a *Agents) enter(w *work) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live[w.session] = w
}

// leave has it known that an agent works no longer: nothing is done in its name from
// then on. Those it put to work are ended.
func (a *Agents) leave(w *work) {
	if w == nil {
		return
	}
	a.mu.Lock()
	if a.live[w.session] == w {
		delete(a.live, w.session)
	}
	a.mu.Unlock()
	w.end()
}

// at gives the agent that works as this caller; nil: none does.
func (a *Agents) at(c toolcrib.Caller) *work {
	a.mu.Lock()
	w := a.live[c.Session]
	a.mu.Unlock()
	if w == nil || c.Session == "" {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.caller.Subject != c.Subject || w.caller.Organisation != c.Organisation || w.caller.Token != c.Token || w.caller.Agent != c.Agent {
		return nil
	}
	return w
}

// end ends those that it put to work, and waits until they have noticed.
func (w *work) end() {
	w.mu.Lock()
	tasks := slices.Clone(w.tasks)
	w.mu.Unlock()
	for _, t := range tasks {
		t.cancel()
	}
	until, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, t := range tasks {
		t.wait(until)
	}
}

// patience is how long is waited for an agent that was told to end.
const patience = 10 * time.Second

// become is the agent and the model of a session that were changed.
func (w *work) become(caller toolcrib.Caller, model string, budget settings.AgentBudget) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.caller, w.model, w.budget = caller, model, budget
}

// begin counts anew, for one more run.
func (w *work) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls, w.tokens = 0, 0
}

// spent says which budget of an agent, or of those it works for, is used up; empty: none.
func (w *work) spent() string {
	for ; w != nil; w = w.lead {
		w.mu.Lock()
		why := w.over()
		w.mu.Unlock()
		if why != "" {
			return why
		}
	}
	return ""
}

// over says which budget of its own it has used up; its lock is held.
func (w *work) over() string {
	const then = " (agents.NAME.budget): answer with what there is"
	switch b := w.budget; {
	case b.Calls > 0 && w.calls >= b.Calls:
		return fmt.Sprintf("%s has made its %d calls", w.name(), b.Calls) + then
	case b.Tokens > 0 && w.tokens >= b.Tokens:
		return fmt.Sprintf("%s has used its %d tokens", w.name(), b.Tokens) + then
	}
	return ""
}

// name is who it is, for people; its lock is held.
func (w *work) name() string {
	if w.caller.Agent == "" {
		return "the agent"
	}
	return "the agent " + w.caller.Agent
}

// take takes a call from the budgets of an agent and of those it works for, or from none.
func (w *work) take() string {
	if w == nil {
		return ""
	}
	w.mu.Lock() // held while those above are asked, who never ask those below
	defer w.mu.Unlock()
	if why := w.over(); why != "" {
		return why
	}
	if why := w.lead.take(); why != "" {
		return why
	}
	w.calls++
	return ""
}

func (w *work) used(tokens int) {
	for ; w != nil; w = w.lead {
		w.mu.Lock()
		w.tokens += tokens
		w.mu.Unlock()
	}
}

// metered counts what a model reads and writes for an agent.
type metered struct {
	model.Model
	work *work
}

// Ask implements [model.Model].
func (m metered) Ask(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Answer, error) {
	if why := m.work.tokensSpent(); why != "" {
		return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: why}
	}
	answer, err := m.Model.Ask(ctx, r, emit)
	if answer != nil {
		m.work.used(answer.Usage.Input + answer.Usage.Output)
	}
	return answer, err
}

// tokensSpent is spent, for a model: one that may make no more calls still answers.
func (w *work) tokensSpent() string {
	for ; w != nil; w = w.lead {
		w.mu.Lock()
		over := w.budget.Tokens > 0 && w.tokens >= w.budget.Tokens
		name, most := w.name(), w.budget.Tokens
		w.mu.Unlock()
		if over {
			return fmt.Sprintf("%s has used its %d tokens (agents.NAME.budget.tokens); raise it, or begin another run", name, most)
		}
	}
	return ""
}
