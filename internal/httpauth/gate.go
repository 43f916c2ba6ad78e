// Package httpauth is how frontends over HTTP know who calls: by a bearer token of
// the settings, or by the token that only the account can read whose server this
// is. Every frontend over HTTP stands behind its Gate, which keeps callers apart
// and ends what goes on behind a token that was taken away. The wiring and the
// command line import it.
//
// Its one invariant: nobody is let in by what a request says of itself; only by a
// token, or where the settings say that everybody on this machine may.
package httpauth

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Gate finds out who calls over HTTP and hands each caller to a server of
// their own: a session begun under one token cannot be used with another. It
// goes by the tokens of the settings that hold now, and by the one token that
// only the account can read whose server this is.
type Gate struct {
	needs Config

	mu     sync.Mutex
	own    string // the token of the person whose server this is; empty: there is none now
	open   map[Holder]*door
	known  []Holder // who may come in, as open was last compared with
	of     *Access  // what known was made of,
	with   string   // and with which token of our own
	closed bool
}

// door is the way in of one holder of a token. It is shut, with everything that
// goes on behind it, when the token is taken away.
type door struct {
	server  Frontend
	handler http.Handler
	ctx     context.Context
	cancel  context.CancelFunc
}

func (d *door) shut() {
	d.cancel()
	d.server.Close()
}

// Frontend serves one caller over HTTP.
type Frontend interface {
	Handler() http.Handler
	Close() // ends the sessions; calls under way may finish
}

// Config is what a gate goes by.
type Config struct {
	State  string                // the directory where the token of our own lies
	Access func() *Access        // who may come in now
	Serve  func(Holder) Frontend // makes the server of a caller
	Log    *slog.Logger          // nil: nothing is told
}

// New opens the door to whoever the settings name, and to the person's own
// clients.
func New(needs Config) (*Gate, error) {
	own, err := OwnToken(needs.State)
	if err != nil {
		return nil, err
	}
	return &Gate{needs: needs, own: own, open: map[Holder]*door{}}, nil
}

// lookAfter is how often it is looked whether tokens were taken away whose
// holders are inside and send nothing.
const lookAfter = 2 * time.Second

// Watch shuts the doors of tokens that were taken away, until ctx ends.
func (g *Gate) Watch(ctx context.Context) {
	tick := time.NewTicker(lookAfter)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-tick.C:
			own, err := ReadOwnToken(g.needs.State)
			if err != nil && err.Error() != said && g.needs.Log != nil {
				said = err.Error()
				g.needs.Log.Warn("your own token lets nobody in", "err", err)
			}
			g.mu.Lock()
			g.own = own
			g.mu.Unlock()
			g.look(func() {})
		case <-ctx.Done():
			return
		}
	}
}

// ServeHTTP lets a request through to the server of its caller.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := g.enter(r.Header.Values("Authorization"))
	if d == nil {
		// A stranger's message is not waited for; not every reader has deadlines.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lookAfter))
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a token is needed, as the header Authorization: Bearer TOKEN. 'toolcrib connect CLIENT --http' gives yours to a client, 'toolcrib token show' shows it.", http.StatusUnauthorized)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(d.ctx, cancel)()
	d.handler.ServeHTTP(w, r.WithContext(ctx))
}

// enter finds the door of who sends a request; nil: it is nobody who may come in.
func (g *Gate) enter(authorization []string) (d *door) {
	g.look(func() {
		if holder, ok := holderOf(g.known, authorization); ok {
			d = g.doorLocked(holder)
		}
	})
	return d
}

// Knows reports whether a request comes from somebody with a token.
func (g *Gate) Knows(authorization []string) (ok bool) {
	g.look(func() { _, ok = holderOf(g.known, authorization) })
	return ok && len(authorization) > 0
}

// look does something with the lock, when it is clear who may come in now. The
// doors of those who may not any more are shut.
func (g *Gate) look(do func()) {
	g.mu.Lock()
	gone := g.compareLocked()
	do()
	g.mu.Unlock()
	for _, d := range gone {
		d.shut()
	}
}

// compareLocked notes who may come in now, and takes out the doors of those who
// may not any more. They have to be shut, without the lock.
func (g *Gate) compareLocked() (gone []*door) {
	of := g.needs.Access()
	if of == g.of && g.own == g.with {
		return nil
	}
	g.of, g.with = of, g.own
	g.known = of.all(g.own)
	for holder, d := range g.open {
		if !slices.Contains(g.known, holder) {
			delete(g.open, holder)
			gone = append(gone, d)
		}
	}
	return gone
}

// doorLocked is the door of a caller, made when they first come.
func (g *Gate) doorLocked(holder Holder) *door {
	if d := g.open[holder]; d != nil {
		return d
	}
	d := &door{server: g.needs.Serve(holder)}
	d.handler = d.server.Handler()
	d.ctx, d.cancel = context.WithCancel(context.Background())
	if g.closed {
		d.server.Close()
	}
	g.open[holder] = d
	return d
}

// Close ends the sessions. Calls under way may finish.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, d := range g.open {
		d.server.Close()
	}
}
