package server

import (
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
	caller toolcrib.Caller
	wants  func(method, uri string) bool
}

// outbox keeps what a client is to be told until it can be told. What is in it
// already is not put in again: a list that changed twice has changed.
type outbox struct {
	mu    sync.Mutex
	notes []note
	keys  map[noteKey]struct{} // of the notes
	wake  chan struct{}        // has a place for one
}

type note struct {
	noteKey
	params json.RawMessage
}

// noteKey says what a notification is about: about names the resource or the
// elicitation, and is empty for lists.
type noteKey struct{ method, about string }

// These bound what is kept for a client that does not fetch it.
const (
	maxNotes = 1024
	maxNote  = 16 << 10
)

func newListener(caller toolcrib.Caller, wants func(method, uri string) bool) *listener {
	return &listener{outbox: outbox{wake: make(chan struct{}, 1)}, caller: caller, wants: wants}
}

func (o *outbox) add(n note) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, there := o.keys[n.noteKey]; there {
		return
	}
	if len(o.notes) >= maxNotes {
		// Rather one of many resources than a list.
		oldest := max(0, slices.IndexFunc(o.notes, func(n note) bool { return n.about != "" }))
		delete(o.keys, o.notes[oldest].noteKey)
		o.notes = slices.Delete(o.notes, oldest, oldest+1)
	}
	if o.keys == nil {
		o.keys = map[noteKey]struct{}{}
	}
	o.keys[n.noteKey] = struct{}{}
	o.notes = append(o.notes, n)
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) drain() []note {
	o.mu.Lock()
	defer o.mu.Unlock()
	notes := o.notes
	o.notes, o.keys = nil, nil
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

// announce tells everyone who wants to know of a change and may: hears says who
// does, nil means all. It does not wait.
func (s *Server) announce(method string, params json.RawMessage, hears func(toolcrib.Caller) bool) {
	n, ok := newNote(method, params)
	if !ok {
		s.cfg.Log.Debug("a notification is not passed on", "bytes", len(params))
		return
	}
	s.mu.Lock()
	all := make([]*listener, 0, len(s.listeners))
	for l := range s.listeners {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all { // without the lock: whoever brings many changes must not stop everything else
		if (hears == nil || hears(l.caller)) && l.wants(n.method, n.about) {
			l.add(n)
		}
	}
}

// newNote makes a notification of a change. Nothing else is taken: what comes
// from a server that stands behind tools must not be able to say anything to
// every client.
func newNote(method string, params json.RawMessage) (n note, ok bool) {
	n.method = method
	key := ""
	switch method {
	case mcp.NotifyTools, mcp.NotifyPrompts, mcp.NotifyResources:
		return n, true // there is nothing more to say
	case mcp.NotifyResource:
		key = "uri"
	case mcp.NotifyElicited:
		key = "elicitationId"
	default:
		return n, false
	}
	if len(params) > maxNote {
		return n, false
	}
	n.about, ok = jsonText(objectMembers(params)[key])
	n.params = params
	return n, ok && n.about != ""
}

// These bound what one client may want to hear of.
const (
	maxSubscriptions = 1000
	maxURI           = 8 << 10
	maxURIs          = 512 << 10 // together, of one request that listens
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
func (s *Server) subscribe(ctx context.Context, v *clientRequest, uri string) error {
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

// unsubscribe makes the call that ends it for one client.
func (s *Server) unsubscribe(ctx context.Context, v *clientRequest, uri string) error {
	sub, done := s.subscription(uri)
	defer done()
	sub.mu.Lock()
	defer sub.mu.Unlock()
	sub.users--
	_, err := s.readShelf(ctx, v, mcp.MethodUnsubscribe, uriParams(uri), acknowledged)
	return err
}

// unsubscribeAll ends the subscriptions of a client that has gone.
func (s *Server) unsubscribeAll(v *clientRequest, uris []string) {
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
func acknowledged(_ *clientRequest, r *toolcrib.Result, err error) (json.RawMessage, error) {
	if err != nil || r.Failed {
		return nil, shelfError(r, err)
	}
	return json.RawMessage(`{}`), nil
}
