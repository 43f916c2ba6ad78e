// Package mcpserver serves the tools of any [toolcrib.Crib] to MCP clients, on
// standard input and output or over HTTP:
//
//	s := mcpserver.New(crib, mcpserver.Config{})
//	defer s.Close()
//	err := s.ServeStdio(ctx)
//
// A call of a client goes the way of every other call of the crib: nothing is
// allowed here that its guards do not allow. If the crib was opened by package
// governed, and a client on streams can ask the person who uses it, that person is
// asked what has to be asked about the client's calls. A client over HTTP approves
// nothing.
//
// Its one invariant: it adds no way around [toolcrib.Crib.Call].
package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

// Config says who calls and what clients are told.
type Config struct {
	// Caller is who calls through this server, as guards and the journal see it.
	// An empty Subject is local, an empty Frontend mcp. An empty Session is a new one
	// for each stream, and over HTTP one for each session of the protocol.
	Caller toolcrib.Caller
	// Token is asked from clients over HTTP, as Authorization: Bearer TOKEN. With
	// fewer than 20 characters, nobody is served over HTTP.
	Token string

	Name         string // of your program; empty: Toolcrib
	Version      string
	Instructions string // what a model should know about your tools
	Log          *slog.Logger
}

// minToken is the length of the shortest token that is taken.
const minToken = 20

// Server serves one crib to one caller.
type Server struct {
	streams server.Config
	caller  toolcrib.Caller
	token   string
	web     *server.Server
	handler http.Handler // looks at a request,
	served  http.Handler // and answers it

	life context.Context // ends with Close
	end  context.CancelFunc
}

var _ http.Handler = (*Server)(nil)

// New makes a server. It has to be closed.
func New(crib *toolcrib.Crib, cfg Config) *Server {
	who := cfg.Caller
	who.Subject, who.Frontend = cmp.Or(who.Subject, "local"), cmp.Or(who.Frontend, "mcp")
	sc := server.Config{
		Crib: crib, Name: cfg.Name, Version: cfg.Version, Instructions: cfg.Instructions, Log: cmp.Or(cfg.Log, crib.Log),
		Harmless: safety.Neutral, HarmlessJSON: safety.NeutralJSON,
	}
	// Over HTTP whoever has the token calls, and nobody knows which person that is:
	// such a client has no desk and approves nothing.
	s := &Server{streams: sc, caller: who, web: server.New(sc, who)}
	s.served = s.web.Handler()
	s.life, s.end = context.WithCancel(context.Background())
	s.handler = httpapi.Names{}.Guard(http.HandlerFunc(s.serveKnown))
	if len(cfg.Token) >= minToken {
		s.token = cfg.Token
	}
	if at, ok := crib.Approver.(interface{ Desk() *desk.Desk }); ok {
		s.streams.Desk = at.Desk()
	}
	return s
}

// Close ends every conversation and serves nobody any more.
func (s *Server) Close() {
	s.end()
	s.web.Close()
}

// ServeStdio serves the client that started this program, on standard input and
// output, until it hangs up or ctx ends. Nothing else may be written there.
func (s *Server) ServeStdio(ctx context.Context) error {
	return s.Serve(ctx, os.Stdin, leftOpen{os.Stdout})
}

// leftOpen is not closed with the conversation: it belongs to the program.
type leftOpen struct{ io.Writer }

func (leftOpen) Close() error { return nil }

// Serve serves one client on the given streams until it hangs up or ctx ends.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	who := s.caller
	who.Session = cmp.Or(who.Session, callid.New(time.Now())) // what is allowed in it holds for this client alone
	one := server.New(s.streams, who)
	defer one.Close()
	err := one.ServeStdio(ctx, in, out)
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = nil // the client hung up, or we were asked to stop
	}
	return err
}

// ServeHTTP serves any number of clients over streamable HTTP. Whoever has no
// token is refused, and so are requests of a foreign web page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.life.Err() != nil {
		httpapi.Fail(w, http.StatusServiceUnavailable, "this server is closed")
		return
	}
	s.handler.ServeHTTP(w, r)
}

// serveKnown serves who has the token.
func (s *Server) serveKnown(w http.ResponseWriter, r *http.Request) {
	if shown, ok := httpapi.Bearer(r.Header); !ok || !httpapi.Same(shown, s.token) {
		httpapi.Unauthorized(w, "a token is needed, as the header Authorization: Bearer TOKEN")
		return
	}
	s.served.ServeHTTP(w, r)
}
