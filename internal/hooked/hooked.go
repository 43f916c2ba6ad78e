// Package hooked has a crib judge and record what a client does with its own
// tools, of which its hooks tell. It joins what reads those messages to a crib
// that the wiring has made for one of them; the command line reads and answers by
// it.
//
// Its one invariant: what was not allowed by a call of the crib is never told as a
// yes.
package hooked

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/clienthook"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// Asker says who asks the person where a guard wants one asked.
type Asker int

// The client asks in its own words and at its own place, or the desk does.
const (
	Client Asker = iota
	Desk
)

// Message is one message of a client, and who answers for it.
type Message struct {
	Event  *clienthook.Event
	Caller toolcrib.Caller
	Ask    Asker
	// Scanner finds secrets, if somebody has begun to read its table. Nil: it is read.
	Scanner func() (*secrets.Scanner, error)
	// Asking is called when the desk begins to wait for a person, and when that is over. It
	// may be nil.
	Asking func(now bool)
}

// The words that a client is told, and the most that one may send.
const (
	No   = clienthook.No
	Yes  = clienthook.Yes
	Pass = clienthook.Pass
	Most = clienthook.MaxInput
)

// Word is what a client is told.
type Word = clienthook.Word

// Clients lists the clients whose hooks are read.
func Clients() []string { return clienthook.Clients() }

// Answer is what a client is told: on standard output, on standard error, and by
// the exit status.
func Answer(client string, word Word, reason string) (stdout, stderr string, status int) {
	return clienthook.Answer(client, word, reason)
}

// Judge is a crib for one message.
type Judge struct {
	Crib *toolcrib.Crib
	// Approver is put before whoever is asked. Nil: nothing is.
	Approver func(toolcrib.Approver) toolcrib.Approver
	// Desk is who is asked where the client does not ask.
	Desk func() (toolcrib.Approver, error)
	// Hidden says why a tool does not exist for a caller; empty: it does.
	Hidden func(caller toolcrib.Caller, tool string) string
}

// Say judges, or records, what a client does with its own tools.
func (j *Judge) Say(ctx context.Context, m *Message) (Word, string) {
	e, caller := m.Event, m.Caller
	caller.Client, caller.Session = e.Client, e.Session
	var verdicts []toolcrib.Verdict
	j.Crib.OnEnd = append(j.Crib.OnEnd, func(_ context.Context, r *toolcrib.Record) { verdicts = r.Verdicts })
	if e.After {
		if _, err := j.Crib.Call(ctx, toolcrib.Call{Tool: clienthook.Outcome, Input: clienthook.OutcomeInput(e), Caller: caller, Parent: e.Use}); err != nil {
			return No, refusal(err)
		}
		return Pass, ""
	}
	ask := &approver{event: e, asking: m.Asking}
	if m.Ask == Desk || !e.Asks {
		ask.desk = j.Desk
	}
	j.Crib.Approver = ask
	if j.Approver != nil {
		j.Crib.Approver = j.Approver(ask)
	}
	word := clienthook.Yes // if each of them is allowed by a rule
	for _, d := range e.Deeds {
		name := d.Tool
		for spec := range j.Crib.Tools(caller) { // another may have the same name
			if spec.Box == d.Box && spec.Native == d.Tool {
				name = spec.Name
			}
		}
		result, err := j.Crib.Call(ctx, toolcrib.Call{Tool: name, Input: d.Input, Caller: caller, Parent: e.Use})
		switch {
		case err != nil:
			if why := j.Hidden(caller, name); why != "" && toolcrib.CodeOf(err) == toolcrib.CodeNotFound {
				return No, why
			}
			return No, refusal(err)
		case result.Failed:
			return No, result.String()
		case !byRule(verdicts):
			word = Pass
		}
	}
	if ask.asked != "" {
		return clienthook.Query, ask.asked
	}
	return word, ""
}

func refusal(err error) string {
	if e, ok := toolcrib.AsError(err); ok {
		return e.Message
	}
	return err.Error()
}

// byRule reports whether a person's own words allow a call: a rule, or a mode that
// they chose. That looking is allowed is no such word, and neither is a mode for a
// command that nothing bounds: the client goes by its own rules then.
func byRule(verdicts []toolcrib.Verdict) bool {
	return slices.ContainsFunc(verdicts, func(v toolcrib.Verdict) bool {
		if v.Note || v.Decision != toolcrib.Allow {
			return false
		}
		return v.Guard == "rules" || v.Guard == "shell" && v.Rule != shellguard.ReadsOnly && v.Rule != shellguard.Unasked || v.Guard == "mode" && v.Rule != "default" && v.Rule != "plan"
	})
}

// approver hands a question to the client, or puts it to the desk.
type approver struct {
	event *clienthook.Event
	asked string // why the client has to ask
	desk  func() (toolcrib.Approver, error)

	asking func(now bool)
}

func (h *approver) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	if h.desk != nil {
		d, err := h.desk()
		if err != nil {
			return toolcrib.Answer{}, err
		}
		if h.asking != nil {
			h.asking(true)
			defer h.asking(false)
		}
		return d.Approve(ctx, q)
	}
	var why []string
	for _, v := range q.Reasons {
		if v.Decision == toolcrib.Ask && !v.Note {
			why = append(why, v.Guard+": "+v.Reason)
		}
	}
	if h.asked != "" {
		h.asked += "\n"
	}
	h.event.Asked = true
	h.asked += cmp.Or(strings.Join(why, "\n"), "its rules want a person asked")
	return toolcrib.Answer{Decision: toolcrib.Allow, By: "whoever " + h.event.Client + " asks"}, nil
}
