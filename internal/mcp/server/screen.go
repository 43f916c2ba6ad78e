package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// clientScreen is the screen that the clients together are: what a call under way
// asks is shown to the person who uses the client that made it, and to nobody
// else's. It watches the desk while there are such calls, and a little longer:
// to begin a watch costs more than most calls.
type clientScreen struct {
	desk   *desk.Desk
	log    *slog.Logger
	linger time.Duration

	watching sync.Mutex // one watch at a time; guards the next four
	users    int
	stop     func() // nil: the desk is not watched
	idle     *time.Timer
	closed   bool

	mu    sync.Mutex            // guards all below; the desk is never called with it
	calls map[string]*askedCall // calls under way, by ID
	shown map[string]*askedCall // by question
	next  int
}

// askedCall is a call under way. Also one whose client cannot be asked is noted, so
// that its questions are not taken for those of another.
type askedCall struct {
	call    toolcrib.Call
	hear    func(desk.Question) bool // false: there are too many already; nil: its client cannot be asked
	settled func(question string)    // it was answered; nil: nobody has to be told
	over    func()                   // the call has ended; nil: nobody has to be told

	number  int
	started time.Time
}

func newClientScreen(d *desk.Desk, log *slog.Logger) *clientScreen {
	return &clientScreen{desk: d, log: log, linger: 30 * time.Second, calls: map[string]*askedCall{}, shown: map[string]*askedCall{}}
}

// close ends the watch.
func (p *clientScreen) close() {
	p.watching.Lock()
	defer p.watching.Unlock()
	p.closed = true
	p.unwatchLocked()
}

// begin notes a call that is about to be made. It has to be ended.
func (p *clientScreen) begin(ctx context.Context, g *askedCall) error {
	// Known before the desk is watched: what is told first may be its own.
	p.mu.Lock()
	p.next++
	g.number, g.started = p.next, time.Now()
	if _, twice := p.calls[g.call.ID]; !twice {
		p.calls[g.call.ID] = g
	}
	p.mu.Unlock()
	if g.hear == nil {
		return nil
	}
	if err := p.watch(ctx); err != nil {
		p.forget(g)
		return err
	}
	return nil
}

func (p *clientScreen) end(g *askedCall) {
	p.forget(g)
	if g.over != nil {
		g.over()
	}
	if g.hear == nil {
		return
	}
	p.watching.Lock()
	defer p.watching.Unlock()
	if p.users--; p.users > 0 || p.stop == nil {
		return
	}
	if p.closed {
		p.unwatchLocked()
		return
	}
	p.idle = time.AfterFunc(p.linger, func() {
		p.watching.Lock()
		defer p.watching.Unlock()
		if p.users == 0 {
			p.unwatchLocked()
		}
	})
}

func (p *clientScreen) forget(g *askedCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[g.call.ID] == g {
		delete(p.calls, g.call.ID)
	}
	for id, by := range p.shown {
		if by == g {
			delete(p.shown, id)
		}
	}
}

func (p *clientScreen) watch(ctx context.Context) error {
	p.watching.Lock()
	defer p.watching.Unlock()
	if p.idle != nil {
		p.idle.Stop()
		p.idle = nil
	}
	if p.stop == nil {
		events, stop, err := p.desk.Watch(context.WithoutCancel(ctx), desk.Screen{
			Name: "mcp", Sees: func(q desk.Question) bool { return p.callFor(&q) != nil }, Buffer: 256,
		})
		if err != nil {
			return err
		}
		p.stop = stop
		go func() {
			for ev := range events {
				p.hear(ev.Question)
			}
		}()
	}
	p.users++
	return nil
}

func (p *clientScreen) unwatchLocked() {
	if p.idle != nil {
		p.idle.Stop()
		p.idle = nil
	}
	if p.stop != nil && p.users == 0 {
		p.stop()
		p.stop = nil
	}
}

// callFor finds the call a question is to be asked in: the one that asks, or for a
// call that a tool made, the oldest of the same conversation. Where clients have
// no conversations nobody is asked about such: it could be anybody's.
func (p *clientScreen) callFor(q *desk.Question) *askedCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	its := func(g *askedCall) bool {
		c := g.call.Caller
		return g.hear != nil && c.Subject == q.Caller.Subject && c.Organisation == q.Caller.Organisation
	}
	if g := p.calls[q.Call]; g != nil {
		if its(g) {
			return g
		}
		return nil
	}
	if q.Caller.Session == "" {
		return nil
	}
	var oldest *askedCall
	for _, g := range p.calls {
		if !its(g) || g.call.Caller.Session != q.Caller.Session || q.Asked.Before(g.started) && !q.Asked.IsZero() {
			continue
		}
		if oldest == nil || g.number < oldest.number {
			oldest = g
		}
	}
	return oldest
}

// hear hands a question to the call it is asked in, once, and tells it when it
// was settled.
func (p *clientScreen) hear(q desk.Question) {
	g := p.callFor(&q)
	p.mu.Lock()
	if g != nil && p.calls[g.call.ID] != g {
		g = nil // it has ended since, and the next one is to hear of it
	}
	before := p.shown[q.ID]
	switch {
	case q.State != desk.Open:
		delete(p.shown, q.ID)
	case before == nil && g != nil:
		p.shown[q.ID] = g
	}
	p.mu.Unlock()
	switch {
	case q.State != desk.Open && before != nil:
		if before.settled != nil {
			before.settled(q.ID)
		}
	case q.State == desk.Open && before == nil && g != nil:
		if !g.hear(q) {
			p.log.Warn("too many questions in one call; this one is not shown to its client", "question", q.ID)
		}
	}
}
