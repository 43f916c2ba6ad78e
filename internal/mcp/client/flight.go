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

// flight is a call that is under way.
type flight struct {
	call  *Call
	token int64 // of its progress; zero: none is wanted
	stop  context.CancelCauseFunc

	// Guarded by the lock of flights.
	id       string // of its request, on a stream that all calls share
	answered bool   // after nobody waited for it any more
}

// ghost is a call that was given up here, and that a legacy server may still be
// at: what it asks and says can be about it as well.
type ghost struct {
	id, who  string
	ask, log bool
	until    time.Time
}

// These bound how long and how many calls that were given up are kept in mind.
const (
	haunts    = 2 * time.Minute
	maxGhosts = 64
)

// flights are the calls under way. On a stream that all calls share, what a
// server sends has to be sorted by them.
type flights struct {
	mu      sync.Mutex
	token   int64
	all     map[*flight]struct{}
	byToken map[int64]*flight
	ghosts  []ghost          // the oldest first
	blurred time.Time        // until then there were more than are kept
	now     func() time.Time // nil: time.Now
}

// begin puts a call under way.
func (fs *flights) begin(c *Call, stop context.CancelCauseFunc) *flight {
	f := &flight{call: c, stop: stop}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.all == nil {
		fs.all, fs.byToken = map[*flight]struct{}{}, map[int64]*flight{}
	}
	fs.all[f] = struct{}{}
	if c.Progress != nil {
		fs.token++
		f.token = fs.token
		fs.byToken[f.token] = f
	}
	return f
}

func (fs *flights) end(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.endLocked(f)
}

func (fs *flights) endLocked(f *flight) {
	delete(fs.all, f)
	delete(fs.byToken, f.token)
}

// abandon ends a call that the server may go on with.
func (fs *flights) abandon(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.endLocked(f)
	if f.answered {
		return
	}
	g := ghost{id: f.id, who: f.call.For, ask: f.call.Ask != nil, log: f.call.Log != nil, until: fs.clock().Add(haunts)}
	fs.layLocked()
	if len(fs.ghosts) >= maxGhosts {
		fs.blurred = fs.ghosts[len(fs.ghosts)-1].until
		fs.ghosts = slices.Delete(fs.ghosts, 0, 1)
	}
	fs.ghosts = append(fs.ghosts, g)
}

// sent notes the ID of a call's request.
func (fs *flights) sent(f *flight, id json.RawMessage) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.id = string(id)
}

// late hears of an answer that nobody waits for: the server is done with a call
// that was given up, or is being given up right now.
func (fs *flights) late(id json.RawMessage) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(id) == 0 {
		return
	}
	fs.ghosts = slices.DeleteFunc(fs.ghosts, func(g ghost) bool { return g.id == string(id) })
	for f := range fs.all {
		if f.id == string(id) {
			f.answered = true
		}
	}
}

// layLocked lets go of ghosts whose time is over.
func (fs *flights) layLocked() {
	now := fs.clock()
	fs.ghosts = slices.DeleteFunc(fs.ghosts, func(g ghost) bool { return now.After(g.until) })
}

// hauntedLocked reports whether something could be about a call that was given
// up, for somebody else than who is named.
func (fs *flights) hauntedLocked(who string, counts func(*ghost) bool) bool {
	fs.layLocked()
	if !fs.clock().After(fs.blurred) {
		return true
	}
	return slices.ContainsFunc(fs.ghosts, func(g ghost) bool { return counts(&g) && (g.who == "" || g.who != who) })
}

func (fs *flights) clock() time.Time {
	if fs.now != nil {
		return fs.now()
	}
	return time.Now()
}

// stopAll ends every call under way for a reason that concerns them all.
func (fs *flights) stopAll(reason error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for f := range fs.all {
		f.stop(reason)
	}
}

// progressing gives the call that a notification of progress is about.
func (fs *flights) progressing(params json.RawMessage) *flight {
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
func (fs *flights) logging() *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var only *flight
	for f := range fs.all {
		if f.call.Log == nil {
			continue
		}
		if only != nil {
			return nil
		}
		only = f
	}
	if only != nil && fs.hauntedLocked(only.call.For, func(g *ghost) bool { return g.log }) {
		return nil
	}
	return only
}

// asking gives the call that a question of a legacy server is about.
func (fs *flights) asking() (*flight, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var one *flight
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
	if fs.hauntedLocked(one.call.For, func(g *ghost) bool { return g.ask }) {
		return nil, mcp.Errorf(mcp.CodeInvalidRequest, "another call was cancelled not long ago, and it cannot be told which one this is about")
	}
	return one, nil
}
