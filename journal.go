package toolcrib

import (
	"context"
	"encoding/json"
	"time"
)

// Journal remembers what was done. Begin is called before anything else
// happens to a call and must not return before the record would survive the
// death of the process: what cannot be recorded is not done. End is called
// once for every Begin that returned no error and no old record.
//
// If this subject used this call ID before, Begin writes nothing and gives the
// old record: closed, or with an empty Outcome while that call still runs.
//
// One that also has a method Digest(text []byte) string gives Record.InputHash
// and Record.ResultHash: equal for equal texts, under a key that is kept as long
// as the records are. Without it the key is one of this process, and a call ID
// of an earlier one cannot be answered again.
type Journal interface {
	Begin(ctx context.Context, r *Record) (old *Record, err error)
	End(ctx context.Context, r *Record) error
}

// Outcome says how a call ended: Done, Broke, Interrupted or a [Code]. A refused
// call has the code of its refusal. A call that was answered has timeout or
// cancelled if the answer says that its work was stopped. Empty: it has not ended.
type Outcome string

// The outcomes that are not codes.
const (
	Done        Outcome = "done"
	Broke       Outcome = "failed"      // the tool ran and answered that it, or its command, failed
	Interrupted Outcome = "interrupted" // the process died meanwhile; the effect is unknown
)

// Record is one line of the journal. Begin knows the first part; the rest is
// filled in by End. Input and Result are redacted and bounded before a
// Journal sees them; the hashes are of what was really sent and answered, under
// a key, so that nobody finds by trying what was redacted.
type Record struct {
	Seq       uint64          `json:"seq,omitempty"` // given by the journal
	ID        string          `json:"id"`
	Parent    string          `json:"parent,omitempty"`
	Caller    Caller          `json:"caller"`
	Tool      string          `json:"tool"` // as called
	Input     json.RawMessage `json:"input,omitempty"`
	InputHash string          `json:"input_hash"`
	Start     time.Time       `json:"start"`
	// Replay is the call ID that was used before and answered, or refused, from
	// its record. ID is then one of this repetition.
	Replay string `json:"replay,omitempty"`

	Box        string          `json:"box,omitempty"`
	Native     string          `json:"native,omitempty"`
	Definition string          `json:"definition,omitempty"` // Entry.Hash
	Verdicts   []Verdict       `json:"verdicts,omitempty"`
	ApprovedBy string          `json:"approved_by,omitempty"`
	Edited     json.RawMessage `json:"edited,omitempty"` // what a person put in place of Input
	Duration   time.Duration   `json:"duration_ns,omitempty"`
	Attempts   int             `json:"attempts,omitempty"` // if the tool was tried more than once
	Outcome    Outcome         `json:"outcome,omitempty"`
	Message    string          `json:"message,omitempty"` // of a refusal, or why a call that was answered is not done: exit status 3
	Result     json.RawMessage `json:"result,omitempty"`  // a Result as JSON
	ResultHash string          `json:"result_hash,omitempty"`
	Cut        bool            `json:"cut,omitempty"` // Result was too large to keep whole
}

// Answered reports whether the caller got a result, whatever it said: the tool ran.
func (r *Record) Answered() bool {
	switch r.Outcome {
	case Done, Broke:
		return true
	case Outcome(CodeTimeout), Outcome(CodeCancelled): // refusals have no result
		return r.ResultHash != "" || r.Result != nil
	}
	return false
}

// NoJournal is a Journal that keeps nothing. It has to be chosen by name: a
// nil Journal refuses every call.
type NoJournal struct{}

// Begin accepts every call.
func (NoJournal) Begin(context.Context, *Record) (*Record, error) { return nil, nil }

// End forgets it.
func (NoJournal) End(context.Context, *Record) error { return nil }
