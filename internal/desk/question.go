package desk

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// State says how far a question has come. The zero value is none of them.
type State string

// The states. Only Open ever changes into another.
const (
	Open     State = "open"
	Allowed  State = "allowed"
	Denied   State = "denied"
	Expired  State = "expired"  // nobody answered
	Replaced State = "replaced" // what was shown is no longer what would happen
)

// Question is a question as it is kept and shown. What it asks about never
// changes under the same ID.
type Question struct {
	ID      string          `json:"id"`
	State   State           `json:"state"`
	Asked   time.Time       `json:"asked"`
	Expires time.Time       `json:"expires"`
	Call    string          `json:"call"` // the ID of the call that asks
	Caller  toolcrib.Caller `json:"caller"`
	Project string          `json:"project,omitempty"` // the directory that "for this project" means; empty: none

	Tool       string             `json:"tool"` // as called
	Box        string             `json:"box,omitempty"`
	Native     string             `json:"native,omitempty"`
	Definition string             `json:"definition"` // hash of the tool's definition
	Input      json.RawMessage    `json:"input,omitempty"`
	Redacted   bool               `json:"redacted,omitempty"` // Input is not all that the tool would be given
	Unseen     bool               `json:"unseen,omitempty"`   // what is hidden may be more than keys: a command, say
	Effects    toolcrib.Effects   `json:"effects"`
	Parts      []string           `json:"parts,omitempty"` // what it would do, one by one, such as the programs of a command
	Preview    string             `json:"preview,omitempty"`
	Cut        bool               `json:"cut,omitempty"` // the preview was too long to be kept whole
	Reasons    []toolcrib.Verdict `json:"reasons,omitempty"`
	Text       string             `json:"text,omitempty"` // a tool's own question
	Options    []string           `json:"options,omitempty"`
	ByPath     bool               `json:"by_path,omitempty"` // the answer may take a part of what would change

	// Floor: the answer is never remembered, and never given by a grant.
	Floor bool `json:"floor,omitempty"`
	// Arguments and Rules are what a grant could be bound to: the hash of the
	// normalised arguments, or the rules that a guard offers. Empty: it cannot.
	Arguments string   `json:"arguments,omitempty"`
	Rules     []string `json:"rules,omitempty"`
	// Wide are the further ways in which the answer could be remembered, and Dir the
	// directory that ByDirectory means.
	Wide []By   `json:"wide,omitempty"`
	Dir  string `json:"dir,omitempty"`
	// SetUp is a fingerprint of what stands behind the name of the toolbox.
	SetUp string `json:"set_up,omitempty"`

	// Files are the scripts that would run: a grant holds while they are as they
	// are here. Changed are those that were others when the same was allowed.
	Files   []File   `json:"files,omitempty"`
	Changed []string `json:"changed,omitempty"`

	// Waiting is how many equal calls wait for the answer. 0: none does any
	// more, and the answer is kept for the next one.
	Waiting int `json:"waiting"`
	// Replaces is the question that this one stands for, because what it
	// showed has changed.
	Replaces string `json:"replaces,omitempty"`

	Slot string `json:"slot"` // who asks for what
	Key  string `json:"key"`  // the slot and everything that was shown
	Like string `json:"like"` // equal for questions that one answer may fit

	Rev   int64  `json:"-"` // given by the store: grows with every change of any question
	Reply *Given `json:"reply,omitempty"`
}

// Current reports whether a question is one of now: a call waits for it, it was asked
// since then, or it is settled. One that an earlier program left open is none, until the
// same is asked again.
func (q *Question) Current(since time.Time) bool {
	return q.State != Open || q.Waiting > 0 || q.Asked.IsZero() || !q.Asked.Before(since)
}

// Given is the answer to a question.
type Given struct {
	Choice  Choice          `json:"choice"`
	By      string          `json:"by"`
	At      time.Time       `json:"at"`
	Message string          `json:"message,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Paths   []string        `json:"paths,omitempty"`  // the part that was taken
	Grant   string          `json:"grant,omitempty"`  // the grant that was saved with it
	Left    int             `json:"left,omitempty"`   // how many calls may still use it
	Told    bool            `json:"told,omitempty"`   // a call was told of the refusal
	Within  time.Duration   `json:"within,omitempty"` // how long it waits for its call; 0: as configured
}

// Live reports whether a call can still come across this question: it is
// open, or has an answer that nobody has used.
func (q *Question) Live() bool {
	switch q.State {
	case Open:
		return true
	case Allowed:
		return q.Reply != nil && q.Reply.Left > 0
	case Denied:
		return q.Reply != nil && !q.Reply.Told
	}
	return false
}

// askedByTool reports whether a tool asks, and not a guard.
func (q *Question) askedByTool() bool { return q.Text != "" }

// closeAs settles a question without an answer. What it showed is of no use then,
// and is not kept: who asks too much must not fill the disk.
func (q *Question) closeAs(s State) {
	q.State, q.Input, q.Parts, q.Preview, q.Options, q.Files = s, nil, nil, "", nil, nil
	q.Text = text.Head(q.Text, 1<<10)
	if q.Reply != nil {
		q.Reply.forget()
	}
}

// forget wipes what a person typed, and whatever use of it is left.
func (g *Given) forget() { g.Left, g.Told, g.Input, g.Paths, g.Message = 0, true, nil, nil, "" }

// clone makes the parts its own that are changed in place.
func (q Question) clone() Question {
	if q.Reply != nil {
		reply := *q.Reply
		q.Reply = &reply
	}
	return q
}

// The errors a caller may want to tell apart.
var (
	// ErrNotFound: there is no such question or remembered answer.
	ErrNotFound = errors.New("there is no such question or remembered answer")
	// ErrAnswered: somebody else was first; see [AnsweredError].
	ErrAnswered = errors.New("already answered")
	// ErrExpired: the question waited for too long.
	ErrExpired = errors.New("the question has expired")
	// ErrReplaced: what was shown is no longer what would happen.
	ErrReplaced = errors.New("the question was replaced, because what it showed has changed")
	// ErrBadReply: the answer does not fit the question.
	ErrBadReply = errors.New("this answer cannot be given")
	// ErrPending is the cause of a refusal whose question was left for later.
	ErrPending = fmt.Errorf("%w; the question waits", error(pending{}))
	// ErrFull is the cause of a refusal where too many questions wait already.
	ErrFull = errors.New("too many questions wait")
)

// AnsweredError says who was first.
type AnsweredError struct {
	By     string
	Choice Choice
	At     time.Time
}

func (e *AnsweredError) Error() string {
	return fmt.Sprintf("already answered by %s: %s", e.By, e.Choice)
}

// Is makes it an ErrAnswered.
func (e *AnsweredError) Is(target error) bool { return target == ErrAnswered }

// pending is ErrNobody where the question can still be answered.
type pending struct{}

func (pending) Error() string { return toolcrib.ErrNobody.Error() }
func (pending) Unwrap() error { return toolcrib.ErrNobody }

// Waits tells that an answer may still come (see [toolcrib.Approver]).
func (pending) Waits() bool { return true }
