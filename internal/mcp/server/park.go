package server

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// parkFor is how long a call waits for its client to come back at most. The
// time a person has to answer is shorter.
const parkFor = 15 * time.Minute

// These bound what waits for clients: how many calls, and what their requests
// take.
const (
	maxParked      = 256
	maxParkedBytes = 64 << 20
)

// park answers a request with what the client is asked for, and keeps the call
// until it comes back.
func (s *Server) park(v *clientRequest, f *roundsCall, r *round) (json.RawMessage, error) {
	f.leave()
	state, ok := s.parkCall(f, r)
	if !ok {
		s.forget(f)
		f.cancel()
		return f.job.encode(v, nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: f.job.call.Tool, Message: "too many calls wait for an answer; try later"})
	}
	var asks, o, meta object
	for _, key := range slices.Sorted(maps.Keys(r.requests)) {
		var one object
		one.text("method", r.requests[key].Method)
		params := r.requests[key].Params
		if len(params) == 0 { // the Go SDK fails on a request without any
			params = json.RawMessage(`{}`)
		}
		one.raw("params", params)
		asks.raw(key, one.end())
	}
	o.text("resultType", mcp.ResultInput)
	o.raw("inputRequests", asks.end())
	o.text("requestState", state)
	meta.raw(mcp.MetaServer, s.info)
	o.raw("_meta", meta.end())
	return o.end(), nil
}

func (s *Server) parkCall(f *roundsCall, r *round) (state string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, _ := f.now()
	f.held = f.first + len(v.raw) + f.size
	for key, one := range r.requests {
		f.held += len(key) + len(one.Method) + len(one.Params)
	}
	if s.closed || s.parked >= maxParked || s.parkedBytes+f.held > maxParkedBytes {
		return "", false
	}
	s.parked++
	s.parkedBytes += f.held
	f.turn++
	f.parked, f.pending = true, r
	f.timer = time.AfterFunc(parkFor, func() {
		s.forget(f)
		f.cancel()
	})
	return s.state(f), true
}

// countResult counts what came of a call that has ended while it waits for its client.
func (s *Server) countResult(f *roundsCall) {
	size := 0
	if r := f.result; r != nil {
		size = len(r.Value) + len(r.More)
		for i := range r.Content {
			c := &r.Content[i]
			size += len(c.Text) + len(c.Data) + len(c.More)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.size = size
	if f.parked {
		f.held += size
		s.parkedBytes += size
	}
}

// unpark finds the call that a client comes back for; nil: it is gone. One that
// does not wait for this answer is not gone, and must not be made twice.
func (s *Server) unpark(key string, turn int) (*roundsCall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.roundsCalls[key]
	if f == nil {
		return nil, nil
	}
	if !f.parked || f.turn != turn {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "this requestState has been used: the request goes on elsewhere")
	}
	f.timer.Stop()
	s.unparkLocked(f)
	return f, nil
}

func (s *Server) unparkLocked(f *roundsCall) {
	f.parked = false
	s.parked--
	s.parkedBytes -= f.held
}

// forget lets go of a call that nobody comes back for.
func (s *Server) forget(f *roundsCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.roundsCalls, f.key)
	if f.parked {
		s.unparkLocked(f)
	}
}
