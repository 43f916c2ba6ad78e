package desk

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Answer settles an open question. The first answer wins; who comes later gets
// an [AnsweredError] and has changed nothing. The question is given as it is
// then, whoever won.
func (d *Desk) Answer(ctx context.Context, id string, r Reply, by string) (Question, error) {
	if by == "" || len(by) > maxBy {
		return Question{}, fmt.Errorf("%w: who answers must be said, in at most %d bytes", ErrBadReply, maxBy)
	}
	var q Question
	var late error
	err := d.cfg.Store.Update(ctx, func(tx Tx) (err error) {
		late = nil
		if q, err = tx.Question(id); err != nil {
			return err
		}
		late, err = d.applyReply(tx, &q, r, by)
		return err
	})
	d.lookNow()
	if err != nil {
		return Question{}, fmt.Errorf("answering %s: %w", id, err)
	}
	if late != nil {
		return q, fmt.Errorf("answering %s: %w", id, late)
	}
	return q, nil
}

// applyReply makes an answer count. late says why it does not, where something may
// have to be written all the same.
func (d *Desk) applyReply(tx Tx, q *Question, r Reply, by string) (late, err error) {
	now := d.now()
	switch {
	case q.State == Expired:
		return ErrExpired, nil
	case q.State == Replaced:
		return ErrReplaced, nil
	case q.State != Open && q.Reply != nil:
		return &AnsweredError{By: q.Reply.By, Choice: q.Reply.Choice, At: q.Reply.At}, nil
	case q.State != Open:
		return ErrAnswered, nil
	case !now.Before(q.Expires):
		q.closeAs(Expired)
		return ErrExpired, tx.PutQuestion(*q)
	}
	if err := d.checkReply(r, q); err != nil {
		return nil, err
	}
	q.Reply = &Given{Choice: r.Choice, By: by, At: now, Message: r.Message}
	if r.Choice == Deny {
		q.State = Denied
		return nil, tx.PutQuestion(*q)
	}
	q.State = Allowed
	q.Reply.Within = r.Within
	q.Reply.Left = max(1, min(r.Calls, q.Waiting))
	q.Reply.Paths = slices.Clone(r.Paths)
	if r.Choice == Edit {
		q.Reply.Input = slices.Clone(r.Input)
	}
	if g := d.grant(r, q, by, now); g != nil {
		// The grant answers the calls that wait, and nothing else does: an
		// answer beside it would outlive its being revoked.
		q.Reply.Grant, q.Reply.Left = g.ID, 0
		if err := tx.PutGrant(*g); err != nil {
			return nil, err
		}
		if err := d.settleCovered(tx, g, q, now); err != nil {
			return nil, err
		}
	}
	return nil, tx.PutQuestion(*q)
}

// settleCovered settles the other questions that a new grant answers, so that nobody
// is asked what they have just said. Their calls look for a grant again, and if this
// one does not cover them after all they ask anew.
func (d *Desk) settleCovered(tx Tx, g *Grant, answered *Question, now time.Time) error {
	if g.by() == ByArguments {
		return nil
	}
	open, err := tx.Questions(Filter{State: Open, Subject: g.Subject})
	if err != nil {
		return err
	}
	for _, q := range open {
		if q.ID == answered.ID || !now.Before(q.Expires) || q.Unseen || !g.covers(&q, now) || len(g.changed(&q)) > 0 {
			continue
		}
		given := *answered.Reply
		q.State, q.Reply = Allowed, &given
		if err := tx.PutQuestion(q); err != nil {
			return err
		}
	}
	return nil
}

// Alike gives the open questions that are like this one, itself among them:
// the same tool, asked by the same caller, for the same reasons.
func (d *Desk) Alike(ctx context.Context, id string) (list []Question, err error) {
	err = d.cfg.Store.View(ctx, func(tx Tx) error {
		q, err := tx.Question(id)
		if err != nil {
			return err
		}
		list, err = tx.Questions(Filter{Like: q.Like, State: Open})
		return err
	})
	return list, err
}
