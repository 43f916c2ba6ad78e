package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// askKey is the key of the only question of a legacy server.
const askKey = "question"

// notified sorts a notification. F is the call whose own stream it came on, nil
// if it came on one that is shared.
func (s *Session) notified(f *activeCall, m *mcp.Message) {
	switch m.Method {
	case mcp.NotifyProgress:
		if f == nil || f.call.Progress == nil {
			f = s.calls.progressing(m.Params)
		}
		if f != nil && f.call.Progress != nil {
			f.call.Progress(m.Params)
		}
		return // the progress of a call that has ended is nobody's
	case mcp.NotifyMessage:
		if f == nil {
			f = s.calls.logging()
		}
		if f != nil {
			if f.call.Log != nil {
				f.call.Log(m.Params)
			}
			return
		}
	case mcp.NotifySubscribed:
		s.acknowledged(m.Params)
		return
	}
	if s.config.Changed != nil {
		s.config.Changed(m.Method, m.Params)
	}
}

// answerRequest answers a request of the server. F is as in heard.
func (s *Session) answerRequest(ctx context.Context, f *activeCall, m *mcp.Message) (json.RawMessage, error) {
	if m.Method == mcp.MethodPing {
		return json.RawMessage("{}"), nil
	}
	if version := s.Version(); version == "" || mcp.IsModern(version) {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "requests of servers are not taken")
	}
	switch m.Method {
	case mcp.MethodElicit, mcp.MethodSample, mcp.MethodRoots:
	default:
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s is not known", printable(m.Method))
	}
	switch {
	case f != nil && f.call.Ask == nil: // nor is somebody else asked about it
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "there is nobody who can be asked")
	case f == nil:
		var err error
		if f, err = s.calls.asking(); err != nil {
			if m.Method == mcp.MethodRoots { // asked as soon as it is up: it goes by what it was started with
				return json.RawMessage(`{"roots":[]}`), nil
			}
			return nil, err
		}
	}
	answers, err := f.call.Ask(ctx, map[string]mcp.Request{askKey: {Method: m.Method, Params: m.Params}})
	if err != nil {
		return nil, err
	}
	answer := answers[askKey]
	if answer == nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "no answer was given")
	}
	return answer, nil
}

// answerRound puts the questions of a round of a modern call.
func (s *Session) answerRound(ctx context.Context, c *Call, result json.RawMessage) (responses, state json.RawMessage, err error) {
	var round struct {
		Requests map[string]mcp.Request `json:"inputRequests"`
		State    json.RawMessage        `json:"requestState"`
	}
	switch c.Method {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet, mcp.MethodResourcesRead:
	default:
		return nil, nil, fmt.Errorf("the server wants input for %s, which the protocol has not", printable(c.Method))
	}
	if err := json.Unmarshal(result, &round); err != nil {
		return nil, nil, fmt.Errorf("reading what input the server wants: %w", err)
	}
	if round.State != nil && (len(round.State) == 0 || round.State[0] != '"') {
		return nil, nil, fmt.Errorf("the requestState of the server is no string")
	}
	if len(round.Requests) == 0 {
		if round.State == nil {
			return nil, nil, fmt.Errorf("the server wants input and does not say which")
		}
		return nil, round.State, nil
	}
	if c.Ask == nil {
		return nil, nil, fmt.Errorf("the server wants input, and there is nobody who can be asked")
	}
	answers, err := c.Ask(ctx, round.Requests)
	if err != nil {
		return nil, nil, err
	}
	if answers == nil {
		answers = map[string]json.RawMessage{}
	}
	responses, err = json.Marshal(answers)
	if err != nil {
		return nil, nil, fmt.Errorf("writing the answers: %w", err)
	}
	return responses, round.State, nil
}
