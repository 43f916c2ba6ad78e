package node

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
)

// Hosted is what this program itself has on a bus while it hosts there.
type Hosted struct {
	mu    sync.Mutex
	id    string          // the source of what it sends
	boxes func() []string // nil: it does not host
	off   map[string]standIn
}

// standIn is there in place of a box that is switched off.
type standIn struct {
	box      toolcrib.Toolbox
	adapters []toolcrib.Adapter
}

// begin: this program hosts these boxes from now on. Those that are off are on the
// bus too, and say so.
func (h *Hosted) begin(id string, boxes func() []string, off map[string]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.id, h.boxes, h.off = id, boxes, map[string]standIn{}
	for box, is := range off {
		if stand, adapters := dialect.OVOSOff(box); is && stand != nil {
			h.off[box] = standIn{stand, adapters}
		}
	}
}

// end: it hosts no more.
func (h *Hosted) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.id, h.boxes, h.off = "", nil, nil
}

// Has reports whether what a message tells of a toolbox is about one of ours.
// One that is switched off here can be another host's, who tells of it then.
func (h *Hosted) Has(toolbox, source string) bool {
	h.mu.Lock()
	id, boxes, off := h.id, h.boxes, h.off
	h.mu.Unlock()
	return boxes != nil && slices.ContainsFunc(boxes(), func(box string) bool {
		_, standsIn := off[box]
		return dialect.OVOSBox(box) == toolbox && (!standsIn || source == id)
	})
}

func (h *Hosted) IsOff(box string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, is := h.off[box]
	return is
}

// clash names the box of ours that has the id of this one on a bus, if there is
// such a box among all. It is the one that is served there.
func (h *Hosted) clash(box string, all []string) (ours string, is bool) {
	for _, other := range all {
		if other != box && dialect.OVOSBox(other) == box && !h.IsOff(other) {
			return other, true
		}
	}
	return "", false
}

// clashes tells of the boxes that are not on the bus because one of ours is
// there in their place.
func (h *Hosted) clashes(boxes []toolcrib.Toolbox) (faults []toolcrib.LoadError) {
	h.mu.Lock()
	hosts := h.boxes != nil
	h.mu.Unlock()
	if !hosts {
		return nil
	}
	names := make([]string, len(boxes))
	for i, b := range boxes {
		names[i] = b.Name()
	}
	for _, name := range names {
		if ours, is := h.clash(name, names); is {
			faults = append(faults, toolcrib.LoadError{Box: name, Err: fmt.Errorf("on the bus the box %s of Toolcrib has this id and is served there; this one is served everywhere else (toolboxes.%s.enabled: false gives it the place)", ours, ours)})
		}
	}
	return faults
}

// StandIns adds what stands in for boxes that are switched off. A real box is
// never replaced, nor one from elsewhere that has the id of such a box.
func (h *Hosted) StandIns(s toolcrib.Contents) toolcrib.Contents {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Boxes, s.Adapters = slices.Clone(s.Boxes), slices.Clone(s.Adapters)
	for _, name := range slices.Sorted(maps.Keys(h.off)) {
		if slices.ContainsFunc(s.Boxes, func(b toolcrib.Toolbox) bool { return b.Name() == name || b.Name() == dialect.OVOSBox(name) }) {
			continue
		}
		s.Boxes = append(s.Boxes, h.off[name].box)
		s.Adapters = slices.DeleteFunc(s.Adapters, func(a toolcrib.Adapter) bool { return a.Dialect == dialect.OVOS && a.Box == name })
		s.Adapters = append(s.Adapters, h.off[name].adapters...)
	}
	return s
}
