package plugin

import (
	"sync"

	"github.com/toolcrib/toolcrib"
)

// listeners hands what tools tell of their calls to those who wait for them.
type listeners struct {
	mu    sync.Mutex
	calls map[string][]*listener // by the ID of the call
}

// listener is one request. Progress goes up, or is not told: the protocol says so.
type listener struct {
	hear func(toolcrib.Event)
	told bool
	last float64
}

// tell is [toolcrib.Crib.Emit].
func (l *listeners) tell(ev toolcrib.Event) {
	l.mu.Lock()
	defer l.mu.Unlock() // also while it is heard: what is told in order arrives in order
	for _, one := range l.calls[ev.Call] {
		if ev.Kind == "progress" {
			if one.told && ev.Progress <= one.last {
				continue
			}
			one.told, one.last = true, ev.Progress
		}
		one.hear(ev)
	}
}

// follow has the events of one call heard until stop is called.
func (l *listeners) follow(call toolcrib.Call, hear func(toolcrib.Event)) (stop func()) {
	one := &listener{hear: hear}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls == nil {
		l.calls = map[string][]*listener{}
	}
	l.calls[call.ID] = append(l.calls[call.ID], one)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		var rest []*listener
		for _, other := range l.calls[call.ID] {
			if other != one {
				rest = append(rest, other)
			}
		}
		if l.calls[call.ID] = rest; rest == nil {
			delete(l.calls, call.ID)
		}
	}
}
