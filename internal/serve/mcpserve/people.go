package mcpserve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// people is the screen that the clients together are: what a call under way
// asks is shown to the person who uses the client that made it, and to nobody
// else's. It watches the desk only while there are such calls.
type people struct {
	desk *desk.Desk
	log  *slog.Logger

	watching sync.Mutex // one watch at a time; guards users and stop
	users    int
	stop     func()

	mu      sync.Mutex         // guards all below; the desk is never called with it
	flights map[string]*flight // under way, by call ID
	parked  map[string]*flight // waiting for their client to come back, by a secret
	shown   map[string]*flight // by question
	next    int
}

// flight is a call whose client can be asked.
type flight struct {
	call    toolcrib.Call
	named   bool // the client gave the call its ID
	number  int
	started time.Time
	asks    chan desk.Question
	settled chan string // questions that were answered elsewhere
	cancel  context.CancelFunc
	timer   *time.Timer    // ends it if the client does not come back
	pending *desk.Question // what the client was asked when it was parked
	tries   int            // how often the pending question was put

	done   chan struct{}
	result *mcp.CallToolResult
	err    error
}

func newPeople(d *desk.Desk, log *slog.Logger) *people {
	return &people{desk: d, log: log, flights: map[string]*flight{}, parked: map[string]*flight{}, shown: map[string]*flight{}}
}

// close ends what waits for a client that will not come back.
func (p *people) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for secret, f := range p.parked {
		f.timer.Stop()
		f.cancel()
		delete(p.parked, secret)
	}
}

// begin notes a call and starts it.
func (p *people) begin(ctx context.Context, call toolcrib.Call, run func(context.Context, toolcrib.Call) (*mcp.CallToolResult, error)) (*flight, error) {
	f := &flight{
		call: call, named: call.ID != "", started: time.Now(),
		asks: make(chan desk.Question, 16), settled: make(chan string, 16), done: make(chan struct{}),
	}
	if !f.named {
		f.call.ID = toolcrib.NewID(f.started)
	}
	// Known before the desk is watched: what is told first may be its own.
	p.mu.Lock()
	p.next++
	f.number = p.next
	if _, twice := p.flights[f.call.ID]; !twice {
		p.flights[f.call.ID] = f
	}
	p.mu.Unlock()
	if err := p.watch(ctx); err != nil {
		p.forget(f)
		return nil, err
	}
	// A client that is asked may come back with another request.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f.cancel = cancel
	go func() {
		defer close(f.done)
		defer cancel()
		f.result, f.err = run(life, f.call)
		p.forget(f)
		p.unwatch()
	}()
	return f, nil
}

func (p *people) forget(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flights[f.call.ID] == f {
		delete(p.flights, f.call.ID)
	}
	for id, by := range p.shown {
		if by == f {
			delete(p.shown, id)
		}
	}
}

func (p *people) watch(ctx context.Context) error {
	p.watching.Lock()
	defer p.watching.Unlock()
	if p.users == 0 {
		events, stop, err := p.desk.Watch(context.WithoutCancel(ctx), desk.Screen{
			Name: "mcp", Sees: func(q desk.Question) bool { return p.of(&q) != nil }, Buffer: 256,
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

func (p *people) unwatch() {
	p.watching.Lock()
	defer p.watching.Unlock()
	if p.users--; p.users == 0 {
		p.stop()
	}
}

// of finds the call a question is to be asked in: the one that asks, or for a
// call that a tool made, the oldest of the same conversation.
func (p *people) of(q *desk.Question) *flight {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.flights[q.Call]; f != nil && f.call.Caller.Subject == q.Caller.Subject {
		return f
	}
	var oldest *flight
	for _, f := range p.flights {
		c := f.call.Caller
		if c.Session == "" || c.Session != q.Caller.Session || c.Subject != q.Caller.Subject || q.Asked.Before(f.started) && !q.Asked.IsZero() {
			continue
		}
		if oldest == nil || f.number < oldest.number {
			oldest = f
		}
	}
	return oldest
}

// hear hands a question to the call it is asked in, once, and tells it when it
// was settled.
func (p *people) hear(q desk.Question) {
	f := p.of(&q)
	p.mu.Lock()
	before := p.shown[q.ID]
	switch {
	case q.State != desk.Open:
		delete(p.shown, q.ID)
	case before == nil && f != nil:
		p.shown[q.ID] = f
	}
	p.mu.Unlock()
	switch {
	case q.State != desk.Open && before != nil:
		select {
		case before.settled <- q.ID:
		default: // its answer will be told that it came too late
		}
	case q.State == desk.Open && before == nil && f != nil:
		select {
		case f.asks <- q:
		default:
			p.log.Warn("too many questions in one call; this one is not shown to its client", "question", q.ID)
		}
	}
}

// parkFor is how long a call waits for its client to come back at most. The
// time a person has to answer is shorter.
const parkFor = 15 * time.Minute

// park keeps a call until its client comes back with the answer to a question.
func (p *people) park(f *flight, q *desk.Question) (secret string) {
	secret = rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	f.pending = q
	f.timer = time.AfterFunc(parkFor, func() {
		f.cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.parked, secret)
	})
	p.parked[secret] = f
	return secret
}

// unpark finds the call that a client comes back for. The request has to be
// for the same.
func (p *people) unpark(secret string, call toolcrib.Call) *flight {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.parked[secret]
	if f == nil || f.call.Tool != call.Tool || !sameJSON(f.call.Input, call.Input) || f.call.Caller != call.Caller {
		return nil
	}
	f.timer.Stop()
	delete(p.parked, secret)
	return f
}

// sameJSON compares two texts but for the space between their parts.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return bytes.Equal(a, b)
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}
