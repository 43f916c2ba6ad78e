package httpapi

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Frontend serves one caller over HTTP.
type Frontend interface {
	Handler() http.Handler
	Close() // ends the sessions; calls under way may finish
}

// callers keeps those apart who have come in, and ends what goes on for one whose
// token was taken away.
type callers struct {
	mu     sync.Mutex
	own    string // the token of the person whose server this is; empty: there is none now
	open   map[Holder]*door
	known  []Holder // who may come in, as open was last compared with
	of     *Access  // what known was made of,
	with   string   // and with which token of our own
	closed bool
}

// door is the way in of one caller. It is shut, with everything that goes on
// behind it, when the token is taken away.
type door struct {
	holder Holder
	ctx    context.Context
	cancel context.CancelFunc
	fronts map[string]front // by route
	until  time.Time        // when their last token of an issuer has expired; zero: it does not
}

// visit is one request of a caller.
type visit struct {
	door  *door
	until time.Time // when the token of the request expires; zero: it does not
}

// A call that began in time may finish when its token has expired meanwhile, a
// stream that only listens may not.
const (
	finishFor = 10 * time.Minute
	listenFor = 30 * time.Second // as much as clocks may differ
)

// front is what one route has for one caller.
type front struct {
	Frontend
	handler http.Handler
}

// serve hands a request on, for as long as its caller may come in.
func (v *visit) serve(h http.Handler, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), callerKey{}, v.door.holder))
	defer cancel()
	defer context.AfterFunc(v.door.ctx, cancel)()
	if !v.until.IsZero() {
		bounded, done := context.WithDeadline(context.WithValue(ctx, untilKey{}, v.until), v.until.Add(finishFor))
		defer done()
		ctx = bounded
		if r.Method == http.MethodGet {
			ctx, done = Listens(ctx)
			defer done()
		}
	}
	h.ServeHTTP(w, r.WithContext(ctx))
}

type callerKey struct{}
type untilKey struct{}

// Listens is the context of a request of a route that only listens, whatever its
// method: it ends soon after the token that it came in by.
func Listens(ctx context.Context) (context.Context, context.CancelFunc) {
	until, ok := ctx.Value(untilKey{}).(time.Time)
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, until.Add(listenFor))
}

// CallerOf tells who sent a request of a route; false: it is a stranger.
func CallerOf(ctx context.Context) (Holder, bool) {
	h, ok := ctx.Value(callerKey{}).(Holder)
	return h, ok
}

// lookAfter is how often it is looked whether tokens were taken away whose
// holders are inside and send nothing.
const lookAfter = 2 * time.Second

// Watch shuts the doors of tokens that were taken away, until ctx ends.
func (a *API) Watch(ctx context.Context) {
	tick := time.NewTicker(lookAfter)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-tick.C:
			own, err := ReadOwnToken(a.cfg.State)
			if err != nil && err.Error() != said && a.cfg.Log != nil {
				said = err.Error()
				a.cfg.Log.Warn("your own token lets nobody in", "err", err)
			}
			a.callers.renew(a.cfg.Access(), own)
			a.callers.sweep(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// renew goes by another token of our own from now on.
func (c *callers) renew(now *Access, own string) {
	c.mu.Lock()
	c.own = own
	c.mu.Unlock()
	c.look(now, func() {})
}

// enter finds the door of who sends a request; nil: it is nobody who may come in.
func (c *callers) enter(now *Access, h http.Header) (d *door) {
	c.look(now, func() {
		if holder, ok := holderOf(c.known, h); ok {
			d = c.doorLocked(holder)
		}
	})
	return d
}

// enterFor finds the door of who came in by a token of the issuer; nil: the issuer
// does not count any more.
func (c *callers) enterFor(now *Access, holder Holder, until time.Time) (d *door) {
	c.look(now, func() {
		if !c.knownLocked(holder) {
			return
		}
		if d = c.doorLocked(holder); d.until.Before(until) {
			d.until = until
		}
	})
	return d
}

// knownLocked reports whether somebody may still come in.
func (c *callers) knownLocked(holder Holder) bool {
	if holder.issuer != "" {
		return c.of.Issuer != nil && c.of.Issuer.ID == holder.issuer
	}
	return slices.Contains(c.known, holder)
}

// sweep shuts the doors of those whose last token has expired long ago: people
// come and go, and what each of them has here takes room.
func (c *callers) sweep(now time.Time) {
	var gone []*door
	c.mu.Lock()
	for holder, d := range c.open {
		if !d.until.IsZero() && now.After(d.until.Add(finishFor)) {
			delete(c.open, holder)
			gone = append(gone, d)
		}
	}
	c.mu.Unlock()
	for _, d := range gone {
		c.shut(d)
	}
}

// look does something with the lock, when it is clear who may come in now. The
// doors of those who may not any more are shut.
func (c *callers) look(now *Access, do func()) {
	c.mu.Lock()
	gone := c.compareLocked(now)
	do()
	c.mu.Unlock()
	for _, d := range gone {
		c.shut(d)
	}
}

// compareLocked notes who may come in now, and takes out the doors of those who
// may not any more. They have to be shut, without the lock.
func (c *callers) compareLocked(now *Access) (gone []*door) {
	if now == c.of && c.own == c.with {
		return nil
	}
	c.of, c.with = now, c.own
	c.known = now.all(c.own)
	for holder, d := range c.open {
		if !c.knownLocked(holder) {
			delete(c.open, holder)
			gone = append(gone, d)
		}
	}
	return gone
}

// doorLocked is the door of a caller, made when they first come.
func (c *callers) doorLocked(holder Holder) *door {
	d := c.open[holder]
	if d == nil {
		d = &door{holder: holder, fronts: map[string]front{}}
		d.ctx, d.cancel = context.WithCancel(context.Background())
		c.open[holder] = d
	}
	return d
}

// shut ends what a caller has here. A request that is under way may be making a
// frontend just now: it closes that itself, since it sees that the door is shut.
func (c *callers) shut(d *door) {
	d.cancel()
	c.mu.Lock()
	fronts := slices.Collect(maps.Values(d.fronts))
	c.mu.Unlock()
	for _, f := range fronts {
		f.Close()
	}
}

// frontend is what a route has for a caller, made when they first come.
func (c *callers) frontend(d *door, route, via string, serve func(Holder) Frontend) http.Handler {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := d.fronts[route]
	if !ok {
		holder := d.holder
		holder.Caller.Frontend = via
		f.Frontend = serve(holder)
		f.handler = f.Handler()
		if c.closed || d.ctx.Err() != nil {
			f.Close()
		}
		d.fronts[route] = f
	}
	return f.handler
}

func (c *callers) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, d := range c.open {
		for _, f := range d.fronts {
			f.Close()
		}
	}
}
