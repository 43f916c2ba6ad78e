package mcp

import (
	"context"
	"encoding/json"
)

// Operation is one request, of a client to us or of ours to a server, as whoever
// watches is told of it. What came with it is a claim.
type Operation struct {
	Server  string // the hub's name for the server that is asked; empty: we are
	Method  string
	Target  string // the tool, prompt or resource that it is about
	ID      json.RawMessage
	Version string // of the protocol
	Session string // of the legacy era
	// Address is where it came in or goes to over HTTP; empty: over a pipe.
	Address string
	// Trace and Ambient are places in a trace: what the request says itself, and
	// what the HTTP request around it says. Each is a parent and a state.
	Trace, Ambient [2]string
}

// Observer hears of requests. It changes none.
type Observer interface {
	// Begin hears of a request before it is answered. What is done for it is done
	// in the context that it gives; end hears what came of it.
	Begin(ctx context.Context, op Operation) (_ context.Context, end func(result json.RawMessage, err error))
	// Session hears that conversations of the legacy era have begun (1) or ended (-1).
	Session(delta int)
}
