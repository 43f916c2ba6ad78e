package agents

import (
	"sync"

	"github.com/toolcrib/toolcrib"
)

// work is an agent at work: as whom, and for whom.
type work struct {
	lead *work // who put it to work; nil: a person did

	mu     sync.Mutex
	caller toolcrib.Caller
}

// enter has it known that an agent works.
func (a *Agents) enter(caller toolcrib.Caller, lead *work) *work {
	w := &work{lead: lead, caller: caller}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live[caller.Session] = w
	return w
}

// leave ends an agent's work.
func (a *Agents) leave(w *work) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live[w.caller.Session] == w {
		delete(a.live, w.caller.Session)
	}
}

func (w *work) rename(caller toolcrib.Caller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.caller = caller
}
