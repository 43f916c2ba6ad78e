package mcpserve

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// asking is how the person who uses a client can be asked.
type asking uint8

const (
	asksNobody  asking = iota
	asksAtOnce         // by a request of ours, while the call waits
	asksByRound        // by a result that the client answers with a second request
)

// roundsSince is the first version of the protocol in which a server sends no
// requests of its own: what it wants to know goes into a result, and the client
// repeats its request with the answer.
const roundsSince = "2026-07-28"

// asks says how a client can be asked. Without its word that it can, it cannot.
func (s *Server) asks(session *mcp.ServerSession, tool string) asking {
	if s.people == nil || session == nil {
		return asksNobody
	}
	p := session.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return asksNobody
	}
	if can := p.Capabilities.Elicitation; can.Form == nil && can.URL != nil {
		return asksNobody // only by a page in a browser, and there is none
	}
	if p.ProtocolVersion < roundsSince {
		return asksAtOnce
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, listed := s.shown[tool]; !listed {
		return asksNobody // the library would not take the result
	}
	return asksByRound
}

// moreKey is where a result that asks for more waits for listed.
type moreKey struct{}

// inputName names the one thing a client is asked for in a round.
const inputName = "approval"

// callAsking runs a call whose client can be asked, from the start or from
// where it left off.
func (s *Server) callAsking(ctx context.Context, req *mcp.CallToolRequest, call toolcrib.Call, how asking, next func(context.Context) (mcp.Result, error)) (*mcp.CallToolResult, error) {
	var f *flight
	if req.Params.RequestState != "" {
		f = s.people.unpark(req.Params.RequestState, call)
	}
	if f != nil {
		again, answered := s.comeBack(ctx, req, f)
		if again != nil {
			return s.round(ctx, f, again, next)
		}
		select {
		case <-f.done:
			if answered && !f.named && f.result != nil && f.result.Meta["toolcrib/code"] == string(toolcrib.Timeout) {
				f = nil // the answer came after the call had given up, and is kept for this one
			}
		default:
		}
	}
	if f == nil {
		var err error
		if f, err = s.people.begin(ctx, call, s.run); err != nil {
			return unwatched(call.Tool, err), nil
		}
	}
	return s.follow(ctx, req, f, how, next)
}

// unwatched refuses a call that might have to be asked about.
func unwatched(tool string, err error) *mcp.CallToolResult {
	return refusal(&toolcrib.Error{Code: toolcrib.Unavailable, Tool: tool, Message: "nobody could be asked about it, so it was not made", Err: err})
}

// follow waits for the end of a call, and asks the client meanwhile.
func (s *Server) follow(ctx context.Context, req *mcp.CallToolRequest, f *flight, how asking, next func(context.Context) (mcp.Result, error)) (*mcp.CallToolResult, error) {
	hangUp := context.AfterFunc(ctx, f.cancel) // a client that cancels its request cancels the call
	asked := map[string]context.CancelFunc{}
	defer func() {
		for _, cancel := range asked {
			cancel()
		}
	}()
	for {
		select {
		case <-f.done:
			hangUp()
			return f.result, f.err
		case id := <-f.settled:
			if cancel := asked[id]; cancel != nil {
				cancel() // it was answered on another screen
			}
		case q := <-f.asks:
			if how == asksByRound {
				if hangUp() {
					f.tries = 0
					return s.round(ctx, f, &ask{question: q}, next)
				}
				continue // cancelled: the end is near
			}
			one, cancel := context.WithCancel(ctx)
			asked[q.ID] = cancel
			go s.elicit(one, req.Session, &q)
		}
	}
}

// ask is a question on its way to a client; why says what was wrong with the
// answer before.
type ask struct {
	question desk.Question
	why      error
}

// maxTries is how often an answer that cannot be taken is asked for again.
const maxTries = 3

// round ends a request with a question: the client comes back with the answer.
func (s *Server) round(ctx context.Context, f *flight, a *ask, next func(context.Context) (mcp.Result, error)) (*mcp.CallToolResult, error) {
	f.tries++
	more := &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{inputName: newForm(s.people.desk, &a.question, a.why).params},
		RequestState:  s.people.park(f, &a.question),
	}
	result, err := next(context.WithValue(ctx, moreKey{}, more))
	if err != nil {
		return nil, err
	}
	asked, ok := result.(*mcp.CallToolResult)
	if !ok {
		return nil, fmt.Errorf("asking the client: the library made %T of it", result)
	}
	return asked, nil
}

// comeBack takes the answer that a client brings. If it cannot be taken, it
// gives what to ask again.
func (s *Server) comeBack(ctx context.Context, req *mcp.CallToolRequest, f *flight) (again *ask, answered bool) {
	q := *f.pending
	brought, ok := req.Params.InputResponses[inputName].(*mcp.ElicitResult)
	if !ok {
		brought = &mcp.ElicitResult{Action: "cancel"}
	}
	err := s.settle(ctx, req.Session, &q, brought)
	switch {
	case err == nil:
		return nil, brought.Action == "accept" || brought.Action == "decline"
	case f.tries < maxTries:
		return &ask{q, err}, false
	}
	s.people.desk.Dismiss(q.ID)
	return nil, false
}

// elicit asks the client and waits for what the person says.
func (s *Server) elicit(ctx context.Context, session *mcp.ServerSession, q *desk.Question) {
	var why error
	for range maxTries {
		result, err := session.Elicit(ctx, newForm(s.people.desk, q, why).params)
		if ctx.Err() != nil {
			return // answered elsewhere, or the call has ended
		}
		if err != nil {
			s.cfg.Log.Warn("a client cannot ask its person", "question", q.ID, "err", err)
			break
		}
		if why = s.settle(ctx, session, q, result); why == nil {
			return
		}
	}
	s.people.desk.Dismiss(q.ID)
}

// settle makes an answer of what a client brought. An error says what was wrong
// with it; that somebody else was first is none.
func (s *Server) settle(ctx context.Context, session *mcp.ServerSession, q *desk.Question, brought *mcp.ElicitResult) error {
	var reply desk.Reply
	switch brought.Action {
	case "accept":
		var err error
		if reply, err = newForm(s.people.desk, q, nil).read(brought.Content); err != nil {
			return err
		}
	case "decline":
		reply.Choice = desk.Deny
	default:
		s.people.desk.Dismiss(q.ID)
		return nil
	}
	_, err := s.people.desk.Answer(ctx, q.ID, reply, s.by(session))
	if err != nil && !errors.Is(err, desk.ErrBadReply) {
		s.cfg.Log.Debug("an answer of a client does not count", "question", q.ID, "err", err)
		return nil
	}
	return err
}

// by names who answers: the person who uses this client.
func (s *Server) by(session *mcp.ServerSession) string {
	name := s.caller.Subject
	if name == "" {
		name = "somebody"
	}
	if p := session.InitializeParams(); p != nil && p.ClientInfo != nil {
		name += " in " + p.ClientInfo.Name
	}
	if r := []rune(desk.Visible(name)); len(r) > 60 {
		return string(r[:60])
	}
	return desk.Visible(name)
}
