package server

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// callIDKey is the _meta key under which a client that may repeat a call
// names it; see toolcrib.Call.ID.
const callIDKey = "toolcrib/callId"

// boxKey is where a definition says which toolbox the tool is of.
const boxKey = "toolcrib/box"

// params is as much of the params of any request as is looked at here. The rest
// of what a method takes is read where it is used.
type params struct {
	Meta struct {
		Version      json.RawMessage `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
		Client       json.RawMessage `json:"io.modelcontextprotocol/clientInfo"`
		Level        json.RawMessage `json:"io.modelcontextprotocol/logLevel"`
		Progress     json.RawMessage `json:"progressToken"`
		CallID       json.RawMessage `json:"toolcrib/callId"`
		TraceParent  json.RawMessage `json:"traceparent"`
		TraceState   json.RawMessage `json:"tracestate"`
	} `json:"_meta"`
	Name      json.RawMessage `json:"name"`
	URI       json.RawMessage `json:"uri"`
	Arguments json.RawMessage `json:"arguments"`
	Cursor    json.RawMessage `json:"cursor"`
	State     json.RawMessage `json:"requestState"`
	Responses json.RawMessage `json:"inputResponses"`
}

// maxToken bounds what a client may have repeated to it.
const maxToken = 1024

func readParams(text json.RawMessage) (*params, error) {
	p := &params{}
	if len(text) == 0 {
		return p, nil
	}
	if text[0] != '{' || json.Unmarshal(text, p) != nil {
		return p, mcp.Errorf(mcp.CodeInvalidParams, "the params are not an object, or their _meta is none")
	}
	if len(p.Meta.Progress) > maxToken { // it is repeated with every word of progress
		return p, mcp.Errorf(mcp.CodeInvalidParams, "the progressToken is longer than %d bytes", maxToken)
	}
	return p, nil
}

// version is that of a request of the modern era; empty: it is none. A version
// that is no text counts as one that nobody knows.
func (p *params) version() string {
	v := p.Meta.Version
	if len(v) == 0 || string(v) == "null" {
		return ""
	}
	if s, ok := jsonText(v); ok {
		return s
	}
	return string(v)
}

// replyPath is how a client is reached while its request is being answered.
type replyPath interface {
	// tell sends a notification if it can be sent without waiting.
	tell(m *mcp.Message)
	// send sends one that must not be lost.
	send(ctx context.Context, m *mcp.Message) error
	// ask makes a request of ours; only clients of the legacy era take such.
	ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// clientRequest is one request of a client that is being answered. It is the client for
// whoever runs the call that is made for it, unless that is a roundsCall.
type clientRequest struct {
	server *Server
	client *client
	sess   *session // nil in the modern era
	reply  replyPath
	id     json.RawMessage
	params *params
	raw    json.RawMessage // the params as they came
	level  string          // of the log messages it wants; empty: none
}

var _ mcp.Peer = (*clientRequest)(nil)

// Version is the version of the protocol the client speaks.
func (v *clientRequest) Version() string { return v.client.version }

// Capabilities is what the client says it can be asked for.
func (v *clientRequest) Capabilities() json.RawMessage { return v.client.capabilities }

// LogLevel is the level of messages the client wants.
func (v *clientRequest) LogLevel() string { return v.level }

// maxLog is how long a log message of a server may be that stands behind tools.
const maxLog = 64 << 10

// Log passes on a log message, if the client wants such, but for secrets.
func (v *clientRequest) Log(params json.RawMessage) {
	if v.level == "" {
		return
	}
	if len(params) > maxLog {
		v.server.cfg.Log.Debug("a log message is too long, and is not passed on", "bytes", len(params))
		return
	}
	var p struct {
		Level string `json:"level"`
	}
	if json.Unmarshal(params, &p) == nil && urgentEnough(v.level, p.Level) {
		v.reply.tell(&mcp.Message{Method: mcp.NotifyMessage, Params: v.server.cleanJSON(params)})
	}
}

// Ask makes requests of the server, all at once. In the modern era there are
// none outside of a roundsCall.
func (v *clientRequest) Ask(ctx context.Context, requests map[string]mcp.Request) (map[string]json.RawMessage, error) {
	for _, r := range requests {
		if e := v.client.missingCapability(r); e != nil {
			return nil, e
		}
	}
	if v.client.modern {
		return nil, mcp.Errorf(mcp.CodeInternal, "a client cannot be asked for anything in this request")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the others are taken back if one is refused
	var (
		mu      sync.Mutex
		wg      sync.WaitGroup
		answers = make(map[string]json.RawMessage, len(requests))
		failed  error
	)
	for key, r := range requests {
		wg.Go(func() {
			answer, err := v.reply.ask(ctx, r.Method, r.Params)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				answers[key] = answer
				return
			}
			if failed == nil {
				failed = err
			}
			cancel()
		})
	}
	wg.Wait()
	if failed != nil {
		return nil, failed
	}
	return answers, nil
}

// passEvent passes on what happens in the call, but for secrets.
func (v *clientRequest) passEvent(ev toolcrib.Event) {
	switch {
	case ev.Kind == "progress" && v.progress() && isNumber(ev.Progress) && isNumber(ev.Total):
		var o object
		o.raw("progressToken", v.params.Meta.Progress)
		o.raw("progress", strconv.AppendFloat(nil, ev.Progress, 'g', -1, 64))
		if ev.Total > 0 {
			o.raw("total", strconv.AppendFloat(nil, ev.Total, 'g', -1, 64))
		}
		if ev.Text != "" {
			o.text("message", v.server.clean(ev.Text))
		}
		v.reply.tell(&mcp.Message{Method: mcp.NotifyProgress, Params: o.end()})
	case ev.Kind == "log" && urgentEnough(v.level, "info"):
		var o object
		o.text("level", "info")
		o.text("logger", ev.Tool)
		o.text("data", v.server.clean(ev.Text))
		v.reply.tell(&mcp.Message{Method: mcp.NotifyMessage, Params: o.end()})
	}
}

// isNumber reports whether JSON has a number for it.
func isNumber(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// progress reports whether the client wants to hear how far a call has come: it
// has named a token, which is a text or a whole number.
func (v *clientRequest) progress() bool {
	t := v.params.Meta.Progress
	return len(t) > 0 && (t[0] == '"' || t[0] == '-' || t[0] >= '0' && t[0] <= '9')
}

// follow has the events of a call told to whoever is there to hear them.
func (s *Server) follow(v *clientRequest, call *toolcrib.Call, hear func(toolcrib.Event)) (stop func()) {
	if s.cfg.Follow == nil || v.level == "" && !v.progress() {
		return func() {}
	}
	if call.ID == "" {
		call.ID = callid.New(s.now())
	}
	return s.cfg.Follow(*call, hear)
}
