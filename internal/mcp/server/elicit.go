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
	var why error
	for range maxTries {
		form, asked := s.newForm(q, why), time.Now()
		answer, err := v.reply.ask(ctx, mcp.MethodElicit, form.params(v.client.version))
		if ctx.Err() != nil || errors.Is(err, errAnswered) {
			return // answered elsewhere, or the call has ended
		}
		if err != nil {
			s.cfg.Log.Warn("a client cannot ask its person", "question", q.ID, "err", err)
			break
		}
		if why = s.answerQuestion(ctx, v, q, s.byPerson(v, readFormAnswer(answer), time.Since(asked))); why == nil {
			return
		}
	}
	s.screen.desk.Dismiss(q.ID, "")
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

// approval is the round in which a client of the modern era is asked. why is
// what was wrong with the answer before, and try which time this is.
func (s *Server) approval(q *desk.Question, why error, try int) *round {
	form, asked := s.newForm(q, why), time.Now()
	return &round{
		requests: map[string]mcp.Request{inputName: {Method: mcp.MethodElicit, Params: form.params(mcp.Modern)}},
		answer: func(ctx context.Context, v *clientRequest, all map[string]json.RawMessage) (again *round, settled bool) {
			b := s.byPerson(v, readFormAnswer(all[inputName]), time.Since(asked))
			err := s.answerQuestion(ctx, v, q, b)
			switch {
			case err == nil:
				return nil, b.Action == "accept" || b.Action == "decline"
			case try < maxTries:
				return s.approval(q, err, try+1), false
			}
			s.screen.desk.Dismiss(q.ID, "")
			return nil, false
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

// answerQuestion makes an answer of what a client brought. An error says what was wrong
// with it; that somebody else was first is none.
func (s *Server) answerQuestion(ctx context.Context, v *clientRequest, q *desk.Question, b formAnswer) error {
	var reply desk.Reply
	switch b.Action {
	case "accept":
		var err error
		if reply, err = s.newForm(q, nil).read(b.Content); err != nil {
			return err
		}
	case "decline":
		reply.Choice = desk.Deny
	default:
		s.screen.desk.Dismiss(q.ID, b.why)
		return nil
	}
	// The call that it lets go on may be at its end before this returns.
	_, err := s.screen.desk.Answer(context.WithoutCancel(ctx), q.ID, reply, s.by(v))
	if err != nil && !errors.Is(err, desk.ErrBadReply) {
		s.cfg.Log.Debug("an answer of a client does not count", "question", q.ID, "err", err)
		return nil
	}
	return err
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
