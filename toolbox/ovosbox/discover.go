package ovosbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
)

// maxMissed is how often in a row a toolbox may stay silent before it counts
// as gone: a host may be busy for longer than one window.
const maxMissed = 2

// discover asks for the toolboxes on the bus and reports whether the list of
// tools has changed.
func (b *Box) discover(ctx context.Context) (changed bool, err error) {
	ctx, stop := b.alive(ctx)
	defer stop()
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	found, faults, err := b.ask(ctx)
	if err != nil {
		return false, err
	}
	if b.findCallForms(ctx, found) {
		// Those that announce nothing before their first call do now.
		again, more, err := b.ask(ctx)
		if err == nil {
			for id, r := range again {
				if old := found[id]; old != nil {
					r.static, r.primed = old.static, old.primed
				}
				found[id] = r
			}
			faults = more
		}
	}
	return b.merge(found, faults), nil
}

// alive is a context that ends with the box too, and when hosts and bus have
// had their time.
func (b *Box) alive(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, 4*b.cfg.Window+5*time.Second)
	off := context.AfterFunc(b.ctx, cancel)
	return ctx, func() { off(); cancel() }
}

// ask collects one round of announcements.
func (b *Box) ask(ctx context.Context) (map[string]*remote, []toolcrib.LoadError, error) {
	answers, err := b.bus.Collect(ctx, Message{Type: topicDiscover, Data: json.RawMessage("{}")}, b.cfg.Window)
	if err != nil && len(answers) == 0 {
		return nil, nil, err
	}
	found, faults := map[string]*remote{}, []toolcrib.LoadError{}
	for _, m := range answers {
		r, err := b.cfg.parseAnnouncement(m.Data)
		switch {
		case err != nil:
			faults = append(faults, toolcrib.LoadError{Box: b.cfg.Name, Err: err})
		case !b.cfg.wants(r.id):
		case found[r.id] != nil:
			found[r.id].join(b.cfg.Name, r, b.cfg.MaxTools)
		case len(found) < crowd*b.cfg.MaxBoxes:
			found[r.id] = r
		}
	}
	faults = append(faults[:min(len(faults), maxFaults)], b.choose(found)...)
	return found, faults[:min(len(faults), maxFaults)], nil
}

// crowd is how many times the toolboxes that are listed are looked at, so that
// not the quickest are chosen.
const crowd = 4

// choose keeps as many toolboxes as may be listed: those that are known, then
// by id. Whoever comes later must not push them out.
func (b *Box) choose(found map[string]*remote) (faults []toolcrib.LoadError) {
	b.mu.Lock()
	defer b.mu.Unlock()
	room := b.cfg.MaxBoxes
	for _, known := range []bool{true, false} {
		for _, id := range slices.Sorted(maps.Keys(found)) {
			if (b.remotes[id] != nil) != known {
				continue
			}
			if room--; room < 0 {
				delete(found, id)
				faults = append(faults, toolcrib.LoadError{Box: b.cfg.Name, Tool: id, Err: fmt.Errorf("there are more than %d toolboxes on the bus", b.cfg.MaxBoxes)})
			}
		}
	}
	return faults
}

const maxFaults = 100

// join takes a second announcement of the same toolbox: hosts that were
// reloaded answer more than once. Two that disagree are two hosts with one id,
// and nobody knows which of them will answer a call.
func (r *remote) join(box string, other *remote, most int) {
	r.tagged = r.tagged && other.tagged
	if r.known == nil {
		r.known = make(map[string]int, len(r.claims))
		for i, c := range r.claims {
			r.known[c.name] = i
		}
	}
	for _, c := range other.claims {
		i, known := r.known[c.name]
		switch {
		case !known && len(r.claims) < most:
			r.known[c.name] = len(r.claims)
			r.claims = append(r.claims, c)
		case known && !r.claims[i].equal(c) && len(r.faults) < maxFaults:
			r.fault(box, c.name, errors.New("two hosts on the bus announce it differently; the first is listed"))
		}
	}
}

func (c claimedTool) equal(d claimedTool) bool {
	return c.name == d.name && c.doc == d.doc && bytes.Equal(c.input, d.input) && bytes.Equal(c.output, d.output)
}

// findCallForms finds out how toolboxes that were not known are to be called. It
// calls a tool without a name, which no host has: that runs nothing, and has
// hosts of old look what tools they have. It reports whether there were such.
func (b *Box) findCallForms(ctx context.Context, found map[string]*remote) (again bool) {
	b.mu.Lock()
	var waiting []*remote
	for id, r := range found {
		if old := b.remotes[id]; old != nil && old.tagged == r.tagged {
			r.static, r.primed = old.static, old.primed
			if (len(r.claims) > 0 || r.primed) && (r.static || !r.tagged) && !old.doubted {
				continue // a host that was too slow to answer is tried again
			}
		}
		if r.tagged || len(r.claims) == 0 {
			waiting = append(waiting, r)
		}
	}
	b.mu.Unlock()
	var all sync.WaitGroup
	for _, r := range waiting {
		all.Go(func() {
			if r.tagged {
				r.static = b.answers(ctx, r.id, true)
				return
			}
			r.primed = true
			b.answers(ctx, r.id, false)
		})
	}
	all.Wait()
	return slices.ContainsFunc(waiting, func(r *remote) bool { return r.primed })
}

// answers reports whether a toolbox answers calls by one of the topics.
func (b *Box) answers(ctx context.Context, id string, static bool) bool {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Window)
	defer cancel()
	_, err := b.bus.Ask(ctx, callMessage(id, "", json.RawMessage("{}"), static), fromBox(id))
	return err == nil
}

// merge takes over what was found. Toolboxes that were silent stay for a while.
func (b *Box) merge(found map[string]*remote, faults []toolcrib.LoadError) (changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := fingerprint(b.list())
	for id, old := range b.remotes {
		if found[id] != nil {
			continue
		}
		if old.missed++; old.missed >= maxMissed {
			delete(b.remotes, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if len(b.remotes) >= b.cfg.MaxBoxes && b.remotes[id] == nil && !b.evict() {
			faults = append(faults, toolcrib.LoadError{Box: b.cfg.Name, Tool: id, Err: fmt.Errorf("there are more than %d toolboxes on the bus", b.cfg.MaxBoxes)})
			continue
		}
		b.remotes[id] = found[id]
		faults = append(faults, found[id].faults...)
	}
	b.faults, b.asked = faults[:min(len(faults), maxFaults)], b.cfg.Now()
	return fingerprint(b.list()) != before
}

// evict makes room by dropping a toolbox that did not answer; mu is held.
func (b *Box) evict() bool {
	for _, id := range slices.Sorted(maps.Keys(b.remotes)) {
		if b.remotes[id].missed > 0 {
			delete(b.remotes, id)
			return true
		}
	}
	return false
}

// list makes the tools of what is known, in a fixed order; mu is held.
func (b *Box) list() []toolcrib.Tool {
	var tools []toolcrib.Tool
	for _, id := range slices.Sorted(maps.Keys(b.remotes)) {
		r := b.remotes[id]
		for _, c := range r.claims {
			tools = append(tools, b.tool(r, c))
		}
	}
	slices.SortStableFunc(tools, func(x, y toolcrib.Tool) int { return strings.Compare(x.Name, y.Name) })
	tools = slices.CompactFunc(tools, func(x, y toolcrib.Tool) bool { return x.Name == y.Name })
	return tools[:min(len(tools), b.cfg.MaxTools)]
}

// fingerprint tells one list of tools from another.
func fingerprint(tools []toolcrib.Tool) string {
	var f strings.Builder
	for _, t := range tools {
		fmt.Fprintf(&f, "%q %q %s %s %v\n", t.Name, t.Description, t.Input, t.Output, t.Timeout)
	}
	return f.String()
}
