// Package follow hands what happens in calls to who follows them, and to nobody else.
// Who hears of a call is who made it. The wiring in internal/app imports it.
package follow

import (
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
)

// Events is who follows which call. Nobody has to: an event that nobody follows is
// lost. The zero value is ready.
type Events struct {
	mu     sync.RWMutex
	follow map[callKey][]*follower
}

// callKey names a call. Its ID alone does not: who knows or guesses that of
// somebody else's call must not hear of it.
type callKey struct{ subject, organisation, id string }

func keyOf(caller *toolcrib.Caller, id string) callKey {
	return callKey{caller.Subject, caller.Organisation, id}
}

type follower struct{ hear func(toolcrib.Event) }

// Emit is [toolcrib.Crib.Emit].
func (e *Events) Emit(ev toolcrib.Event) {
	e.mu.RLock()
	list := e.follow[keyOf(&ev.Caller, ev.Call)]
	e.mu.RUnlock()
	for _, f := range list {
		f.hear(ev)
	}
}

// Follow hears the events of one call until stop is called; hear returns at
// once.
func (e *Events) Follow(followed toolcrib.Call, hear func(toolcrib.Event)) (stop func()) {
	f, call := &follower{hear}, keyOf(&followed.Caller, followed.ID)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.follow == nil {
		e.follow = map[callKey][]*follower{}
	}
	// A list is never changed in place: Emit reads it without the lock.
	e.follow[call] = append(slices.Clip(e.follow[call]), f)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		var rest []*follower
		for _, other := range e.follow[call] {
			if other != f {
				rest = append(rest, other)
			}
		}
		if e.follow[call] = rest; rest == nil {
			delete(e.follow, call)
		}
	}
}
