package mcphub

import (
	"context"
	"errors"
	"sync"
	"time"
)

// failure is a server that could not be listed, kept for the next process: each
// would wait for it anew.
type failure struct {
	Of    string    `json:"of"` // how the server was set up
	At    time.Time `json:"at"`
	Err   string    `json:"error"`
	Why   string    `json:"why,omitempty"` // of a [StartError]
	Times int       `json:"times"`         // in a row
	// Late: one of the person's own was not waited for any longer, which may be the
	// fault of a busy machine.
	Late bool `json:"late,omitzero"`
}

// A server that could not be listed is not waited for so long, and twice as long
// each time it fails again.
const (
	unwaitedLate  = 20 * time.Second
	unwaitedLeast = 10 * time.Minute
	unwaitedMost  = 24 * time.Hour
)

func (f failure) until() time.Time {
	least, most := unwaitedLeast, unwaitedMost
	if f.Late {
		least, most = unwaitedLate, unwaitedLeast
	}
	return f.At.Add(min(least<<min(max(f.Times-1, 0), 10), most))
}

// Await asks every server that was never listed, all at once, and gives them
// a while. Who takes longer is listed when it answers, and so is who has failed
// of late.
func (h *Hub) Await(ctx context.Context, wait time.Duration) {
	if wait <= 0 {
		for _, b := range h.Boxes() {
			if b.server.Eager {
				b.refreshInBackground(failure{})
			}
		}
		return
	}
	limit, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var all sync.WaitGroup
	for _, b := range h.Boxes() {
		if b.listed() && !b.server.Eager {
			continue
		}
		was, known := b.failed()
		if known && !b.server.Eager && b.now().Before(was.until()) {
			h.needs.Log.Info("an MCP server could not be listed before and is not waited for", "server", b.name, "err", was.Err)
			if !b.server.Own || was.Late { // a person's file that failed is another one when it is mended
				b.refreshInBackground(was)
			}
			continue
		}
		all.Go(func() {
			if err := b.refresh(limit); err != nil {
				if _, logged := errors.AsType[*StartError](err); !logged { // that it did not start was
					h.needs.Log.Warn("an MCP server cannot be listed", "server", b.name, "err", err)
				}
				late := b.server.Own && limit.Err() != nil && errors.Is(err, context.DeadlineExceeded)
				if ctx.Err() == nil {
					b.remember(was, err, late)
				}
				if late { // it has as long as its start may take
					b.refreshInBackground(was)
				}
			}
		})
	}
	all.Wait()
}

// refreshInBackground asks a server without anybody waiting for it.
func (b *Box) refreshInBackground(was failure) {
	if b.hub.needs.ReadOnly {
		return
	}
	b.mu.Lock() // so that the end of the box sees it, or it sees the end
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return
	}
	b.asking.Go(func() {
		ctx, cancel := context.WithTimeout(b.ctx, b.server.Starting)
		defer cancel()
		if err := b.refresh(ctx); err != nil && b.ctx.Err() == nil {
			b.remember(was, err, false)
		}
	})
}

// failed is how the server failed last, as it is set up now.
func (b *Box) failed() (failure, bool) {
	var f failure
	ok, err := b.hub.store.Load("failed-"+b.name, &f)
	if err != nil {
		b.hub.needs.Log.Debug("how an MCP server failed cannot be read", "server", b.name, "err", err)
	}
	if err != nil || !ok || f.Of != b.fingerprint() {
		return failure{}, false
	}
	return f, true
}

// remember keeps that a server which was never listed has failed.
func (b *Box) remember(was failure, err error, late bool) {
	if b.listed() {
		return
	}
	f := failure{Of: b.fingerprint(), At: b.now(), Err: clip(b.hub.redact(plainly(err))), Times: was.Times + 1, Late: late}
	if failed, ok := errors.AsType[*StartError](err); ok {
		f.Why = clip(failed.Why)
	}
	if err := b.hub.store.Save("failed-"+b.name, f); err != nil {
		b.hub.needs.Log.Warn("that an MCP server failed cannot be kept", "server", b.name, "err", err)
	}
}

// FailedBy reports whether the server failed last for this cause, in this process or, if it was never listed, in another:
// what [Status] says of it then tells the cause already.
func (b *Box) FailedBy(err error) bool {
	why := b.hub.redact(b.whyNot(err))
	if was, ok := b.failed(); ok && !b.listed() && was.Why == clip(why) {
		return true
	}
	for _, i := range b.running() {
		i.mu.Lock()
		failed, ok := errors.AsType[*StartError](i.startErr)
		i.mu.Unlock()
		if ok && failed.Why == why {
			return true
		}
	}
	return false
}

// plainly says why a server did not come up, without the way that the error took.
func plainly(err error) string {
	if failed, ok := errors.AsType[*StartError](err); ok {
		return failed.brief()
	}
	return err.Error()
}
