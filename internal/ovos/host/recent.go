package host

import (
	"sync"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// maxRecent is how many calls are known after they have ended: what they asked may be
// put to a person only then. Their contexts are kept; one that is larger than those of
// people's devices is not.
const (
	maxRecent        = 256
	maxRecentContext = 64 << 10
)

// recent knows the messages of the latest calls.
type recent struct {
	mu    sync.Mutex
	calls map[string]bus.Message
	order []string
}

// add notes the message of a call, without what it was called with.
func (r *recent) add(id string, m bus.Message) {
	size := 0
	for key, value := range m.Context {
		size += len(key) + len(value)
	}
	if size > maxRecentContext {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.calls[id]; !known {
		if len(r.order) >= maxRecent {
			delete(r.calls, r.order[0])
			r.order = r.order[1:]
		}
		r.order = append(r.order, id)
	}
	if r.calls == nil {
		r.calls = map[string]bus.Message{}
	}
	r.calls[id] = bus.Message{Type: m.Type, Context: m.Context}
}

// About gives the message, without its data, by which a call came, for a while after
// it has ended too.
func (h *Host) About(call string) (bus.Message, bool) {
	h.recent.mu.Lock()
	defer h.recent.mu.Unlock()
	m, known := h.recent.calls[call]
	return m, known
}
