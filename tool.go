package toolcrib

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Spec is the contract of a tool: what callers, guards and models see.
type Spec struct {
	Name        string `json:"name"` // [a-zA-Z0-9_-]{1,64}
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Input and Output are JSON Schemas, kept as text so that a contract from
	// elsewhere passes through byte for byte. Input nil: no arguments. Output
	// nil: free content, nothing is checked.
	Input  json.RawMessage `json:"input,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`

	Effects    Effects       `json:"effects"`              // zero: undeclared, counts as all
	Calls      bool          `json:"calls,omitempty"`      // it calls other tools; each such call is judged by itself, so Effects says nothing of them
	Idempotent bool          `json:"idempotent,omitempty"` // a second run changes nothing more
	Group      string        `json:"group,omitempty"`      // fs, search, exec, web, …: profiles select by it
	Timeout    time.Duration `json:"timeout,omitempty"`    // zero: the crib's default
}

// Leads is what a call may lead to: the effects, or any at all where it calls other tools. It is for whoever shows a
// tool. Guards judge by Effects, and the calls that it makes by theirs.
func (s *Spec) Leads() Effects {
	if s.Calls {
		return 0
	}
	return s.Effects
}

// LeadsText says it in words.
func (s *Spec) LeadsText() string {
	if s.Calls {
		return "calls tools"
	}
	return s.Effects.String()
}

// Tool is a contract and a function. It is a value: to wrap one, copy it and
// put another Run in. [Define] makes one from a typed Go function; bridges to
// other systems fill the fields themselves. Both are checked the same way.
type Tool struct {
	Spec
	// Run does the work. An error with a [Code], such as an *Error, is a refusal (a
	// bridge says [CodeUnavailable]); any other error is a failed Result.
	Run func(ctx context.Context, env *Env, input json.RawMessage) (*Result, error)
	// Preview tells what a call would change, as a unified difference, for the
	// person who is asked about it. A line without a sign of a difference before it
	// says that something is left out; the arguments are then shown whole. It is handed the granted files to read and
	// no other handle. Its error is the tool's: nobody is asked, and the call
	// fails with it. Nil: the arguments say it all.
	Preview func(ctx context.Context, env *Env, input json.RawMessage) (string, error)
	// Foreign: somebody else's tool, which checks its calls itself. Its schemas are
	// shown and not enforced: what was sent is passed on as it is, without defaults,
	// and guards are told what does not fit (Review.Unfit).
	Foreign bool

	err  error // why Define could not derive the contract; the catalog reports it
	ours bool  // made by Define: a mistake in its schema is its author's, and told
}

// check finds what makes a tool unfit for the shelf, before its schemas.
func (t *Tool) check() error {
	switch {
	case t.err != nil:
		return t.err
	case !toolname.Valid(t.Name):
		return fmt.Errorf("bad name %q: want 1 to 64 letters, digits, _ or -", t.Name)
	case t.Run == nil:
		return errors.New("has no Run function")
	case t.Timeout < 0:
		return errors.New("has a negative timeout")
	}
	return nil
}

// hash is the definition's fingerprint: everything a model or a guard goes by.
// A pin on it notices a tool that changed its words after it was trusted.
func (s *Spec) hash() string {
	h := sha256.New()
	for _, part := range [][]byte{
		[]byte(s.Name), []byte(s.Title), []byte(s.Description), s.Input, s.Output,
		[]byte(s.Effects.String()), []byte(s.Group), fmt.Append(nil, s.Idempotent),
	} {
		var n [8]byte
		for i := range n {
			n[i] = byte(len(part) >> (8 * i))
		}
		h.Write(n[:]) // lengths keep two fields from trading bytes
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
