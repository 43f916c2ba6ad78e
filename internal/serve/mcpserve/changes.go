package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// listener is a client that is told of changes.
type listener struct {
	outbox
	wants func(method, uri string) bool
}

// outbox keeps what a client is to be told until it can be told. What is in it
// already is not put in again: a list that changed twice has changed.
type outbox struct {
	mu    sync.Mutex
	notes []note
	wake  chan struct{} // has a place for one
}

type note struct {
	method string
	params json.RawMessage
}

// These bound what is kept for a client that does not fetch it.
const (
	maxNotes = 1024
	maxNote  = 16 << 10
)

func newListener(wants func(method, uri string) bool) *listener {
	return &listener{outbox: outbox{wake: make(chan struct{}, 1)}, wants: wants}
}

func (o *outbox) put(n note) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, old := range o.notes {
		if old.method == n.method && bytes.Equal(old.params, n.params) {
			return
		}
	}
	if len(o.notes) >= maxNotes {
		// Rather one of many resources than a list.
		oldest := max(0, slices.IndexFunc(o.notes, func(n note) bool { return n.params != nil }))
		o.notes = slices.Delete(o.notes, oldest, oldest+1)
	}
	o.notes = append(o.notes, n)
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) take() []note {
	o.mu.Lock()
	defer o.mu.Unlock()
	notes := o.notes
	o.notes = nil
	return notes
}

func (s *Server) listen(l *listener) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[l] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, l)
	}
}

// announce tells everyone who wants to know of a change. It does not wait.
func (s *Server) announce(method string, params json.RawMessage) {
	if len(params) > maxNote {
		s.cfg.Log.Warn("a notification is too long, and is not passed on", "method", method, "bytes", len(params))
		return
	}
	uri := ""
	if method == mcp.NotifyResource {
		var p struct {
			URI string `json:"uri"`
		}
		if json.Unmarshal(params, &p) != nil {
			return
		}
		uri = p.URI
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.listeners {
		if l.wants(method, uri) {
			l.put(note{method, params})
		}
	}
}

// These bound what one client may want to hear of.
const (
	maxSubscriptions = 1000
	maxURI           = 8 << 10
)

// subscription is a resource that some clients want to hear of. Its calls are
// made one after another, so that the last to leave and the next to come do not
// cross on their way.
type subscription struct {
	mu    sync.Mutex
	users int

	near int // who is about to use it; guarded by the server's lock
}

func (s *Server) subscription(uri string) (sub *subscription, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub = s.subs[uri]
	if sub == nil {
		sub = &subscription{}
		s.subs[uri] = sub
	}
	sub.near++
	return sub, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if sub.near--; sub.near == 0 && sub.users == 0 {
			delete(s.subs, uri)
		}
	}
}

// subscribe makes the call that begins to watch a resource. It is made for each
// client, since each has to be allowed to.
func (s *Server) subscribe(ctx context.Context, v *visit, uri string) error {
	if len(uri) > maxURI {
		return mcp.Errorf(mcp.CodeInvalidParams, "the uri is too long")
	}
	sub, done := s.subscription(uri)
	defer done()
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if _, err := s.readShelf(ctx, v, mcp.MethodSubscribe, uriParams(uri), acknowledged); err != nil {
		return err
	}
	sub.users++
	return nil
}

// unsubscribe makes the call that ends it when nobody else wants to hear of it.
func (s *Server) unsubscribe(ctx context.Context, v *visit, uri string) error {
	sub, done := s.subscription(uri)
	defer done()
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.users--; sub.users > 0 {
		return nil
	}
	_, err := s.readShelf(ctx, v, mcp.MethodUnsubscribe, uriParams(uri), acknowledged)
	return err
}

// leave ends the subscriptions of a client that has gone.
func (s *Server) leave(v *visit, uris []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, uri := range uris {
		if err := s.unsubscribe(ctx, v, uri); err != nil {
			s.cfg.Log.Debug("a subscription cannot be ended", "uri", uri, "err", err)
		}
	}
}

func uriParams(uri string) json.RawMessage {
	var o object
	o.text("uri", uri)
	return o.end()
}

// acknowledged is the result of a call that only has to be made.
func acknowledged(_ *visit, r *toolcrib.Result, err error) (json.RawMessage, error) {
	if err != nil || r.Failed {
		return nil, shelfError(r, err)
	}
	return json.RawMessage(`{}`), nil
}
