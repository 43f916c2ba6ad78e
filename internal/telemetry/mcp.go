package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/trace"
)

var _ mcp.Observer = (*Telemetry)(nil)

// Session implements [mcp.Observer].
func (t *Telemetry) Session(delta int) {
	if t.metrics != nil {
		t.metrics.sessions.Add(int64(delta))
	}
}

// Begin implements [mcp.Observer].
func (t *Telemetry) Begin(ctx context.Context, op mcp.Operation) (context.Context, func(json.RawMessage, error)) {
	start := t.Now()
	var s *span
	if t.traces != nil {
		s = t.requestSpan(ctx, &op)
		s.start, ctx = start, trace.With(ctx, s.at)
	}
	return ctx, func(result json.RawMessage, err error) {
		kind, code := errorType(ctx, result, err)
		if t.metrics != nil {
			t.metrics.request(&op, kind, t.Now().Sub(start))
		}
		if s == nil || !s.at.Sampled {
			return
		}
		s.end = t.Now()
		s.say("rpc.response.status_code", code)
		if s.fail(kind); err != nil && t.content() {
			s.why = text.Clip(t.redacted(err.Error()), 1024)
		}
		t.traces.put(s)
	}
}

// request counts a request that has ended.
func (m *Metrics) request(op *mcp.Operation, kind string, took time.Duration) {
	method := op.Method
	if !slices.Contains(methods(), method) {
		method = other
	}
	if _, err := strconv.Atoi(kind); err == nil && !slices.Contains(codes(), kind) {
		kind = other // a server may make up as many as it likes
	}
	if op.Server != "" {
		m.outgoing.add(1, op.Server, method, kind)
		m.outgoingTime.observe(took, op.Server)
		return
	}
	m.requests.add(1, method, kind)
	if method != mcp.MethodListen {
		m.requestTime.observe(took, method)
	}
}

// requestSpan begins the span of a request, below what it or its surroundings say.
func (t *Telemetry) requestSpan(ctx context.Context, op *mcp.Operation) *span {
	s := &span{kind: kindClient}
	parent, _ := trace.Of(ctx)
	if op.Server == "" {
		s.kind = kindServer
		ambient, there := trace.Parse(op.Ambient[0], op.Ambient[1])
		own, said := trace.Parse(op.Trace[0], op.Trace[1])
		switch {
		case said:
			parent = own
			if there && own.Trace != ambient.Trace {
				s.link = ambient
			}
		case there:
			parent = ambient
		}
	}
	s.at, s.parent = t.places.fresh(parent), parent.Span
	if !s.at.Sampled {
		return s
	}
	method := op.Method
	if !slices.Contains(methods(), method) {
		method = other
	}
	s.name = method
	s.say("mcp.method.name", method)
	switch method {
	case mcp.MethodToolsCall:
		name := op.Target
		if op.Server == "" && t.Known != nil && !t.Known(name) {
			name = other
		}
		s.name += " " + name
		s.say("gen_ai.operation.name", "execute_tool")
		s.say("gen_ai.tool.name", name)
	case mcp.MethodPromptsGet:
		s.say("gen_ai.prompt.name", t.redacted(text.Clip(op.Target, longestName)))
	case mcp.MethodResourcesRead, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		if t.content() { // an address may hold as much as arguments do
			s.say("mcp.resource.uri", t.redacted(text.Clip(op.Target, 1024)))
		}
	}
	if id := string(op.ID); id != "null" {
		s.say("jsonrpc.request.id", text.Clip(stringOf(op.ID), 64))
	}
	s.say("mcp.protocol.version", text.Clip(op.Version, 32))
	s.say("mcp.session.id", op.Session)
	s.say("toolcrib.mcp_server", op.Server)
	t.sayAddress(s, op)
	return s
}

func (t *Telemetry) sayAddress(s *span, op *mcp.Operation) {
	if op.Address == "" {
		s.say("network.transport", "pipe")
		return
	}
	s.say("network.transport", "tcp")
	s.say("network.protocol.name", "http")
	host, port, err := net.SplitHostPort(op.Address)
	if err != nil {
		host = op.Address
	}
	s.say("server.address", host)
	if n, err := strconv.ParseInt(port, 10, 32); err == nil {
		s.attrs = append(s.attrs, attr{"server.port", n})
	}
}

func (t *Telemetry) redacted(s string) string {
	if t.Redact == nil {
		return s
	}
	return t.Redact(s)
}

// stringOf is an ID of JSON-RPC as a text.
func stringOf(id json.RawMessage) string {
	var s string
	if json.Unmarshal(id, &s) == nil {
		return s
	}
	return string(id)
}

// errorType is what kind of error a request ended with, and its code if it has
// one; empty: it went well.
func errorType(ctx context.Context, result json.RawMessage, err error) (kind, code string) {
	if err == nil {
		if string(jsontext.Lookup(result, "isError")) == "true" {
			return toolError, ""
		}
		return "", ""
	}
	if e, ok := errors.AsType[*mcp.Error](err); ok {
		code = strconv.Itoa(e.Code)
		return code, code
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout", ""
	case errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return "cancelled", ""
	case errors.Is(err, mcp.ErrClosed):
		return "closed", ""
	}
	return "error", ""
}

// methods are those of requests; the names of others are anything.
func methods() []string {
	return []string{
		mcp.MethodInitialize, mcp.MethodDiscover, mcp.MethodPing, mcp.MethodToolsList, mcp.MethodToolsCall, mcp.MethodResourcesList,
		mcp.MethodTemplatesList, mcp.MethodResourcesRead, mcp.MethodSubscribe, mcp.MethodUnsubscribe, mcp.MethodPromptsList,
		mcp.MethodPromptsGet, mcp.MethodComplete, mcp.MethodSetLevel, mcp.MethodListen,
	}
}

// codes are the ones of errors that the protocol knows.
func codes() (out []string) {
	for _, c := range []int{
		mcp.CodeParse, mcp.CodeInvalidRequest, mcp.CodeMethodNotFound, mcp.CodeInvalidParams, mcp.CodeInternal, mcp.CodeResourceNotFound,
		mcp.CodeHeaderMismatch, mcp.CodeMissingCapability, mcp.CodeUnsupportedVersion, mcp.CodeOpenPages,
	} {
		out = append(out, strconv.Itoa(c))
	}
	return out
}
