package host

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolcrib/toolcrib"
)

// known remembers which toolboxes a caller finds here. Every frame on the bus
// that calls some toolbox asks for it, also those that are for other hosts, and
// the answer is the same until the shelves or the rules change.
type known struct {
	changes atomic.Uint64

	mu    sync.Mutex
	as    uint64
	boxes map[toolcrib.Caller]map[string]bool
}

// maxKnown is how many callers are remembered. They differ by their session,
// which clients choose; most choose none.
const maxKnown = 64

// forget has everything found out anew.
func (k *known) forget() { k.changes.Add(1) }

// after forgets after every load: a box without tools changes no shelf, and is
// a box all the same.
func (k *known) after(load func(context.Context) (toolcrib.Diff, []toolcrib.LoadError)) func(context.Context) (toolcrib.Diff, []toolcrib.LoadError) {
	if load == nil {
		return nil
	}
	return func(ctx context.Context) (toolcrib.Diff, []toolcrib.LoadError) {
		defer k.forget()
		return load(ctx)
	}
}

// of gives the ids for a caller; find finds them out.
func (k *known) of(caller toolcrib.Caller, find func() map[string]bool) map[string]bool {
	now := k.changes.Load() // before looking: a change meanwhile is not missed
	k.mu.Lock()
	if ids, ok := k.boxes[caller]; ok && k.as == now {
		k.mu.Unlock()
		return ids
	}
	k.mu.Unlock()
	ids := find()
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.as > now: // somebody has looked at a later state
	case k.as != now || k.boxes == nil || len(k.boxes) >= maxKnown:
		k.as, k.boxes = now, map[toolcrib.Caller]map[string]bool{caller: ids}
	default:
		k.boxes[caller] = ids
	}
	return ids
}

// visible reports whether a box is on the bus, if no other host has its id.
func (h *Host) visible(box string) bool { return h.cfg.Hide == nil || !h.cfg.Hide(box) }

// shows reports whether the tools of a box are told and called by their names. One
// that is switched off makes way for another host that has it.
func (h *Host) shows(box string) bool {
	return h.visible(box) && (h.cfg.Off == nil || !h.cfg.Off(box) || !h.rivals.yields(h.cfg.BoxID(box)))
}

// off reports whether the toolbox of an id is switched off.
func (h *Host) off(id string) bool {
	if h.cfg.Off == nil || h.cfg.Boxes == nil {
		return false
	}
	return slices.ContainsFunc(h.cfg.Boxes(), func(box string) bool { return h.cfg.BoxID(box) == id && h.cfg.Off(box) })
}

// empty gives the ids of the boxes there are, whether they have tools or not.
func (h *Host) empty() map[string]bool {
	ids := map[string]bool{}
	if h.cfg.Boxes != nil {
		for _, box := range h.cfg.Boxes() {
			if h.visible(box) {
				ids[h.cfg.BoxID(box)] = true
			}
		}
	}
	return ids
}

// hosts reports whether there is a toolbox of this id here.
func (h *Host) hosts(caller toolcrib.Caller, id string) bool { return h.ids(caller)[id] }

// ids gives the toolboxes that a caller finds here.
func (h *Host) ids(caller toolcrib.Caller) map[string]bool {
	return h.known.of(caller, func() map[string]bool {
		ids := h.empty()
		for spec := range h.cfg.Crib.Tools(caller) {
			if h.visible(spec.Box) {
				ids[h.cfg.BoxID(spec.Box)] = true
			}
		}
		return ids
	})
}
