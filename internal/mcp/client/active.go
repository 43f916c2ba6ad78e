package client

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// activeCall is a call that is under way.
type activeCall struct {
	call  *Call
	token int64 // of its progress; zero: none is wanted
	stop  context.CancelCauseFunc

	// Guarded by the lock of activeCalls.
	id       string // of its request, on a stream that all calls share
	answered bool   // after nobody waited for it any more
}

// abandonedCall is a call that was given up here, and that a legacy server may still be
// at: what it asks and says can be about it as well.
type abandonedCall struct {
	id, who  string
	ask, log bool
	until    time.Time
}

// These bound how long and how many calls that were given up are kept in mind.
const (
	abandonedFor = 2 * time.Minute
	maxAbandoned = 64
)

// activeCalls are the calls under way. On a stream that all calls share, what a
// server sends has to be sorted by them.
type activeCalls struct {
	mu            sync.Mutex
	token         int64
	all           map[*activeCall]struct{}
	byToken       map[int64]*activeCall
	abandoned     []abandonedCall  // the oldest first
	overflowUntil time.Time        // until then there were more than are kept
	now           func() time.Time // nil: time.Now
}

// begin puts a call under way.
func (fs *activeCalls) begin(c *Call, stop context.CancelCauseFunc) *activeCall {
	f := &activeCall{call: c, stop: stop}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.all == nil {
		fs.all, fs.byToken = map[*activeCall]struct{}{}, map[int64]*activeCall{}
	}
	fs.all[f] = struct{}{}
	if c.Progress != nil {
		fs.token++
		f.token = fs.token
		fs.byToken[f.token] = f
	}
	return f
}

func (fs *activeCalls) end(f *activeCall) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.endLocked(f)
}

func (fs *activeCalls) endLocked(f *activeCall) {
	delete(fs.all, f)
	delete(fs.byToken, f.token)
}

// abandon ends a call that the server may go on with.
func (fs *activeCalls) abandon(f *activeCall) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.endLocked(f)
	if f.answered {
		return
	}
	g := abandonedCall{id: f.id, who: f.call.For, ask: f.call.Ask != nil, log: f.call.Log != nil, until: fs.clock().Add(abandonedFor)}
	fs.dropExpiredLocked()
	if len(fs.abandoned) >= maxAbandoned {
		fs.overflowUntil = fs.abandoned[len(fs.abandoned)-1].until
		fs.abandoned = slices.Delete(fs.abandoned, 0, 1)
	}
	fs.abandoned = append(fs.abandoned, g)
}

// sent notes the ID of a call's request.
func (fs *activeCalls) sent(f *activeCall, id json.RawMessage) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.id = string(id)
}

// answeredLate hears of an answer that nobody waits for: the server is done with a call
// that was given up, or is being given up right now.
func (fs *activeCalls) answeredLate(id json.RawMessage) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(id) == 0 {
		return
	}
	fs.abandoned = slices.DeleteFunc(fs.abandoned, func(g abandonedCall) bool { return g.id == string(id) })
	for f := range fs.all {
		if f.id == string(id) {
			f.answered = true
		}
	}
}

// dropExpiredLocked lets go of abandoned calls whose time is over.
func (fs *activeCalls) dropExpiredLocked() {
	now := fs.clock()
	fs.abandoned = slices.DeleteFunc(fs.abandoned, func(g abandonedCall) bool { return now.After(g.until) })
}

// maybeAbandonedLocked reports whether something could be about a call that was given
// up, for somebody else than who is named.
func (fs *activeCalls) maybeAbandonedLocked(who string, counts func(*abandonedCall) bool) bool {
	fs.dropExpiredLocked()
	if !fs.clock().After(fs.overflowUntil) {
		return true
	}
	return slices.ContainsFunc(fs.abandoned, func(g abandonedCall) bool { return counts(&g) && (g.who == "" || g.who != who) })
}

func (fs *activeCalls) clock() time.Time {
	if fs.now != nil {
		return fs.now()
	}
	return time.Now()
}

// stopAll ends every call under way for a reason that concerns them all.
func (fs *activeCalls) stopAll(reason error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for f := range fs.all {
		f.stop(reason)
	}
}

// progressing gives the call that a notification of progress is about.
func (fs *activeCalls) progressing(params json.RawMessage) *activeCall {
	var token int64
	if json.Unmarshal(jsontext.Lookup(params, mcp.MetaProgress), &token) != nil {
		return nil
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.byToken[token]
}

// logging gives the call that a log message is about: the only one that wants
// any. With several, also such that were given up, it cannot be told, and a
// guess could show the messages of one client to another.
func (fs *activeCalls) logging() *activeCall {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var only *activeCall
	for f := range fs.all {
		if f.call.Log == nil {
			continue
		}
		if only != nil {
			return nil
		}
		only = f
	}
	if only != nil && fs.maybeAbandonedLocked(only.call.For, func(g *abandonedCall) bool { return g.log }) {
		return nil
	}
	return only
}

// asking gives the call that a question of a legacy server is about.
func (fs *activeCalls) asking() (*activeCall, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var one *activeCall
	for f := range fs.all {
		switch {
		case f.call.Ask == nil:
		case one == nil:
			one = f
		case f.call.For == "" || f.call.For != one.call.For:
			return nil, mcp.Errorf(mcp.CodeInvalidRequest, "several calls are under way, and it cannot be told which one this is about")
		}
	}
	if one == nil {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "there is nobody who can be asked")
	}
	if fs.maybeAbandonedLocked(one.call.For, func(g *abandonedCall) bool { return g.ask }) {
		return nil, mcp.Errorf(mcp.CodeInvalidRequest, "another call was cancelled not long ago, and it cannot be told which one this is about")
	}
	return one, nil
}
