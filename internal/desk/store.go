package desk

import (
	"context"
	"time"
)

// Store keeps questions and grants. It knows none of the desk's rules; all
// that it promises is that changes are made one after the other.
type Store interface {
	// Update runs fn with everybody else kept out, those in other processes
	// too. What fn has put is kept if it returns nil, and none of it otherwise;
	// when Update returns nil it survives the death of the process.
	Update(ctx context.Context, fn func(Tx) error) error
	// View runs fn, which only reads. It does not keep anybody out.
	View(ctx context.Context, fn func(Tx) error) error
}

// Tx is a store inside of Update or View; it is good until fn returns. What it
// hands out and takes is never shared with anybody else.
type Tx interface {
	// Question gives a question, or ErrNotFound.
	Question(id string) (Question, error)
	// Questions gives those that a filter chooses, in the order of Rev.
	Questions(f Filter) ([]Question, error)
	// Count says how many Questions would give.
	Count(f Filter) (int, error)
	// PutQuestion adds a question or replaces it, with the next Rev.
	PutQuestion(q Question) error
	// DropQuestion removes a question. That it is not there is no error.
	DropQuestion(id string) error
	// Rev is the newest Rev that was ever given; 0: none was.
	Rev() (int64, error)

	// Grant gives a grant, or ErrNotFound.
	Grant(id string) (Grant, error)
	// Grants gives those that a filter chooses, oldest first.
	Grants(f GrantFilter) ([]Grant, error)
	PutGrant(g Grant) error
	DropGrant(id string) error
}

// Filter chooses questions. Its zero value chooses all.
type Filter struct {
	After   int64 // changed since this Rev
	State   State
	Live    bool // only those that [Question.Live] is true of
	Slot    string
	Like    string
	Subject string
	Before  time.Time // asked before
	Limit   int       // at most so many; 0: no bound
}

// GrantFilter chooses grants. Its zero value chooses all.
type GrantFilter struct {
	Subject string
	// Bound is what [Grant.Bound] gives; with it, Arguments are those of a call:
	// grants of other arguments are left out, grants of rules are not.
	Bound     string
	Arguments string
}

// Picks reports whether a grant is chosen.
func (f GrantFilter) Picks(g *Grant) bool {
	return (f.Subject == "" || g.Subject == f.Subject) &&
		(f.Bound == "" || g.Bound() == f.Bound && (g.Arguments == "" || g.Arguments == f.Arguments))
}

// Picks reports whether a question is chosen, but for the limit.
func (f Filter) Picks(q *Question) bool {
	return q.Rev > f.After &&
		(f.State == "" || q.State == f.State) &&
		(!f.Live || q.Live()) &&
		(f.Slot == "" || q.Slot == f.Slot) &&
		(f.Like == "" || q.Like == f.Like) &&
		(f.Subject == "" || q.Caller.Subject == f.Subject) &&
		(f.Before.IsZero() || q.Asked.Before(f.Before))
}
