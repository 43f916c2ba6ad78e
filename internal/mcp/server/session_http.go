package server

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// openSession begins a session over HTTP.
func (s *Server) openSession(id string) *session {
	sess := s.newSession(context.Background(), id)
	sess.used = time.Now()
	sess.idle = time.AfterFunc(idleFor, func() { s.dropSession(sess, true) })
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		sess.end()
		return nil
	}
	var oldest *session
	if len(s.sessions) >= maxSessions {
		for _, other := range s.sessions {
			other.mu.Lock()
			if other.active == 0 && (oldest == nil || other.used.Before(oldest.used)) {
				oldest = other
			}
			other.mu.Unlock()
		}
		if oldest == nil {
			s.mu.Unlock()
			sess.end()
			return nil
		}
		delete(s.sessions, oldest.id)
	}
	s.sessions[id] = sess
	s.mu.Unlock()
	if oldest != nil {
		oldest.end()
	}
	return sess
}

// dropSession ends a session; idle: only if nobody uses it.
func (s *Server) dropSession(sess *session, idle bool) {
	s.mu.Lock()
	sess.mu.Lock()
	busy := idle && sess.active > 0
	sess.mu.Unlock()
	if !busy && s.sessions[sess.id] == sess {
		delete(s.sessions, sess.id)
	}
	s.mu.Unlock()
	if !busy {
		sess.end()
	}
}

// useSession finds a session for a request; nil: there is none. It has to be left.
func (s *Server) useSession(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions[id]
	if sess == nil {
		return nil
	}
	sess.mu.Lock()
	defer sess.mu.Unlock()
	sess.active++
	sess.idle.Stop()
	return sess
}

func (s *session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	s.used = time.Now()
	if s.active == 0 && !s.ended {
		s.idle.Reset(idleFor)
	}
}

// begin notes a request, so that it can be cancelled. Its context ends with the
// response it is answered in, or with the session.
func (s *session) begin(ctx context.Context, id json.RawMessage) (context.Context, func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	key := string(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.serving[key]; twice {
		stop()
		cancel()
		return nil, nil, mcp.Errorf(mcp.CodeInvalidRequest, "a request with this id is under way")
	}
	s.serving[key] = cancel
	return ctx, sync.OnceFunc(func() {
		stop()
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.serving, key)
	}), nil
}

// cancelled ends a request that the client has given up.
func (s *session) cancelled(text json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(text, &p) != nil {
		return
	}
	s.mu.Lock()
	cancel := s.serving[string(p.ID)]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// answered takes an answer to a request of ours to whoever waits for it.
func (s *session) answered(m *mcp.Message) {
	s.mu.Lock()
	waiting := s.waiting[string(m.ID)]
	delete(s.waiting, string(m.ID)) // a second answer is nobody's
	s.mu.Unlock()
	if waiting != nil {
		waiting <- m
	}
}

// ask makes a request of ours on a stream of the session, and waits for the
// answer, which comes with a request of its own.
func (s *session) ask(ctx context.Context, on *messageWriter, method string, params json.RawMessage) (json.RawMessage, error) {
	answer := make(chan *mcp.Message, 1)
	s.mu.Lock()
	s.next++
	id := json.RawMessage(strconv.FormatInt(s.next, 10))
	s.waiting[string(id)] = answer
	s.mu.Unlock()
	forget := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, string(id))
	}
	if err := on.send(ctx, &mcp.Message{ID: id, Method: method, Params: params}); err != nil {
		forget()
		return nil, err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, m.Error
		}
		return m.Result, nil
	case <-ctx.Done():
		forget()
		var o object
		o.raw("requestId", id)
		o.text("reason", "nobody waits for it any more")
		on.tell(&mcp.Message{Method: mcp.NotifyCancelled, Params: o.end()})
		return nil, ctx.Err()
	case <-s.ctx.Done():
		forget()
		return nil, errors.Join(mcp.ErrClosed, errors.New("the session has ended"))
	}
}
