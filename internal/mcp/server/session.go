package server

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// session is a conversation of the legacy era: what the client said of itself,
// what it wants to hear, and over HTTP what goes on in it.
type session struct {
	id     string // empty over stdio
	server *Server
	ctx    context.Context // ends with the session
	cancel context.CancelFunc
	heard  *listener
	stop   func() // stops hearing

	mu      sync.Mutex
	client  *client // nil until it has introduced itself
	level   string
	uris    map[string]struct{} // the resources it wants to hear of
	ended   bool
	serving map[string]context.CancelFunc
	waiting map[string]chan *mcp.Message
	next    int64
	active  int         // requests and streams that are open
	idle    *time.Timer // runs while there are none; nil over stdio
	used    time.Time
	reader  context.CancelFunc // ends the stream that hears of changes
}

// idleFor is how long a session lasts that nobody uses.
const idleFor = 30 * time.Minute

// maxSessions is how many there are at once at most; the one that has been
// idle the longest makes room.
const maxSessions = 1000

func (s *Server) newSession(ctx context.Context, id string) *session {
	sess := &session{
		id: id, server: s, level: "info",
		uris: map[string]struct{}{}, serving: map[string]context.CancelFunc{}, waiting: map[string]chan *mcp.Message{},
	}
	sess.ctx, sess.cancel = context.WithCancel(ctx)
	caller := s.caller
	if id != "" {
		caller.Session = id
	}
	sess.heard = newListener(caller, sess.wants)
	sess.stop = s.listen(sess.heard)
	s.observeSession(1)
	return sess
}

// who gives the client, and the level of messages it wants. One that asks
// before it has introduced itself is taken for one that can do nothing.
func (s *session) who() (*client, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return &client{version: mcp.Legacy, capabilities: json.RawMessage(`{}`)}, ""
	}
	return s.client, s.level
}

// introduce notes who the client is, once.
func (s *session) introduce(c *client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return false
	}
	s.client = c
	return true
}

func (s *session) wants(method, uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return false
	}
	switch method {
	case mcp.NotifyTools, mcp.NotifyPrompts, mcp.NotifyResources, mcp.NotifyElicited:
		return true
	case mcp.NotifyResource:
		_, ok := s.uris[uri]
		return ok
	}
	return false
}

func (s *session) setLevel(text json.RawMessage) (json.RawMessage, error) {
	var p struct {
		Level string `json:"level"`
	}
	if len(text) == 0 || json.Unmarshal(text, &p) != nil || !slices.Contains(logLevels(), p.Level) {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "there is no such level: want one of %v", logLevels())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = p.Level
	return json.RawMessage(`{}`), nil
}

// sessionSubscribes begins to tell a client of the changes of a resource.
func (s *Server) sessionSubscribes(ctx context.Context, v *clientRequest) (json.RawMessage, error) {
	uri, ok := jsonText(v.params.URI)
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "no uri is named")
	}
	sess := v.sess
	sess.mu.Lock()
	_, has := sess.uris[uri]
	full := len(sess.uris) >= maxSubscriptions
	sess.mu.Unlock()
	switch {
	case has:
		return json.RawMessage(`{}`), nil
	case full:
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "at most %d resources can be subscribed to", maxSubscriptions)
	}
	if err := s.subscribe(ctx, v, uri); err != nil {
		return nil, err
	}
	sess.mu.Lock()
	_, twice := sess.uris[uri]
	gone := sess.ended
	if !gone {
		sess.uris[uri] = struct{}{}
	}
	sess.mu.Unlock()
	if twice || gone { // it was asked for twice at once, or by one who has left
		s.unsubscribeAll(v, []string{uri})
	}
	return json.RawMessage(`{}`), nil
}

// sessionUnsubscribes ends that.
func (s *Server) sessionUnsubscribes(ctx context.Context, v *clientRequest) (json.RawMessage, error) {
	uri, ok := jsonText(v.params.URI)
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "no uri is named")
	}
	v.sess.mu.Lock()
	_, has := v.sess.uris[uri]
	delete(v.sess.uris, uri)
	v.sess.mu.Unlock()
	if has {
		if err := s.unsubscribe(ctx, v, uri); err != nil {
			return nil, err
		}
	}
	return json.RawMessage(`{}`), nil
}

// end ends a session and what goes on in it.
func (s *session) end() {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	if s.idle != nil {
		s.idle.Stop()
	}
	uris := slices.Collect(maps.Keys(s.uris))
	clear(s.uris)
	s.mu.Unlock()
	s.cancel()
	s.stop()
	s.server.observeSession(-1)
	if len(uris) > 0 {
		c, _ := s.who()
		// Whoever ends a session does not wait for servers that stand behind tools.
		go s.server.unsubscribeAll(&clientRequest{server: s.server, client: c, sess: s, reply: noReply{}, params: &params{}}, uris)
	}
}

// noReply is the way to a client that has gone.
type noReply struct{}

func (noReply) tell(*mcp.Message) {}

func (noReply) send(context.Context, *mcp.Message) error { return mcp.ErrClosed }

func (noReply) ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, mcp.ErrClosed
}
