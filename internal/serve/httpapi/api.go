// Package httpapi is what every endpoint over HTTP stands behind: who calls, under
// which name, how much at once, and how a refusal looks. [API] serves routes that
// have all of it; the bus and the public mcpserver, which serve by themselves, use
// its parts. Frontends, joints, the wiring and the command line import it.
//
// Its one invariant: nobody is let in by what a request says of itself; only by a
// token, or where the settings say that everybody on this machine may.
package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

// Config is what an API goes by.
type Config struct {
	State  string         // the directory where the token of our own lies
	Access func() *Access // who may come in now
	Names  Names          // under which names it is called
	Log    *slog.Logger   // nil: nothing is told
}

// API serves routes over HTTP. Whoever adds one decides only whether strangers may
// use it: names, callers, limits and refusals are the same for all.
type API struct {
	cfg     Config
	mux     *http.ServeMux
	callers callers
}

// New makes an API without routes. It has to be closed.
func New(cfg Config) (*API, error) {
	own, err := OwnToken(cfg.State)
	if err != nil {
		return nil, err
	}
	a := &API{cfg: cfg, mux: http.NewServeMux(), callers: callers{own: own, open: map[Holder]*door{}}}
	a.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		DropBody(w)
		Fail(w, http.StatusNotFound, "there is nothing at this path, or not by this method")
	})
	a.mux.HandleFunc("GET "+metadataPath, a.describe)
	a.mux.HandleFunc("GET "+metadataPath+"/{of...}", a.describe)
	return a, nil
}

// Handle adds a route for those who may come in. The handler finds them by
// [CallerOf], and its request ends when their token is taken away.
func (a *API) Handle(pattern string, h http.Handler) {
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if v := a.admit(w, r); v != nil {
			v.serve(h, w, r)
		}
	})
}

// HandleEach adds a route where each caller has a frontend of their own, so that
// a session begun by one cannot be used by another. via is how they come in, as
// rules and the journal see it.
func (a *API) HandleEach(pattern, via string, serve func(Holder) Frontend) {
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if v := a.admit(w, r); v != nil {
			v.serve(a.callers.frontend(v.door, pattern, via, serve), w, r)
		}
	})
}

// HandlePublic adds a route that everybody may use who reaches the server.
// [CallerOf] tells who of them has a token.
func (a *API) HandlePublic(pattern string, h http.Handler) {
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if v, err := a.enter(r); v != nil && err == nil {
			v.serve(h, w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// ServeHTTP answers a request that came under a name of ours.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // whoever wants it reads it by ReadBody, which has more patience
		DropBody(w)
	}
	a.cfg.Names.Guard(a.mux).ServeHTTP(w, r)
}

// Serve answers on the listener until ctx ends. Requests under way get a few
// seconds to finish.
func (a *API) Serve(ctx context.Context, ln net.Listener) error {
	watched, leave := context.WithCancel(ctx)
	defer leave()
	go a.Watch(watched)
	srv := NewServer(a, a.cfg.Log)
	srv.RegisterOnShutdown(a.Close) // streams end at once
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return srv.Close() // event streams never end by themselves
}

// Close ends the sessions. Calls under way may finish.
func (a *API) Close() { a.callers.close() }

// admit gives the way in of who sends a request, or refuses it.
func (a *API) admit(w http.ResponseWriter, r *http.Request) *visit {
	v, err := a.enter(r)
	if v != nil && err == nil {
		return v
	}
	if issuer := a.cfg.Access().Issuer; issuer != nil {
		issuer.refuse(w, r, err)
		return nil
	}
	Unauthorized(w, "a token is needed, as the header Authorization: Bearer TOKEN. 'toolcrib connect CLIENT --http' gives yours to a client, 'toolcrib token show' shows it.")
	return nil
}

// enter finds the way in of who sends a request. With nil it is nobody who may come
// in; the error says what is wrong with the token that they sent.
func (a *API) enter(r *http.Request) (*visit, error) {
	now := a.cfg.Access()
	if d := a.callers.enter(now, r.Header); d != nil {
		return &visit{door: d}, nil
	}
	token, sent := Bearer(r.Header)
	if !sent {
		return nil, nil
	}
	if now.Issuer == nil || strings.Count(token, ".") != 2 {
		return nil, errUnknown
	}
	holder, until, err := now.Issuer.admit(r.Context(), token)
	if err != nil {
		return nil, err
	}
	d := a.callers.enterFor(a.cfg.Access(), holder, until)
	if d == nil { // the settings have changed meanwhile
		return nil, errUnknown
	}
	return &visit{door: d, until: until}, nil
}

var errUnknown = errors.New("nobody here knows it")
