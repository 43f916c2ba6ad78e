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
	field func(box string) (id string, is bool) // see HostNeeds; nil: none is
}

// standIn is there in place of a box that is switched off.
type standIn struct {
	box      toolcrib.Toolbox
	adapters []toolcrib.Adapter
}

// begin: this program hosts these boxes from now on. Those that are off are on the
// bus too, and say so.
func (h *Hosted) begin(id string, boxes func() []string, off map[string]bool, field func(box string) (id string, is bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.id, h.boxes, h.off, h.field = id, boxes, map[string]standIn{}, field
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
	h.id, h.boxes, h.off, h.field = "", nil, nil, nil
}

// Has reports whether what a message tells of a toolbox is about one of ours.
// One that is switched off here can be another host's, who tells of it then.
func (h *Hosted) Has(toolbox, source string) bool {
	h.mu.Lock()
	id, boxes, off := h.id, h.boxes, h.off
	h.mu.Unlock()
	return boxes != nil && slices.ContainsFunc(boxes(), func(box string) bool {
		_, standsIn := off[box]
		return h.boxID(box) == toolbox && (!standsIn || source == id)
	})
}

func (h *Hosted) IsOff(box string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, is := h.off[box]
	return is
}

// boxID is the id of a box on the bus.
func (h *Hosted) boxID(box string) string {
	if id, is := h.ofField(box); is {
		return id
	}
	return dialect.OVOSBox(box)
}

// ofField gives the id of a box that is a toolbox of the field.
func (h *Hosted) ofField(box string) (id string, is bool) {
	h.mu.Lock()
	field := h.field
	h.mu.Unlock()
	if field == nil {
		return "", false
	}
	return field(box)
}

// worded reports whether a box words its failures itself.
func (h *Hosted) worded(box string) bool {
	_, is := h.ofField(box)
	return is
}

// clash names the box that has the id of this one on a bus, and is served there in
// its place: one of ours, or of the others the first.
func (h *Hosted) clash(box string, all []string) (other string, is bool) {
	id, foreign := h.ofField(box)
	if !foreign {
		return "", false
	}
	for _, other := range all {
		if other == box || h.boxID(other) != id {
			continue
		}
		if _, too := h.ofField(other); too && other < box || !too && !h.IsOff(other) {
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
		other, is := h.clash(name, names)
		if !is {
			continue
		}
		said := fmt.Errorf("on the bus the box %s has the same id, %s, and is served there; this one is served everywhere else", other, h.boxID(name))
		if !h.worded(other) {
			said = fmt.Errorf("%w (to switch the box %s off gives it the place)", said, other)
		}
		faults = append(faults, toolcrib.LoadError{Box: name, Err: said})
	}
	return faults
}

// StandIns adds what stands in for boxes that are switched off. A real box is
// never replaced, nor one from elsewhere that has the id of such a box.
func (h *Hosted) StandIns(s toolcrib.Contents) toolcrib.Contents {
	there := map[string]bool{}
	for _, b := range s.Boxes {
		there[b.Name()], there[h.boxID(b.Name())] = true, true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Boxes, s.Adapters = slices.Clone(s.Boxes), slices.Clone(s.Adapters)
	for _, name := range slices.Sorted(maps.Keys(h.off)) {
		if there[name] || there[dialect.OVOSBox(name)] {
			continue
		}
		s.Boxes = append(s.Boxes, h.off[name].box)
		s.Adapters = slices.DeleteFunc(s.Adapters, func(a toolcrib.Adapter) bool { return a.Dialect == dialect.OVOS && a.Box == name })
		s.Adapters = append(s.Adapters, h.off[name].adapters...)
	}
	return s
}
