package client

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// flight is a call that is under way.
type flight struct {
	call  *Call
	token int64 // of its progress; zero: none is wanted
	stop  context.CancelCauseFunc
}

// flights are the calls under way. On a stream that all calls share, what a
// server sends has to be sorted by them.
type flights struct {
	mu      sync.Mutex
	token   int64
	all     map[*flight]struct{}
	byToken map[int64]*flight
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
	delete(fs.all, f)
	delete(fs.byToken, f.token)
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
	if json.Unmarshal(lookup(params, mcp.MetaProgress), &token) != nil {
		return nil
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.byToken[token]
}

// logging gives the call that a log message is about: the only one that wants
// any. With several it cannot be told, and a guess could show the messages of
// one client to another.
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
	return one, nil
}
