package desk

import (
	"context"
	"errors"
	"time"
)

// sweepEvery is how often a desk that is in use cleans up.
const sweepEvery = time.Minute

// Sweep ends the questions whose time is over and removes what nobody needs to
// look at any more. A desk in use does it by itself.
func (d *Desk) Sweep(ctx context.Context) error {
	now := d.now()
	var due []string
	var gone []Grant
	err := d.cfg.Store.View(ctx, func(tx Tx) error { // most times there is nothing to do
		due, gone = nil, nil
		for _, f := range []Filter{{Live: true}, {Before: now.Add(-d.retention()), Limit: 1000}} {
			list, err := tx.Questions(f)
			if err != nil {
				return err
			}
			for _, q := range list {
				if d.overdue(&q, now) {
					due = append(due, q.ID)
				}
			}
		}
		grants, err := tx.Grants(GrantFilter{})
		if err != nil {
			return err
		}
		for _, g := range grants {
			if d.forgotten(&g, now) {
				gone = append(gone, g)
			}
		}
		return nil
	})
	if err != nil || len(due) == 0 && len(gone) == 0 {
		return err
	}
	return d.cfg.Store.Update(ctx, func(tx Tx) error {
		for _, id := range due {
			if err := d.tidy(tx, id, now); err != nil {
				return err
			}
		}
		for _, g := range gone {
			if err := tx.DropGrant(g.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// forgotten reports whether a grant ended long ago. One that ended never
// holds again, so that it need not be looked at a second time.
func (d *Desk) forgotten(g *Grant, now time.Time) bool {
	end := g.Expires
	if !g.Revoked.IsZero() && (end.IsZero() || g.Revoked.Before(end)) {
		end = g.Revoked
	}
	return !end.IsZero() && now.After(end.Add(d.cfg.Keep))
}

// stale reports whether an answer waits for its call in vain.
func (d *Desk) stale(q *Question, now time.Time) bool {
	return q.State != Open && q.Live() && now.After(d.goodUntil(q.Reply))
}

// old reports whether a question need not be kept.
func (d *Desk) old(q *Question, now time.Time) bool {
	return q.State != Open && now.After(q.Asked.Add(d.retention()))
}

// retention is how long after it was asked a question is kept at most.
func (d *Desk) retention() time.Duration { return d.cfg.Expire + d.cfg.AnswerFor + d.cfg.Keep }

// sweepDue says, once a minute, that it is time.
func (d *Desk) sweepDue() bool {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.swept) < sweepEvery {
		return false
	}
	d.swept = now
	return true
}

// overdue reports whether there is something to tidy up.
func (d *Desk) overdue(q *Question, now time.Time) bool {
	return q.State == Open && !now.Before(q.Expires) || d.stale(q, now) || d.old(q, now)
}

func (d *Desk) tidy(tx Tx, id string, now time.Time) error {
	q, err := tx.Question(id)
	if errors.Is(err, ErrNotFound) {
		return nil // another process was faster
	}
	if err != nil {
		return err
	}
	switch {
	case d.old(&q, now):
		return tx.DropQuestion(id)
	case q.State == Open && !now.Before(q.Expires):
		q.closeAs(Expired)
		return tx.PutQuestion(q)
	case d.stale(&q, now): // what the person typed is not kept longer than needed
		q.Reply.forget()
		return tx.PutQuestion(q)
	}
	return nil
}
