package agents

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
)

// Lend opens an agent for one run by somebody who keeps the conversation: the budget of
// its preset holds, and it can put others to work, until it is given back. Runs of one
// session at the same time share the budget, so that nobody has more by asking twice.
func (a *Agents) Lend(ctx context.Context, o Options) (_ *agent.Agent, giveBack func(), _ error) {
	made, err := a.Agent(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	preset, err := a.preset(o.Caller.Agent)
	if err != nil {
		return nil, nil, err
	}
	a.mu.Lock()
	w := a.live[o.Caller.Session]
	if w == nil || w.lent == 0 {
		w = newWork(o.Caller, nil, nil)
		w.become(o.Caller, o.Model, preset.Budget)
		a.live[o.Caller.Session] = w
	}
	w.lent++
	a.mu.Unlock()
	made.Model, made.Timeout = metered{made.Model, w}, preset.Budget.Time
	return made, func() {
		a.mu.Lock()
		w.lent--
		last := w.lent == 0
		if last && a.live[w.session] == w {
			delete(a.live, w.session)
		}
		a.mu.Unlock()
		if last {
			w.end()
		}
	}, nil
}
