package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// In the modern era a server makes no requests. What it wants of a client goes
// into a result, and the client repeats its request with the answers. The call
// waits meanwhile.

// roundsCall is a call whose client can be asked in rounds. It is the client for
// whoever runs the call.
type roundsCall struct {
	job    *job
	key    string // names it in the state
	first  int    // bytes of the request that began it
	cancel context.CancelFunc
	rounds chan *round
	timer  *time.Timer // ends it if the client does not come back

	// Guarded by the server's lock.
	turn    int
	parked  bool   // it waits for its client to come back
	pending *round // what the client was asked
	held    int    // bytes that are kept while it waits: requests, and the result
	size    int    // of the result, once there is one

	done   chan struct{}
	result *toolcrib.Result
	err    error

	mu sync.Mutex
	v  *clientRequest // of the request that it is attended in; the last one while there is none
	at bool           // there is one
	// What the client brought with a request that nothing waited for: it knows
	// what it will be asked, or the call it came back for is gone.
	brought map[string]json.RawMessage
}

// round is one thing a client is asked for. answer takes what it brings, and
// gives what to ask again if that cannot be taken; settled: a person has decided
// something.
type round struct {
	requests map[string]mcp.Request
	answer   func(ctx context.Context, v *clientRequest, brought map[string]json.RawMessage) (again *round, settled bool)
}

var _ mcp.Peer = (*roundsCall)(nil)

// inRounds reports whether a request can be answered with a wish for more.
func inRounds(method string) bool {
	return method == mcp.MethodToolsCall || method == mcp.MethodPromptsGet || method == mcp.MethodResourcesRead
}

// doInRounds makes a call, or goes on with one that waited for this request.
func (s *Server) doInRounds(ctx context.Context, v *clientRequest, j *job) (json.RawMessage, error) {
	var f *roundsCall
	if state, ok := jsonText(v.params.State); ok && state != "" {
		at, err := s.readState(state, j)
		if err != nil {
			return nil, err
		}
		if f, err = s.unpark(at.key, at.turn); err != nil {
			return nil, err
		}
		if f == nil {
			// It has ended, or this process is another: the journal knows what became of
			// it, and a call that it knows is not made again.
			j.call.ID = at.call
		}
	} else if len(v.params.State) > 0 && string(v.params.State) != "null" && !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "the requestState is not a text")
	}
	if f != nil {
		f.attend(v)
		again, settled := f.pending.answer(ctx, v, objectMembers(v.params.Responses))
		if again != nil {
			return s.park(v, f, again)
		}
		select {
		case <-f.done:
			if code := toolcrib.CodeOf(f.err); settled && !j.named && (code == toolcrib.CodeTimeout || code == toolcrib.CodeCancelled) {
				s.forget(f)
				f = nil // the answer came after the call had given up, and is kept for this one
			}
		default:
		}
	}
	if f == nil { // also one that is gone
		var err error
		if f, err = s.startCall(ctx, v, j); err != nil {
			return j.encode(v, nil, unwatched(j.call.Tool, err))
		}
	}
	hangUp := context.AfterFunc(ctx, f.cancel) // a client that cancels its request cancels the call
	for {
		select {
		case <-f.done:
			hangUp()
			f.leave()
			s.forget(f)
			return j.encode(v, f.result, f.err)
		case r := <-f.rounds:
			if hangUp() {
				return s.park(v, f, r)
			}
			// Cancelled: the end is near.
		}
	}
}

// startCall starts a call. It lives on when the request has been answered with a
// wish for more.
func (s *Server) startCall(ctx context.Context, v *clientRequest, j *job) (*roundsCall, error) {
	if j.call.ID == "" {
		j.call.ID = callid.New(s.now())
	}
	f := &roundsCall{job: j, key: rand.Text(), first: len(v.raw), rounds: make(chan *round, 16), done: make(chan struct{}), v: v, at: true, brought: objectMembers(v.params.Responses)}
	var asked *askedCall
	if s.screen != nil {
		asked = &askedCall{call: j.call}
		if v.client.form {
			asked.hear = func(q desk.Question) bool {
				select {
				case f.rounds <- s.approval(s.newForm(&q)):
					return true
				default:
					return false
				}
			}
		}
		if err := s.screen.begin(ctx, asked); err != nil {
			return nil, err
		}
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f.cancel = cancel
	s.mu.Lock()
	s.roundsCalls[f.key] = f
	s.mu.Unlock()
	stop := s.follow(v, &j.call, f.passEvent)
	go func() {
		defer close(f.done)
		defer cancel()
		f.result, f.err = s.cfg.Crib.Call(mcp.WithPeer(life, f), j.call)
		stop()
		if asked != nil {
			s.screen.end(asked)
		}
		s.countResult(f)
	}()
	return f, nil
}

// attend notes the request that the call is attended in now.
func (f *roundsCall) attend(v *clientRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.v, f.at = v, true
}

// leave notes that there is none.
func (f *roundsCall) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = false
}

func (f *roundsCall) now() (v *clientRequest, there bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.v, f.at
}

func (f *roundsCall) passEvent(ev toolcrib.Event) {
	if v, there := f.now(); there {
		v.passEvent(ev)
	}
}

// Version is the version of the protocol the client speaks.
func (f *roundsCall) Version() string { return f.client().version }

// Capabilities is what the client says it can be asked for.
func (f *roundsCall) Capabilities() json.RawMessage { return f.client().capabilities }

func (f *roundsCall) client() *client {
	v, _ := f.now()
	return v.client
}

// LogLevel is the level of messages the client wants.
func (f *roundsCall) LogLevel() string {
	v, _ := f.now()
	return v.level
}

// Log passes on a log message, if the client wants such and is there.
func (f *roundsCall) Log(params json.RawMessage) {
	if v, there := f.now(); there {
		v.Log(params)
	}
}

// broughtAlready gives what the client brought unasked, if that is all that is
// asked for first. People's approvals are never given so: they are for what was
// shown.
func (f *roundsCall) broughtAlready(requests map[string]mcp.Request) map[string]json.RawMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.brought
	f.brought = nil
	for key := range requests {
		if _, ok := b[key]; !ok {
			return nil
		}
	}
	return b
}

// Ask has the request answered with a wish for more, and waits for what the
// client brings.
func (f *roundsCall) Ask(ctx context.Context, requests map[string]mcp.Request) (map[string]json.RawMessage, error) {
	c := f.client()
	for _, r := range requests {
		if e := c.missingCapability(r); e != nil {
			return nil, e
		}
	}
	if b := f.broughtAlready(requests); b != nil {
		return b, nil
	}
	brought := make(chan map[string]json.RawMessage, 1)
	r := &round{requests: requests, answer: func(_ context.Context, _ *clientRequest, b map[string]json.RawMessage) (*round, bool) {
		brought <- b
		return nil, false
	}}
	select {
	case f.rounds <- r:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case b := <-brought:
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
