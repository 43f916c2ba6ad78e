package server

import (
	"context"
	"encoding/json"
	"net"
	"net/http"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/trace"
)

// observe tells who watches of a request. There is somebody.
func (s *Server) observe(ctx context.Context, m *mcp.Message, p *params, version string, sess *session) (context.Context, func(json.RawMessage, error)) {
	op := mcp.Operation{Method: m.Method, ID: m.ID, Version: version}
	if name, ok := jsonText(p.Name); ok {
		op.Target = name
	} else if uri, ok := jsonText(p.URI); ok {
		op.Target = uri
	}
	if sess != nil {
		op.Session = sess.id
	}
	op.Trace[0], _ = jsonText(p.Meta.TraceParent)
	op.Trace[1], _ = jsonText(p.Meta.TraceState)
	op.Ambient, _ = ctx.Value(ambientKey{}).([2]string)
	if here, ok := ctx.Value(http.LocalAddrContextKey).(net.Addr); ok {
		op.Address = here.String()
	}
	return s.cfg.Observer.Begin(ctx, op)
}

type ambientKey struct{}

// withAmbient keeps what an HTTP request says of the trace it is in.
func (s *Server) withAmbient(r *http.Request) *http.Request {
	if s.cfg.Observer == nil || r.Header.Get(trace.KeyParent) == "" {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), ambientKey{}, [2]string{r.Header.Get(trace.KeyParent), r.Header.Get(trace.KeyState)}))
}

// observeSession tells who watches that a conversation has begun or ended.
func (s *Server) observeSession(delta int) {
	if s.cfg.Observer != nil {
		s.cfg.Observer.Session(delta)
	}
}
