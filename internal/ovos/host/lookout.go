package host

import (
	"context"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// watch looks for others in the background, so that people are told of them and
// what they leave comes back, also if nobody asks for it.
func (v *rivals) watch(ctx context.Context) {
	if v.around < 0 {
		return
	}
	tick := time.NewTicker(v.every / 4)
	defer tick.Stop()
	for {
		v.greeting(ctx)
		for _, c := range v.due() {
			v.host.working.Go(func() {
				for v.look(ctx, c, v.patience) == silent { // it is asked again at once
				}
				v.mu.Lock()
				defer v.mu.Unlock()
				c.looking = false
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-v.nudge:
		}
	}
}

// due lists the claims for which others are to be looked for now.
func (v *rivals) due() (list []*claim) {
	keys := v.host.claimed()
	v.mu.Lock()
	defer v.mu.Unlock()
	for key, c := range v.claims {
		if strings.HasPrefix(key, sharedMark) && c.yielded {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		c := v.claim(key)
		if c.open > 0 { // somebody waits for an answer of the other, and would take that to our question
			if time.Since(c.moved) < v.waits {
				continue
			}
			c.open, c.looked = 0, time.Time{} // nobody does any more
		}
		if c.yielded && !c.looked.IsZero() && time.Since(c.alive) < v.every {
			continue // it was heard
		}
		pause := v.seldom
		switch fresh := time.Since(v.last) < v.settle; {
		case key == theService && fresh && !c.yielded:
			pause = v.every / 4
		case c.yielded, key == theService, fresh:
			pause = v.every
		}
		if !c.looking && time.Since(c.looked) >= pause {
			c.looking, c.looked = true, time.Now()
			list = append(list, c)
		}
	}
	return list
}

// came notes that the bus is there.
func (v *rivals) came() {
	v.mu.Lock()
	v.greet = true
	v.mu.Unlock()
	v.lookNow()
}

// joined notes that somebody joined the bus, who may begin to answer soon.
func (v *rivals) joined() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = time.Now()
	for _, c := range v.claims {
		if !c.yielded { // who is there already is no other by that
			c.looked = time.Time{}
		}
	}
	v.lookSoon()
}

// lookNow has others looked for at once: the bus came, or somebody left it.
func (v *rivals) lookNow() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.claims {
		c.looked = time.Time{}
	}
	v.lookSoon()
}

// claimed lists the keys of what this host answers for.
func (h *Host) claimed() (keys []string) {
	if h.cfg.Service == ServiceAuto {
		keys = append(keys, theService)
	}
	for id := range h.ids(h.caller(bus.Message{})) {
		keys = append(keys, id)
	}
	return keys
}
