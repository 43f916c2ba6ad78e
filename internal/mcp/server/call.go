package server

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// job is a Call that is made for a request, and how its outcome is written.
type job struct {
	method string
	call   toolcrib.Call
	named  bool // the client gave the call its ID
	encode encoder
}

// encoder writes what came of a call as the result of a request, or as its
// error.
type encoder func(v *clientRequest, r *toolcrib.Result, err error) (json.RawMessage, error)

// callTool makes a Call of tools/call. Whatever it names goes to the crib, also
// a tool that is not listed: a refused call is recorded too.
func (s *Server) callTool(ctx context.Context, v *clientRequest) (json.RawMessage, error) {
	name, ok := jsonText(v.params.Name)
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "tools/call names no tool")
	}
	j := &job{method: mcp.MethodToolsCall, encode: s.encodeTool}
	j.call = toolcrib.Call{Tool: name, Input: v.params.Arguments, Caller: s.callerOf(v), Lenient: s.cfg.Lenient}
	if string(j.call.Input) == "null" {
		j.call.Input = nil
	}
	if id := v.params.Meta.CallID; len(id) > 0 && string(id) != "null" {
		if j.call.ID, ok = jsonText(id); !ok { // it must not be taken for a call without one, and run twice
			return s.refusal(v, &toolcrib.Error{Code: toolcrib.CodeInvalid, Tool: name, Message: "_meta[" + callIDKey + "] is not a string"}), nil
		}
		j.named = j.call.ID != ""
	}
	switch found, err := s.list().searched(&j.call); {
	case err != nil:
		return s.refusal(v, err), nil
	case found:
		j.encode = s.encodeFound
	}
	return s.do(ctx, v, j)
}

// callerOf is who calls: of a client with a session, in that session.
func (s *Server) callerOf(v *clientRequest) toolcrib.Caller {
	c := s.caller
	if v.sess != nil && v.sess.id != "" {
		c.Session = v.sess.id
	}
	c.Client = v.client.label()
	return c
}

// do makes a call and waits for what comes of it, while its client can be
// reached.
func (s *Server) do(ctx context.Context, v *clientRequest, j *job) (json.RawMessage, error) {
	// One who comes back does so for a call that waits, whatever it can do now.
	if v.client.modern && inRounds(j.method) && (v.client.askable() || len(v.params.State) > 0) {
		return s.doInRounds(ctx, v, j)
	}
	if s.screen != nil {
		if j.call.ID == "" {
			j.call.ID = callid.New(s.now())
		}
		asked := &askedCall{call: j.call}
		if !v.client.modern && v.client.form {
			asked = s.newAskedCall(ctx, v, j.call)
		}
		if err := s.screen.begin(ctx, asked); err != nil {
			return j.encode(v, nil, unwatched(j.call.Tool, err))
		}
		defer s.screen.end(asked)
	}
	stop := s.follow(v, &j.call, v.passEvent)
	result, err := s.cfg.Crib.Call(mcp.WithPeer(ctx, v), j.call)
	stop()
	return j.encode(v, result, err)
}

// unwatched refuses a call that might have to be asked about.
func unwatched(tool string, err error) *toolcrib.Error {
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: tool, Message: "nobody could be asked about it, so it was not made", Err: err}
}

// readShelf makes the call that reads something on the shelf.
func (s *Server) readShelf(ctx context.Context, v *clientRequest, method string, params json.RawMessage, encode encoder) (json.RawMessage, error) {
	if s.cfg.Shelf == nil {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "there is no method %q here", method)
	}
	caller := s.callerOf(v)
	tool, input, ok, err := s.cfg.Shelf.Reading(ctx, caller, method, params)
	if err != nil {
		if e := s.passedOn(err); e != nil {
			return nil, e
		}
		return nil, shelfError(nil, err)
	}
	if !ok {
		return nil, notThere(v, method)
	}
	return s.do(ctx, v, &job{method: method, call: toolcrib.Call{Tool: tool, Input: input, Caller: caller}, encode: func(v *clientRequest, r *toolcrib.Result, err error) (json.RawMessage, error) {
		if e := s.passedOn(err); e != nil {
			return nil, e
		}
		if toolcrib.CodeOf(err) == toolcrib.CodeNotFound {
			return nil, notThere(v, method)
		}
		return encode(v, r, err)
	}})
}
