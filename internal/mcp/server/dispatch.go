package server

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// maxDepth is well above what the crib takes. A call that is deeper goes to the
// crib all the same, which records and refuses it; nothing else has to be read.
const maxDepth = 500

// answerModern answers a request that says of itself what there is to know of
// its client.
func (s *Server) answerModern(ctx context.Context, m *mcp.Message, p *params, w replyPath) (result json.RawMessage, err error) {
	version := p.version()
	if s.cfg.Observer != nil {
		var end func(json.RawMessage, error)
		ctx, end = s.observe(ctx, m, p, version, nil)
		defer func() { end(result, err) }()
	}
	if !mcp.Known(version) || !mcp.IsModern(version) {
		return nil, unsupported(version)
	}
	if len(p.Meta.Capabilities) == 0 {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "_meta has no %q", mcp.MetaCapabilities)
	}
	c, ok := s.newClient(version, p.Meta.Capabilities, p.Meta.Client)
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "_meta[%q] is not the object it should be, or is too large", mcp.MetaCapabilities)
	}
	v := &clientRequest{server: s, client: c, reply: w, id: m.ID, params: p, raw: m.Params}
	if level, ok := jsonText(p.Meta.Level); ok {
		if !slices.Contains(logLevels(), level) {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "_meta[%q] is no level: want one of %v", mcp.MetaLogLevel, logLevels())
		}
		v.level = level
	}
	switch m.Method {
	case mcp.MethodDiscover:
		return s.discover(), nil
	case mcp.MethodListen:
		m.Params = nil // kept by the request alone, for as long as it is needed
		return s.serveListen(ctx, v)
	case mcp.MethodInitialize, mcp.MethodPing, mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s is not in version %s of the protocol", m.Method, version)
	}
	return s.answerBoth(ctx, m, v)
}

// answerLegacy answers a request of a client that has introduced itself, or
// does so with it.
func (s *Server) answerLegacy(ctx context.Context, m *mcp.Message, p *params, sess *session, w replyPath) (result json.RawMessage, err error) {
	c, level := sess.who()
	if s.cfg.Observer != nil {
		var end func(json.RawMessage, error)
		ctx, end = s.observe(ctx, m, p, c.version, sess)
		defer func() { end(result, err) }()
	}
	v := &clientRequest{server: s, client: c, sess: sess, reply: w, id: m.ID, params: p, raw: m.Params, level: level}
	switch m.Method {
	case mcp.MethodInitialize:
		return s.initialize(m.Params, sess)
	case mcp.MethodPing:
		return json.RawMessage(`{}`), nil
	case mcp.MethodSetLevel:
		return sess.setLevel(m.Params)
	case mcp.MethodSubscribe:
		return s.sessionSubscribes(ctx, v)
	case mcp.MethodUnsubscribe:
		return s.sessionUnsubscribes(ctx, v)
	}
	return s.answerBoth(ctx, m, v)
}

// answerBoth answers what both eras have in common.
func (s *Server) answerBoth(ctx context.Context, m *mcp.Message, v *clientRequest) (json.RawMessage, error) {
	if m.Method == mcp.MethodToolsCall {
		return s.callTool(ctx, v)
	}
	if len(m.Params) > maxDepth && jsontext.Depth([]byte(m.Params)) > maxDepth {
		return nil, mcp.Errorf(mcp.CodeInvalidRequest, "the message is nested too deeply")
	}
	if m.Method == mcp.MethodToolsList {
		return s.listTools(v)
	}
	if s.cfg.Shelf != nil {
		switch m.Method {
		case mcp.MethodResourcesList:
			return s.listShelf(ctx, v, s.cfg.Shelf.Resources, "resources")
		case mcp.MethodTemplatesList:
			return s.listShelf(ctx, v, s.cfg.Shelf.Templates, "resourceTemplates")
		case mcp.MethodPromptsList:
			return s.listShelf(ctx, v, s.cfg.Shelf.Prompts, "prompts")
		case mcp.MethodResourcesRead:
			return s.readShelf(ctx, v, m.Method, m.Params, s.encodeResource)
		case mcp.MethodPromptsGet, mcp.MethodComplete:
			return s.readShelf(ctx, v, m.Method, m.Params, s.encodeValue)
		}
	}
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "there is no method %q here", m.Method)
}

// unsupported refuses a version and says which there are.
func unsupported(version string) *mcp.Error {
	e := mcp.Errorf(mcp.CodeUnsupportedVersion, "unsupported protocol version")
	var o object
	o.raw("supported", texts(mcp.Versions()))
	o.text("requested", version)
	e.Data = o.end()
	return e
}

func texts(list []string) []byte {
	out := []byte{'['}
	for i, s := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsontext.AppendString(out, s)
	}
	return append(out, ']')
}

// initialize is the handshake of the legacy era.
func (s *Server) initialize(text json.RawMessage, sess *session) (json.RawMessage, error) {
	var p struct {
		Version      string          `json:"protocolVersion"`
		Capabilities json.RawMessage `json:"capabilities"`
		Client       json.RawMessage `json:"clientInfo"`
	}
	if len(text) == 0 || json.Unmarshal(text, &p) != nil || p.Version == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "initialize names no protocolVersion")
	}
	if !mcp.Known(p.Version) || mcp.IsModern(p.Version) {
		p.Version = mcp.Legacy // the client says whether it can do with that
	}
	if len(p.Capabilities) == 0 {
		p.Capabilities = json.RawMessage(`{}`)
	}
	c, ok := s.newClient(p.Version, p.Capabilities, p.Client)
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "the capabilities are not the object they should be, or are too large")
	}
	if !sess.introduce(c) {
		return nil, mcp.Errorf(mcp.CodeInvalidRequest, "the client has introduced itself already")
	}
	var o object
	o.text("protocolVersion", p.Version)
	o.raw("capabilities", s.capabilities())
	o.raw("serverInfo", s.info)
	s.instruct(&o)
	return o.end(), nil
}

// instruct adds what a model is told, if there is anything.
func (s *Server) instruct(o *object) {
	text := s.cfg.Instructions
	if s.cfg.MoreInstructions != nil {
		text += s.cfg.MoreInstructions(s.caller)
	}
	if text != "" {
		o.text("instructions", text)
	}
}

// discover tells a client of the modern era what there is.
func (s *Server) discover() json.RawMessage {
	var o object
	o.text("resultType", mcp.ResultComplete)
	o.raw("supportedVersions", texts(mcp.Versions()))
	o.raw("capabilities", s.capabilities())
	s.instruct(&o)
	s.cacheable(&o, listTTL)
	return o.end()
}

// capabilities is what there is. Of things besides tools there may be none now
// and some later, so a shelf counts even if it is empty.
func (s *Server) capabilities() []byte {
	var o object
	if s.cfg.Shelf != nil {
		o.raw("completions", []byte(`{}`))
	}
	o.raw("logging", []byte(`{}`))
	if s.cfg.Shelf != nil {
		o.raw("prompts", []byte(`{"listChanged":true}`))
		o.raw("resources", []byte(`{"listChanged":true,"subscribe":true}`))
	}
	o.raw("tools", []byte(`{"listChanged":true}`))
	return o.end()
}
