package app

import (
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
)

// events hands what happens in calls to who follows them. Nobody has to: an
// event that nobody follows is lost.
type events struct {
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

// emit is [toolcrib.Crib.Emit].
func (e *events) emit(ev toolcrib.Event) {
	e.mu.RLock()
	list := e.follow[keyOf(&ev.Caller, ev.Call)]
	e.mu.RUnlock()
	for _, f := range list {
		f.hear(ev)
	}
}

// Follow hears the events of one call until stop is called; hear returns at
// once.
func (e *events) Follow(followed toolcrib.Call, hear func(toolcrib.Event)) (stop func()) {
	f, call := &follower{hear}, keyOf(&followed.Caller, followed.ID)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.follow == nil {
		e.follow = map[callKey][]*follower{}
	}
	// A list is never changed in place: emit reads it without the lock.
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
