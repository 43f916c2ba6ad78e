package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// Config says how to connect to one server.
type Config struct {
	Transport Transport
	// Info is our clientInfo, {"name","version"}.
	Info json.RawMessage
	// Capabilities is what a legacy server is told that we can be asked for.
	// Nil: nothing.
	Capabilities json.RawMessage
	// Version is what an earlier connection has found; it saves asking first.
	// A wrong one is found out, not believed. Empty: find out.
	Version string
	// Handshake bounds all of connecting. Zero: 30 seconds.
	Handshake time.Duration
	// Most is how many bytes one message of the server may have. Zero: 16 MiB.
	Most int
	// Changed hears of notifications that belong to no call: changes of lists
	// and resources, the end of an elicitation elsewhere, log messages that
	// several calls could have caused. It returns at once. Nil: nobody does.
	Changed func(method string, params json.RawMessage)
	// Log is told what a server does wrong without a call failing. Nil: nobody is.
	Log *slog.Logger
}

// Transport is a way to a server: a Stdio or an HTTP.
type Transport interface {
	// connect opens the way and finds out the era, or leaves nothing open.
	connect(ctx context.Context, s *Session) error
}

// Stdio talks to a program over its standard streams.
type Stdio struct {
	// Start starts the program; ctx bounds the starting, not the program. It is
	// called a second time if the program ends at the first question of the
	// modern era, as some old ones do.
	Start func(ctx context.Context) (Process, error)
}

// Process is a program that runs. Whoever started it ends it with all that it
// has started itself.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.Reader       // closed at the end as well, if it can be
	Done   <-chan struct{} // closed when the program has ended
	Err    func() error    // why it has ended; nil: it cannot be told
	Kill   func()          // ends it now; may be called twice
}

// HTTP talks to a server at an address.
type HTTP struct {
	URL string
	// Client makes the requests. It must not be nil and should have no Timeout:
	// answers can be streams. Its own rule for redirects is replaced: a POST is
	// never redirected, and nothing is to another origin.
	Client *http.Client
	// Header gives headers for every request. Nil: none.
	Header func(ctx context.Context) (http.Header, error)
	// Auth gives credentials. Nil: none.
	Auth Authorizer
	// SSE says that the server has the transport of 2024-11-05 only.
	SSE bool
}

// ErrCredential says that a request was not done, since the server refused the
// credential that it carried, or there was none, and no other can be had.
var ErrCredential = errors.New("getting a credential for the server")

// Authorizer gives the credential of a server.
type Authorizer interface {
	// Token is the bearer token; empty: none yet.
	Token(ctx context.Context) (string, error)
	// Challenge hears of an answer 401 or 403; if it returns nil, the request
	// is sent once more with the Token it has then. It does not close the body.
	Challenge(ctx context.Context, req *http.Request, resp *http.Response) error
}

// Call is one request to a server, and what may happen while it is under way.
type Call struct {
	Method string
	// Params is an object without what the era puts into _meta; what else is
	// there in a _meta of its own is kept. Nil: an empty one.
	Params json.RawMessage
	// Capabilities is what the client this is done for can be asked. Nil: nothing.
	Capabilities json.RawMessage
	// LogLevel is the level of messages wanted from a modern server; empty: none.
	LogLevel string
	// Ask puts questions of the server: all of a round at once for a modern
	// one, each by itself for a legacy one. Nil: they are refused.
	Ask func(ctx context.Context, requests map[string]mcp.Request) (map[string]json.RawMessage, error)
	// For names whom Ask asks. A legacy server does not say which call a
	// question belongs to: if several could be meant, it is put only if all
	// are for the same, by a name that is not empty.
	For string
	// Progress and Log hear the parameters of the notifications of this call,
	// and return at once. Nil: nobody does.
	Progress, Log func(params json.RawMessage)
	// Mirror says which arguments are repeated in headers; see Mirrors.
	Mirror map[string]string
	// Sent is called once, just before the request can have reached the server.
	Sent func()
}
