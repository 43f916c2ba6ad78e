package host

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// The types of messages by which people on the bus are asked.
const (
	typeAsk     = "toolcrib.approval.request"
	typeAnswer  = "toolcrib.approval.response"
	typeSettled = "toolcrib.approval.settled"
)

// Approvals lets people answer on the bus what calls from the bus ask. The zero
// value does not: every client of a bus can send every message, and the one
// that wants something allowed, or a page or a tool that got hold of a
// connection, could give the answer itself.
//
// A question goes out as toolcrib.approval.request:
//
//	{"id", "tool", "toolbox_id", "text", "choices", "expires", "seal"}
//
// The answer comes as toolcrib.approval.response:
//
//	{"id", "choice": "once" | "session" | "deny", "message", "proof"}
//
// It is answered by toolcrib.approval.response.response with the state of the
// question, or an error; toolcrib.approval.settled tells everybody when a
// question needs no answer any more, wherever it was given.
//
// With a Secret, which the program that shows questions has too, nothing
// secret crosses the bus, where all would read it. The seal shows that a
// question is the host's own and has not been altered, and the proof that an
// answer is by somebody who knows the secret, to this question and no other:
//
//	seal  = hex(HMAC-SHA256(secret, "toolcrib.approval.request\n"  + id + "\n" + choices, joined by "," + "\n" + text))
//	proof = hex(HMAC-SHA256(secret, "toolcrib.approval.response\n" + id + "\n" + choice + "\n" + message))
//
// A program that shows questions must check the seal: without it, somebody else
// could have a person agree to a harmless text under the id of another question.
type Approvals struct {
	// Desk is where the crib asks people. Nil: nobody on the bus is asked.
	Desk *desk.Desk
	// Secret makes answers count that prove that they know it.
	Secret string
	// Anyone makes answers count that prove nothing, to what a tool asks a person
	// by itself; and everything that reaches the bus may refuse a call. To allow
	// one takes a proof: without, whoever calls could approve.
	Anyone bool
}

// minSecret is the shortest secret that is not guessed by trying.
const minSecret = 16

func (a Approvals) on() bool { return a.Desk != nil && (a.Secret != "" || a.Anyone) }

func (a Approvals) check() error {
	if a.Secret != "" && len(a.Secret) < minSecret {
		return fmt.Errorf("the secret for answers on the bus has %d bytes; at least %d are needed", len(a.Secret), minSecret)
	}
	if (a.Secret != "" || a.Anyone) && a.Desk == nil {
		return errors.New("answers on the bus are switched on, and there is no desk")
	}
	return nil
}

// choices are the answers that fit a question and can be given on the bus.
// What is remembered for longer than a conversation is allowed elsewhere, and
// without a proof no call is allowed at all: the bus does not tell who calls
// from who answers.
func (a Approvals) choices(q *desk.Question) []string {
	var list []string
	for _, o := range a.Desk.Offers(q) {
		switch o.Choice {
		case desk.Deny:
		case desk.AllowOnce:
			if a.Secret == "" && q.Text == "" {
				continue
			}
		case desk.AllowSession:
			if a.Secret == "" {
				continue
			}
		default:
			continue
		}
		list = append(list, string(o.Choice))
	}
	return list
}

// mac seals a message of some parts. Only the last can have lines in it.
func (a Approvals) mac(parts ...string) string {
	h := hmac.New(sha256.New, []byte(a.Secret))
	h.Write([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(h.Sum(nil))
}

// askData is a question on the bus.
type askData struct {
	ID        string   `json:"id"`
	Tool      string   `json:"tool"`
	ToolboxID string   `json:"toolbox_id,omitempty"`
	Text      string   `json:"text"`
	Choices   []string `json:"choices"`
	Expires   string   `json:"expires"`
	Seal      string   `json:"seal,omitempty"`
}

// settledData says what became of a question.
type settledData struct {
	ID    string `json:"id"`
	State string `json:"state,omitempty"`
	Error string `json:"error,omitempty"`
}

// reply reads an answer, and reports what is wrong with it.
func (a Approvals) reply(data map[string]json.RawMessage) (id string, r desk.Reply, err error) {
	given := map[string]string{}
	for _, key := range []string{"id", "choice", "message", "proof"} {
		if raw := data[key]; raw != nil {
			var s *string
			if json.Unmarshal(raw, &s) != nil || s == nil {
				return given["id"], r, fmt.Errorf("%s is not a text", key)
			}
			given[key] = *s
		}
	}
	id = text.Clip(given["id"], maxName)
	if strings.ContainsAny(id+given["choice"], "\n\r") {
		return id, r, errors.New("id and choice are single lines")
	}
	if a.Secret != "" {
		proof := a.mac(typeAnswer, given["id"], given["choice"], given["message"])
		if !hmac.Equal([]byte(proof), []byte(strings.ToLower(given["proof"]))) {
			return id, r, errors.New("the proof is missing or wrong")
		}
	}
	choice, err := desk.ParseChoice(given["choice"])
	if err != nil {
		return id, r, err
	}
	return id, desk.Reply{Choice: choice, Message: given["message"]}, nil
}

// takeAnswer takes a person's answer.
func (p *busScreen) takeAnswer(r request) {
	id, reply, err := p.approvals.reply(r.data)
	var q desk.Question
	if err == nil {
		q, err = p.answerQuestion(p.host.life, id, reply, p.by(r))
	}
	out := settledData{ID: id, State: string(q.State)}
	if err != nil {
		out.Error = text.Clip(err.Error(), maxDetail)
	}
	p.host.answer(r, out)
}

// answerQuestion gives an answer to a question that was asked on the bus.
func (p *busScreen) answerQuestion(ctx context.Context, id string, reply desk.Reply, by string) (desk.Question, error) {
	q, err := p.approvals.Desk.Question(ctx, id)
	if err == nil && !p.sees(q) {
		q, err = desk.Question{}, desk.ErrNotFound // those of other frontends are none of the bus's business
	}
	if err != nil {
		return q, err
	}
	if offered := p.approvals.choices(&q); q.State == desk.Open && !slices.Contains(offered, string(reply.Choice)) {
		return q, fmt.Errorf("%w: on the bus it is one of %s", desk.ErrBadReply, strings.Join(offered, ", "))
	}
	return p.approvals.Desk.Answer(ctx, id, reply, by)
}

// by names who answers, as far as the bus knows that.
func (p *busScreen) by(r request) string {
	name := "somebody on the bus"
	if source := r.Text("source"); source != "" {
		name += " as " + source
	}
	return text.Clip(text.ShowExact(name), 120)
}
