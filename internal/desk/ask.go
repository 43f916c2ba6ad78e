package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Approve implements [toolcrib.Approver]. An Answer is a person's, given now,
// before, or as a grant. An error is a [*toolcrib.Error] whose message tells a
// model whether nobody answered in time (Timeout) or nobody could be asked
// (Unavailable), or else the end of ctx.
func (d *Desk) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	d.busy.Add(1)
	defer d.busy.Add(-1)
	var wait patience // all that is asked about one call is waited for together
	var timer *time.Timer
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()
	replaces := ""
	for range maxChanges {
		if err := ctx.Err(); err != nil {
			return toolcrib.Answer{}, err
		}
		draft, err := d.draft(q)
		if err != nil {
			return toolcrib.Answer{}, err
		}
		draft.Replaces = replaces
		if span := d.patience(&draft); timer == nil && span > 0 {
			timer = time.NewTimer(span)
			wait = patience{timer.C, span}
		}
		answer, waited, err := d.answerTo(ctx, draft, wait)
		if err != nil || waited == "" || answer.Decision != toolcrib.Allow || answer.Input != nil {
			return answer, d.storeFailed(ctx, &draft, err)
		}
		// What the wiring binds the answer to may have changed while the person
		// thought, such as the program that would run.
		now, err := d.draft(q)
		if err != nil {
			return toolcrib.Answer{}, err
		}
		if now.Key == draft.Key {
			return answer, nil
		}
		replaces = waited
	}
	return toolcrib.Answer{}, &toolcrib.Error{Code: toolcrib.CodeDenied, Tool: q.Call.Tool, Err: ErrReplaced,
		Message: "what this call would do changed each time a person was asked about it; look again before you repeat it"}
}

// maxChanges is how often a person is asked about a call that keeps changing.
const maxChanges = 3

// answerTo finds an answer to a question or waits for one: then it says for
// which question.
func (d *Desk) answerTo(ctx context.Context, draft Question, wait patience) (answer toolcrib.Answer, waited string, err error) {
	if answer, ok, err := d.remembered(ctx, &draft); err != nil || ok {
		return answer, "", err
	}
	if d.sweepDue() {
		if err := d.Sweep(ctx); err != nil {
			return toolcrib.Answer{}, "", err
		}
	}
	for {
		s, err := d.askAndWait(ctx, draft, wait, &waited)
		if err != nil || s.done {
			return s.answer, waited, err
		}
		// The answer was for fewer calls than wait: ask for this one again.
	}
}

// askAndWait asks, and waits.
func (d *Desk) askAndWait(ctx context.Context, draft Question, wait patience, waited *string) (askState, error) {
	w := newWaiter()
	defer d.unlisten(w)
	s, err := d.findOrAdd(ctx, draft, w)
	if err != nil || s.done {
		return s, err
	}
	*waited = s.id
	if err := d.startFeed(ctx); err != nil {
		return askState{}, d.stopWaiting(ctx, s.id, err)
	}
	defer d.release()
	return d.await(ctx, w, wait)
}

// patience is how long a call waits for the answer to its question.
func (d *Desk) patience(q *Question) time.Duration {
	if d.cfg.Alone > 0 && (d.cfg.Wait == 0 || d.cfg.Alone < d.cfg.Wait) && !d.attended(q) {
		return d.cfg.Alone
	}
	return d.cfg.Wait
}

// storeFailed makes a failure of the store one that a model can be told of.
func (d *Desk) storeFailed(ctx context.Context, q *Question, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if _, own := toolcrib.AsError(err); own {
		return err
	}
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: q.Tool, Message: q.need() + ", and the question could not be kept", Err: err}
}

// askState is how far a call has come.
type askState struct {
	done   bool // answer is the answer
	answer toolcrib.Answer
	id     string // the question to wait for
}

// remembered looks for a grant, without keeping anybody out.
func (d *Desk) remembered(ctx context.Context, draft *Question) (answer toolcrib.Answer, ok bool, err error) {
	if draft.Floor || draft.askedByTool() {
		return answer, false, nil
	}
	err = d.cfg.Store.View(ctx, func(tx Tx) error {
		answer, ok, err = d.granted(tx, draft)
		return err
	})
	return answer, ok, err
}

func (d *Desk) granted(tx Tx, draft *Question) (toolcrib.Answer, bool, error) {
	if draft.Floor || draft.askedByTool() {
		return toolcrib.Answer{}, false, nil
	}
	tool, box := draft.bound()
	list, err := tx.Grants(GrantFilter{Bound: tool, Arguments: draft.Arguments})
	if err == nil && len(draft.Wide) > 0 {
		var wide []Grant
		wide, err = tx.Grants(GrantFilter{Bound: box, Arguments: draft.Arguments})
		list = append(list, wide...)
	}
	if err != nil {
		return toolcrib.Answer{}, false, err
	}
	now := d.now()
	draft.Changed = nil
	for i := range list {
		g := &list[i]
		if !g.covers(draft, now) {
			continue
		}
		changed := g.changed(draft)
		if len(changed) == 0 {
			return toolcrib.Answer{Decision: toolcrib.Allow, By: "grant " + g.ID + " by " + g.By}, true, nil
		}
		draft.Changed = changed // since the newest, which is the last
	}
	return toolcrib.Answer{}, false, nil
}

// findOrAdd finds an answer to the question, or the question itself if it is asked
// already, or else adds it. The waiter hears of it before any screen does.
func (d *Desk) findOrAdd(ctx context.Context, draft Question, w *waiter) (s askState, err error) {
	waits := d.attended(&draft) || d.cfg.Unattended == Await || d.cfg.Watched != nil && d.cfg.Watched()
	var refusal error
	err = d.cfg.Store.Update(ctx, func(tx Tx) error {
		now := d.now()
		s, refusal = askState{}, nil
		answer, ok, err := d.granted(tx, &draft)
		if err != nil || ok {
			s = askState{done: ok, answer: answer}
			return err
		}
		live, err := tx.Questions(Filter{Slot: draft.Slot, Live: true})
		if err != nil {
			return err
		}
		for _, q := range live {
			if s.done || s.id != "" {
				break
			}
			if s, err = d.meetSameSlot(tx, q, &draft, waits, now); err != nil {
				return err
			}
		}
		switch {
		case s.done:
			return nil
		case s.id != "" && waits:
			d.listen(w, s.id)
			return nil
		case s.id != "":
			refusal = d.unattended(&draft, s.id)
			return nil
		case !waits && d.cfg.Unattended == Refuse:
			refusal = d.unattended(&draft, "")
			return nil
		}
		if refusal, err = d.checkRoom(tx, &draft); err != nil || refusal != nil {
			return err
		}
		if draft.ID, err = d.freshID(tx); err != nil {
			return err
		}
		draft.Asked, draft.Expires = now, now.Add(d.cfg.Expire)
		if waits {
			draft.Waiting = 1
			d.listen(w, draft.ID)
		} else {
			refusal = d.unattended(&draft, draft.ID)
		}
		s.id = draft.ID
		return tx.PutQuestion(draft)
	})
	d.lookNow()
	if err == nil {
		err = refusal
	}
	return s, err
}

// meetSameSlot is what happens where a question with the same slot is there already.
func (d *Desk) meetSameSlot(tx Tx, q Question, draft *Question, waits bool, now time.Time) (askState, error) {
	switch {
	case q.State == Open && !now.Before(q.Expires):
		q.closeAs(Expired)
		return askState{}, tx.PutQuestion(q)
	case q.Key != draft.Key && q.Waiting > 0 && q.Caller.Session != draft.Caller.Session:
		// It is another conversation's, where the same call is judged by other
		// reasons. Both are asked: if each made the other void, neither would
		// ever be answered.
		return askState{}, nil
	case q.Key != draft.Key:
		// What the person saw, or would see, is not what would happen.
		q.closeAs(Replaced)
		draft.Replaces = q.ID
		return askState{}, tx.PutQuestion(q)
	case q.State == Open && waits:
		if q.Waiting >= maxWaiting {
			return askState{}, d.full(draft, q.Waiting)
		}
		q.adopt(draft)
		q.Waiting++
		return askState{id: q.ID}, tx.PutQuestion(q)
	case q.State == Open:
		return askState{id: q.ID}, nil
	}
	return d.useAnswer(tx, q, now)
}

// adopt makes a question that of the call that asks again: a caller that comes
// back after a restart has another session, and its screens go by that.
func (q *Question) adopt(draft *Question) {
	if q.Waiting == 0 || q.Caller.Session != draft.Caller.Session {
		q.Call, q.Caller = draft.Call, draft.Caller
	}
}

// goodUntil is when an answer is too old to be used.
func (d *Desk) goodUntil(r *Given) time.Time {
	if r.Within > 0 && r.Within < d.cfg.AnswerFor {
		return r.At.Add(r.Within)
	}
	return r.At.Add(d.cfg.AnswerFor)
}

// useAnswer uses an answer. It is not done if there is nothing left to use.
func (d *Desk) useAnswer(tx Tx, q Question, now time.Time) (askState, error) {
	r := q.Reply
	if r == nil || now.After(d.goodUntil(r)) {
		return askState{}, nil
	}
	switch q.State {
	case Denied:
		s := askState{done: true, answer: toolcrib.Answer{Decision: toolcrib.Deny, By: r.By, Message: r.Message}}
		if r.Told {
			return s, nil
		}
		r.Told = true
		return s, tx.PutQuestion(q)
	case Allowed:
		if r.Left <= 0 {
			return askState{}, nil
		}
		s := askState{done: true, answer: toolcrib.Answer{Decision: toolcrib.Allow, By: r.By, Message: r.Message, Input: r.Input, Paths: r.Paths}}
		if r.Left--; r.Left == 0 {
			r.Input, r.Paths, r.Message = nil, nil, ""
		}
		return s, tx.PutQuestion(q)
	}
	return askState{}, nil
}

// checkRoom refuses a question too many: who asks for everything is asked nothing.
func (d *Desk) checkRoom(tx Tx, draft *Question) (refusal, err error) {
	open, err := tx.Questions(Filter{State: Open, Subject: draft.Caller.Subject})
	if err != nil {
		return nil, err
	}
	own, session := len(open), 0
	for i := range open {
		if open[i].Caller.Session == draft.Caller.Session {
			session++
		}
	}
	all, err := tx.Count(Filter{State: Open})
	if err != nil {
		return nil, err
	}
	if own < d.cfg.MaxOpen && session < d.cfg.MaxSession && all < d.cfg.MaxTotal {
		return nil, nil
	}
	return d.full(draft, max(own, 1)), nil
}

// maxWaiting bounds how many equal calls wait for one answer.
const maxWaiting = 256

func (d *Desk) full(q *Question, n int) error {
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: q.Tool, Err: ErrFull,
		Message: fmt.Sprintf("a person has to approve this, and %d calls wait for an answer already; wait until some are answered", n)}
}

func (d *Desk) freshID(tx Tx) (string, error) {
	for {
		id := d.newID("q-")
		_, err := tx.Question(id)
		if errors.Is(err, ErrNotFound) {
			return id, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// unattended tells a model that nobody is there, and what to do about it.
func (d *Desk) unattended(q *Question, id string) error {
	what := q.need() + ", and nobody is there to be asked"
	if id != "" && d.cfg.Unattended == Leave {
		asked := *q
		asked.ID = id
		return d.refuseForNow(&asked, toolcrib.CodeUnavailable, ErrPending, what)
	}
	e := &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: q.Tool, Err: toolcrib.ErrNobody, Message: what}
	if why := asking(q.Reasons); why != "" {
		e.Message += ": " + why
	}
	return e
}
