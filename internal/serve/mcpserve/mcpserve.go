// Package mcpserve is the MCP frontend: it shows a crib's tools to MCP clients
// over stdio and streamable HTTP, and turns each tools/call into a Call. It
// decides nothing: what a client sees and may do is the crib's word alone.
//
// Only internal/app and internal/cli import it, and it alone imports the MCP
// library.
package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// Config is what a server needs.
type Config struct {
	Crib    *toolcrib.Crib
	Version string
	Log     *slog.Logger // nil: slog.Default
	// Instructions tells a model what it has here.
	Instructions string
	// Lenient is set for callers whose dialect expects coercion.
	Lenient bool
	// Desk is where the crib asks people. A client that says that it can ask the
	// person who uses it is a screen of it, for the calls it makes itself. Nil:
	// clients are not asked.
	Desk *desk.Desk
}

// Server serves one crib to one kind of caller.
type Server struct {
	cfg    Config
	caller toolcrib.Caller
	mcp    *mcp.Server
	stop   func()
	people *people // nil: clients are not asked

	mu    sync.Mutex
	shown map[string]string // name → definition hash
}

// New makes a server for calls by this caller. Close ends its watch on the
// catalog.
func New(cfg Config, caller toolcrib.Caller) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	s := &Server{cfg: cfg, caller: caller, shown: map[string]string{}}
	s.mcp = mcp.NewServer(
		&mcp.Implementation{Name: "toolcrib", Title: "Toolcrib", Version: cfg.Version},
		&mcp.ServerOptions{
			Logger: cfg.Log, Instructions: cfg.Instructions,
			// A large page keeps the list whole for clients that read only one.
			PageSize:     1000,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
		})
	if cfg.Desk != nil {
		s.people = newPeople(cfg.Desk, cfg.Log)
	}
	s.mcp.AddReceivingMiddleware(s.calls)
	s.stop = cfg.Crib.Catalog.Watch(func(toolcrib.Diff) { s.refresh() })
	s.refresh()
	return s
}

// Close stops following the catalog, and ends what waits for a client.
func (s *Server) Close() {
	s.stop()
	if s.people != nil {
		s.people.close()
	}
}

// refresh brings the library's list in line with the catalog; it notifies
// clients of what changed.
func (s *Server) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := map[string]string{}
	for spec := range s.cfg.Crib.Tools(s.caller) {
		if s.shown[spec.Name] == spec.Hash || s.show(spec) {
			now[spec.Name] = spec.Hash
		}
	}
	var gone []string
	for name := range s.shown {
		if _, ok := now[name]; !ok {
			gone = append(gone, name)
		}
	}
	if gone != nil {
		s.mcp.RemoveTools(gone...)
	}
	s.shown = now
}

// show puts one tool on the library's list. The library panics on a contract
// it cannot show (an odd extension in a foreign schema); one such tool must
// not take the others with it.
func (s *Server) show(spec toolcrib.Spec) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Log.Error("tool cannot be shown over MCP", "tool", spec.Name, "err", p)
		}
	}()
	s.mcp.AddTool(contract(spec), listed)
	return true
}

// calls takes every tools/call to the crib, also one of a tool that is not on
// the library's list: a refused call is recorded too.
func (s *Server) calls(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		call, ok := req.(*mcp.CallToolRequest)
		if !ok || method != "tools/call" {
			return next(ctx, method, req)
		}
		session := ""
		if call.Session != nil {
			session = call.Session.ID()
		}
		made, refused := s.made(session, call.Params.Name, call.Params.Arguments, call.Params.Meta[callIDKey])
		if refused != nil {
			return refused, nil
		}
		var result *mcp.CallToolResult
		var err error
		if how := s.asks(call.Session, call.Params.Name); how != asksNobody {
			result, err = s.callAsking(ctx, call, made, how, func(ctx context.Context) (mcp.Result, error) { return next(ctx, method, req) })
		} else {
			result, err = s.run(ctx, made)
		}
		if err != nil {
			return nil, err
		}
		return result, nil
	}
}

// call makes a Call and runs it.
func (s *Server) call(ctx context.Context, session, tool string, input json.RawMessage, id any) (*mcp.CallToolResult, error) {
	call, refused := s.made(session, tool, input, id)
	if refused != nil {
		return refused, nil
	}
	return s.run(ctx, call)
}

// made makes the Call of a request.
func (s *Server) made(session, tool string, input json.RawMessage, id any) (toolcrib.Call, *mcp.CallToolResult) {
	call := toolcrib.Call{Tool: tool, Input: input, Caller: s.caller, Lenient: s.cfg.Lenient}
	if session != "" {
		call.Caller.Session = session
	}
	switch id := id.(type) {
	case nil:
	case string:
		call.ID = id
	default: // it must not be taken for a call without one, and run twice
		return call, refusal(&toolcrib.Error{Code: toolcrib.Invalid, Tool: tool, Message: "_meta[" + callIDKey + "] is not a string"})
	}
	return call, nil
}

// run has the crib do it. An unknown tool is an error of the protocol; every
// other refusal is a failed result, since only that reaches the model.
func (s *Server) run(ctx context.Context, call toolcrib.Call) (*mcp.CallToolResult, error) {
	result, err := s.cfg.Crib.Call(ctx, call)
	switch {
	case err == nil:
		return answer(result), nil
	case toolcrib.CodeOf(err) == toolcrib.NotFound:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	return refusal(err), nil
}

// listed stands for a tool on the library's list; calls go to the crib before
// they reach it. What gets here is a result that asks the client for more: only
// the library can mark it as one.
func listed(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if more, ok := ctx.Value(moreKey{}).(*mcp.CallToolResult); ok {
		return more, nil
	}
	return nil, errors.New("the call went past the crib")
}

// ServeStdio serves one client on the given streams until it hangs up or ctx
// ends.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	gate := newGate(s, in, out)
	return s.mcp.Run(ctx, &mcp.IOTransport{Reader: gate, Writer: gate, MaxLineLength: gate.max + 1})
}

// Handler serves any number of clients over streamable HTTP. It refuses
// requests that a foreign web page makes in a person's browser.
func (s *Server) Handler() http.Handler {
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Logger:              s.cfg.Log,
		SessionTimeout:      30 * time.Minute,
		MaxRequestBodyBytes: s.maxMessage(),
	})
	return http.NewCrossOriginProtection().Handler(h)
}
