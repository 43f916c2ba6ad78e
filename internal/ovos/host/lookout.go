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
	asked := false
	for _, key := range keys {
		c := v.claim(key)
		pause := v.seldom
		switch fresh := time.Since(v.last) < v.settle; {
		case key == theService && fresh:
			pause = v.every / 4
		case c.yielded, key == theService, fresh:
			pause = v.every
		}
		// One that answers is there, and what one of its toolboxes is asked all of them
		// answer: the others are looked at again after that.
		settled := c.yielded && key != theService && !c.looked.IsZero()
		if settled && (asked || time.Since(c.alive) < pause) {
			continue
		}
		if !c.looking && time.Since(c.looked) >= pause {
			asked = asked || settled
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
	v.last = time.Now()
	v.mu.Unlock()
	v.lookNow()
}

// lookNow has others looked for at once: somebody came or left.
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
