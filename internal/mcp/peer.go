package mcp

import (
	"context"
	"encoding/json"
)

// Request is something asked of a client, by whichever server: a form for its
// person, an answer of its model, its folders.
type Request struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Peer is the client that a call came from, for a bridge that has to pass on
// what is no part of a tool's contract. It goes with the context of the call; a
// call that did not come over MCP has none.
//
// A Peer decides nothing and is no way around the crib: what it can be asked
// for is what the person who uses that client is asked by it.
type Peer interface {
	// Version is the version of the protocol the client speaks.
	Version() string
	// Capabilities is what the client says it can be asked for, as it said it.
	Capabilities() json.RawMessage
	// Ask puts requests to the client and gives its answers under the same
	// keys, as they came: a client of the modern era may leave some out or add
	// others. A legacy client that refuses one makes an error.
	Ask(ctx context.Context, requests map[string]Request) (map[string]json.RawMessage, error)
	// Log passes on a log message of a server, if the client wants such.
	Log(params json.RawMessage)
	// LogLevel is the level of messages the client wants; empty: none.
	LogLevel() string
}

type peerKey struct{}

// WithPeer puts the client of a call into its context.
func WithPeer(ctx context.Context, p Peer) context.Context {
	return context.WithValue(ctx, peerKey{}, p)
}

// PeerOf gives the client a call came from, nil if it is none of MCP.
func PeerOf(ctx context.Context) Peer {
	p, _ := ctx.Value(peerKey{}).(Peer)
	return p
}
