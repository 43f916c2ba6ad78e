package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/text"
)

// inputName names the one thing a client is asked for in a round of ours.
const inputName = "approval"

// maxTries is how often an answer that cannot be taken is asked for again.
const maxTries = 3

// maxAsked is how many questions of one call a client is shown at once.
const maxAsked = 16

// formAnswer is what a client says that its person did with a form.
type formAnswer struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content"`

	why string // no person was asked, and what happened instead
}

// newAskedCall makes a client of the legacy era a screen for a call: it is asked by
// requests of ours while the call waits.
func (s *Server) newAskedCall(ctx context.Context, v *clientRequest, call toolcrib.Call) *askedCall {
	var mu sync.Mutex
	var wg sync.WaitGroup
	asked := map[string]context.CancelFunc{}
	return &askedCall{
		call: call,
		hear: func(q desk.Question) bool {
			mu.Lock()
			defer mu.Unlock()
			if len(asked) >= maxAsked {
				return false
			}
			one, cancel := context.WithCancel(ctx) // it ends with the request at the latest
			asked[q.ID] = cancel
			wg.Go(func() {
				defer cancel()
				s.elicit(one, v, &q)
				mu.Lock()
				defer mu.Unlock()
				delete(asked, q.ID)
			})
			return true
		},
		settled: func(id string) {
			mu.Lock()
			defer mu.Unlock()
			if cancel := asked[id]; cancel != nil {
				cancel() // it was answered on another screen
			}
		},
		over: func() { // what is still asked is taken back before the request is answered
			mu.Lock()
			for _, cancel := range asked {
				cancel()
			}
			mu.Unlock()
			wg.Wait()
		},
	}
}

// elicit asks the client and waits for what the person says.
func (s *Server) elicit(ctx context.Context, v *clientRequest, q *desk.Question) {
	for f := s.newForm(q); f != nil; {
		asked := time.Now()
		answer, err := v.reply.ask(ctx, mcp.MethodElicit, f.params(v.client.version))
		if ctx.Err() != nil || errors.Is(err, errAnswered) {
			return // answered elsewhere, or the call has ended
		}
		if err != nil {
			s.cfg.Log.Warn("a client cannot ask its person", "question", q.ID, "err", err)
			s.screen.desk.Dismiss(q.ID, "")
			return
		}
		f, _ = s.answerForm(ctx, v, f, s.byPerson(v, readFormAnswer(answer), time.Since(asked)))
	}
}

// tooSoon is an answer that no person gives: nobody reads a question in that time.
// Some clients decline by themselves where nobody sits before them.
const tooSoon = 250 * time.Millisecond

// byPerson takes the no of a client that did not ask its person for no answer.
func (s *Server) byPerson(v *clientRequest, b formAnswer, after time.Duration) formAnswer {
	if b.Action == "accept" || after >= s.tooSoon {
		return b
	}
	said := "declined"
	if b.Action != "decline" {
		said = "closed the question"
	}
	return formAnswer{Action: "cancel", why: fmt.Sprintf("the client %s %s by itself after %v, so that no person was asked", cmp.Or(v.client.label(), "of this call"), said, after.Round(time.Millisecond))}
}

// approval is the round in which a client of the modern era is asked.
func (s *Server) approval(f *form) *round {
	asked := time.Now()
	return &round{
		requests: map[string]mcp.Request{inputName: {Method: mcp.MethodElicit, Params: f.params(mcp.Modern)}},
		answer: func(ctx context.Context, v *clientRequest, all map[string]json.RawMessage) (again *round, settled bool) {
			next, settled := s.answerForm(ctx, v, f, s.byPerson(v, readFormAnswer(all[inputName]), time.Since(asked)))
			if next != nil {
				return s.approval(next), false
			}
			return nil, settled
		},
	}
}

// readFormAnswer reads what a client brings. What cannot be read is no answer.
func readFormAnswer(text json.RawMessage) formAnswer {
	var b formAnswer
	if len(text) == 0 || json.Unmarshal(text, &b) != nil {
		return formAnswer{Action: "cancel"}
	}
	return b
}

// answerForm makes an answer of what a client brought. next is what to ask now: the
// second half of the answer, or the same again if it could not be taken; nil:
// nothing. settled: a person has decided, and be it that somebody else was first.
func (s *Server) answerForm(ctx context.Context, v *clientRequest, f *form, b formAnswer) (next *form, settled bool) {
	var reply desk.Reply
	switch b.Action {
	case "accept":
		var err error
		if reply, next, err = f.read(b.Content); err != nil {
			return s.askAgain(f, err), false
		}
		if next != nil {
			return next, false
		}
	case "decline":
		reply.Choice = desk.Deny
	default:
		s.screen.desk.Dismiss(f.question.ID, b.why)
		return nil, false
	}
	// The call that it lets go on may be at its end before this returns.
	_, err := s.screen.desk.Answer(context.WithoutCancel(ctx), f.question.ID, reply, s.by(v))
	if errors.Is(err, desk.ErrBadReply) {
		return s.askAgain(f, err), false
	}
	if err != nil {
		s.cfg.Log.Debug("an answer of a client does not count", "question", f.question.ID, "err", err)
	}
	return nil, true
}

// askAgain is the same form with what was wrong, as long as it is worth it.
func (s *Server) askAgain(f *form, why error) *form {
	again := *f
	again.why = why
	if again.tries++; again.tries < maxTries {
		return &again
	}
	s.screen.desk.Dismiss(f.question.ID, "")
	return nil
}

// by names who answers: the person who uses this client.
func (s *Server) by(v *clientRequest) string {
	name := s.caller.Subject
	if name == "" {
		name = "somebody"
	}
	if v.client.name != "" {
		name += " in " + v.client.name
	}
	if r := []rune(text.ShowExact(name)); len(r) > 60 {
		return string(r[:60])
	}
	return text.ShowExact(name)
}
