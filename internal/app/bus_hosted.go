package app

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
)

// hosted is what this program itself has on a bus while it hosts there.
type hosted struct {
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

// host begins to host, and gives how to end it. Toolboxes that the settings
// switch off are on the bus, and say that they are off.
func (a *App) host(ctx context.Context, cfg settings.Config, id string) (end func()) {
	off := map[string]standIn{}
	for box, is := range map[string]bool{"shell": !cfg.Toolboxes.Shell.AllowShell, "web": !cfg.Toolboxes.Web.Enabled} {
		if stand, adapters := dialect.OVOSOff(box); is && stand != nil {
			off[box] = standIn{stand, adapters}
		}
	}
	a.hosted.set(id, a.ownOnBus, off)
	a.told(a.reloadOwn(ctx))
	return func() {
		a.hosted.set("", nil, nil)
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // the program may be about to end
		defer cancel()
		a.told(a.reloadOwn(short))
	}
}

// told tells what a load that nobody asked for left out.
func (a *App) told(_ toolcrib.Diff, faults []toolcrib.LoadError) {
	for _, f := range faults {
		a.Crib.Log.Warn("left out on the bus", "err", f)
	}
}

func (h *hosted) set(id string, boxes func() []string, off map[string]standIn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.id, h.boxes, h.off = id, boxes, off
}

// has reports whether what a message tells of a toolbox is about one of ours.
// One that is switched off here can be another host's, who tells of it then.
func (h *hosted) has(toolbox, source string) bool {
	h.mu.Lock()
	id, boxes, off := h.id, h.boxes, h.off
	h.mu.Unlock()
	return boxes != nil && slices.ContainsFunc(boxes(), func(box string) bool {
		_, standsIn := off[box]
		return dialect.OVOSBox(box) == toolbox && (!standsIn || source == id)
	})
}

func (h *hosted) isOff(box string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, is := h.off[box]
	return is
}

// standIns adds what stands in for boxes that are switched off. A real box is
// never replaced.
func (h *hosted) standIns(s toolcrib.Contents) toolcrib.Contents {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Boxes, s.Adapters = slices.Clone(s.Boxes), slices.Clone(s.Adapters)
	for _, name := range slices.Sorted(maps.Keys(h.off)) {
		if slices.ContainsFunc(s.Boxes, func(b toolcrib.Toolbox) bool { return b.Name() == name }) {
			continue
		}
		s.Boxes = append(s.Boxes, h.off[name].box)
		s.Adapters = slices.DeleteFunc(s.Adapters, func(a toolcrib.Adapter) bool { return a.Dialect == dialect.OVOS && a.Box == name })
		s.Adapters = append(s.Adapters, h.off[name].adapters...)
	}
	return s
}

// ownOnBus lists the boxes of this program that belong on a bus, as they are
// now: a reload may bring others.
func (a *App) ownOnBus() []string {
	foreign := a.foreignBoxes()
	var own []string
	for _, box := range a.hosted.standIns(a.hubShelving(a.shelving)).Boxes {
		if !slices.Contains(foreign, box.Name()) {
			own = append(own, box.Name())
		}
	}
	return own
}

// seen is which tools exist for a caller: what stands in for a box that is
// switched off exists on the bus only.
func (a *App) seen(caller toolcrib.Caller, spec *toolcrib.Spec) bool {
	return (caller.Dialect == dialect.OVOS || !a.hosted.isOff(spec.Box)) && a.policy.seen(caller, spec)
}
