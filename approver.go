package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
)

// Approver asks a person. Whatever it returns, the call goes on only on an
// Answer that allows; an error means that nobody could be asked, and the end
// of ctx that nobody answered in time. An error that is ErrNobody and has a method
// Waits() bool which gives true says that the question stays open for an answer.
type Approver interface {
	Approve(ctx context.Context, q Question) (Answer, error)
}

// ErrNobody is the cause of a refusal where a person had to be asked and there
// was none.
var ErrNobody = errors.New("nobody is there to be asked")

// Question is put to a person before a call that guards want asked, or by a
// tool through [Env.Ask].
type Question struct {
	Call    Call            `json:"call"`
	Spec    Entry           `json:"spec"`
	Input   json.RawMessage `json:"input,omitempty"`   // what would run, in native form
	Effects Effects         `json:"effects"`           // what it can do, as far as guards understood it
	Preview string          `json:"preview,omitempty"` // what would change, as a unified difference
	Reasons []Verdict       `json:"reasons,omitempty"` // why it is asked
	// Places is where the paths of the input led when it was judged, after links:
	// the call opens no others, and an answer is about these.
	Places  []string `json:"places,omitempty"`
	Text    string   `json:"text,omitempty"`    // a tool's own question
	Options []string `json:"options,omitempty"` // the answers a tool offers
	ByPath  bool     `json:"by_path,omitempty"` // a part of what would change may be taken: see Answer.Paths
}

// Answer is what the person said. The zero value refuses.
type Answer struct {
	Decision Decision `json:"decision"` // Allow or Deny; Ask counts as Deny
	By       string   `json:"by,omitempty"`
	Message  string   `json:"message,omitempty"` // for the model, or the answer to a tool's question
	// Input, if set, replaces the arguments: it is admitted and judged again
	// before it runs.
	Input json.RawMessage `json:"input,omitempty"`
	// Paths, if set, are what is taken of the changes of a command: files, and
	// directories with all that is in them. The rest is dropped.
	Paths []string `json:"paths,omitempty"`
}
