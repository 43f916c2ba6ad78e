package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// await waits until a question is settled and uses its answer. It is not done
// if others have used the answer up.
func (d *Desk) await(ctx context.Context, w *waiter, p patience) (askState, error) {
	id := w.id
	// Looked at after listening began, so that no answer falls between.
	for {
		q, err := d.Question(ctx, id)
		if errors.Is(err, ErrNotFound) {
			return askState{}, nil // it was cleaned up, so it was settled
		}
		if err != nil {
			return askState{}, d.stopWaiting(ctx, id, err)
		}
		if q.State != Open {
			return d.collect(ctx, id)
		}
		expiry := time.NewTimer(max(q.Expires.Sub(d.now()), 0))
		select {
		case <-w.settled:
			expiry.Stop()
		case <-expiry.C:
			if err := d.expire(ctx, id); err != nil {
				return askState{}, err
			}
		case why := <-w.dismissed:
			expiry.Stop()
			return askState{}, d.stopWaiting(ctx, id, d.refuseForNow(&q, toolcrib.CodeUnavailable, ErrPending, cmp.Or(why, "a person was asked and closed the question without an answer")))
		case <-p.over:
			expiry.Stop()
			return askState{}, d.stopWaiting(ctx, id, d.refuseForNow(&q, toolcrib.CodeTimeout, context.DeadlineExceeded, fmt.Sprintf("%s, and nobody answered within %v", q.need(), p.span)))
		case <-ctx.Done():
			expiry.Stop()
			return askState{}, d.stopWaiting(ctx, id, ctx.Err())
		}
	}
}

// collect uses the answer to a settled question.
func (d *Desk) collect(ctx context.Context, id string) (s askState, err error) {
	err = d.cfg.Store.Update(ctx, func(tx Tx) error {
		s = askState{}
		q, err := tx.Question(id)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		switch q.State {
		case Expired:
			return &toolcrib.Error{Code: toolcrib.CodeTimeout, Tool: q.Tool, Err: ErrExpired,
				Message: "a person was asked, and nobody answered question " + id + " in time"}
		case Replaced:
			return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: q.Tool, Err: ErrReplaced,
				Message: "what this would do has changed while a person was asked about it; call it again"}
		}
		s, err = d.useAnswer(tx, q, d.now())
		return err
	})
	return s, err
}

// stopWaiting notes that a call waits no longer. The question stays: the answer is
// then for the call that is made again. It gives the reason for leaving.
func (d *Desk) stopWaiting(ctx context.Context, id string, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := d.cfg.Store.Update(ctx, func(tx Tx) error {
		q, err := tx.Question(id)
		if errors.Is(err, ErrNotFound) || err == nil && (q.State != Open || q.Waiting == 0) {
			return nil
		}
		if err != nil {
			return err
		}
		q.Waiting--
		return tx.PutQuestion(q)
	})
	if err != nil { // the number is for the eye only
		d.cfg.Log.Warn("noting that a call waits no longer", "question", id, "err", err)
	}
	d.lookNow()
	return why
}

// expire ends a question that nobody answered, if its time has come.
func (d *Desk) expire(ctx context.Context, id string) error {
	err := d.cfg.Store.Update(ctx, func(tx Tx) error {
		q, err := tx.Question(id)
		if errors.Is(err, ErrNotFound) || err == nil && (q.State != Open || d.now().Before(q.Expires)) {
			return nil
		}
		if err != nil {
			return err
		}
		q.closeAs(Expired)
		return tx.PutQuestion(q)
	})
	d.lookNow()
	return err
}

// patience is how long a call waits.
type patience struct {
	over <-chan time.Time // nil: never
	span time.Duration
}

// waiter is a call that waits for the answer to a question.
type waiter struct {
	id        string        // of the question
	settled   chan struct{} // closed when there is one
	dismissed chan string   // gets why when there will be none for now
}

func newWaiter() *waiter {
	return &waiter{settled: make(chan struct{}), dismissed: make(chan string, 1)}
}

// listen has a waiter told of what becomes of a question, and of no other.
func (d *Desk) listen(w *waiter, id string) {
	d.ears.Lock()
	defer d.ears.Unlock()
	d.dropWaiter(w)
	w.id = id
	if d.waiters[id] == nil {
		d.waiters[id] = map[*waiter]struct{}{}
	}
	d.waiters[id][w] = struct{}{}
}

// unlisten has it told of nothing any more.
func (d *Desk) unlisten(w *waiter) {
	d.ears.Lock()
	defer d.ears.Unlock()
	d.dropWaiter(w)
}

func (d *Desk) dropWaiter(w *waiter) {
	delete(d.waiters[w.id], w)
	if len(d.waiters[w.id]) == 0 {
		delete(d.waiters, w.id)
	}
}

// tellWaiters says that a question is settled.
func (d *Desk) tellWaiters(id string) {
	d.ears.Lock()
	defer d.ears.Unlock()
	for w := range d.waiters[id] {
		close(w.settled)
	}
	delete(d.waiters, id)
}

// Dismiss says that the person at a screen closed a question without an
// answer, or what happened instead. The calls of this process that wait for it are
// told to come back later; the question stays open, and can be answered elsewhere.
func (d *Desk) Dismiss(id, why string) {
	d.ears.Lock()
	defer d.ears.Unlock()
	for w := range d.waiters[id] {
		select {
		case w.dismissed <- why:
		default: // it was told already
		}
	}
}

// refuseForNow refuses a call whose question stays open, and says what to do about it.
func (d *Desk) refuseForNow(q *Question, code toolcrib.Code, cause error, what string) error {
	message := what
	if why := asking(q.Reasons); why != "" {
		message += ": " + why
	}
	if len(q.Changed) > 0 {
		message += ". It was allowed before, and " + text.ShowExact(strings.Join(q.Changed, " and ")) + " has changed since"
	}
	message += ". Question " + q.ID + " stays open"
	if d.cfg.How != nil {
		message += "; a person answers it with " + d.cfg.How(q.ID, q.askedByTool())
	}
	return &toolcrib.Error{Code: code, Tool: q.Tool, Err: cause,
		Message: message + ". Go on with something else; once it is answered, repeat the call with the same arguments"}
}

// need says what a person is needed for.
func (q *Question) need() string {
	if q.askedByTool() {
		return "a person has to answer this"
	}
	return "a person has to approve this"
}

// asking says in one line why a question is asked.
func asking(reasons []toolcrib.Verdict) string {
	var parts []string
	for _, v := range reasons {
		if v.Decision == toolcrib.Ask && !v.Note {
			reason := text.Head(strings.ReplaceAll(v.Reason, "\n", "; "), 2<<10)
			parts = append(parts, strings.TrimSuffix(v.Guard+": "+reason, ": "))
		}
	}
	return strings.Join(parts, "; ")
}
