// Package suggest proposes rules from what people were asked and approved. It may be
// imported by the wiring in internal/app.
//
// Its one invariant: what it proposes was tried on the real guards. Each rule spares
// calls that a person approved, and all of them together allow no call that a person
// declined.
package suggest

import (
	"context"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// Answer is what became of the question about a call.
type Answer string

// The answers. What a person changed before allowing it was declined as it was.
const (
	Approved   Answer = "approved"
	Declined   Answer = "declined"
	Unanswered Answer = "unanswered"
)

// Call is a past call that a person was asked about.
type Call struct {
	toolcrib.Call
	Answer Answer
	// Hidden: its input is not all that the tool was given.
	Hidden bool
}

// Guards is the policy that holds, and what else may be tried of it.
type Guards interface {
	// Judge says what would become of a call.
	Judge(ctx context.Context, call toolcrib.Call) (toolcrib.Judgement, error)
	// Try adds rules that allow to those that hold, in place of what was tried before.
	Try(allow []string) error
	// Line takes a command line apart; nil: nobody can.
	Line(r toolcrib.Review) *shellguard.Line
	// Own reports whether a toolbox is part of the program.
	Own(box string) bool
	// Base is the directory that relative paths begin in.
	Base() string
}

// Report is what is proposed, and what is not.
type Report struct {
	Asked      int `json:"asked"` // how many calls a person was asked about
	Approved   int `json:"approved"`
	Declined   int `json:"declined"`
	Unanswered int `json:"unanswered"`
	// Of the approved: Hidden are left out because their input was not kept whole,
	// Allowed run unasked by now, Gone would be refused here and now.
	Hidden  int `json:"hidden"`
	Allowed int `json:"allowed_by_now"`
	Gone    int `json:"refused_by_now"`
	Seldom  int `json:"seldom"` // approved less often than a rule is proposed for
	// Spared is how many of the approved calls would not have been asked about with
	// all the rules together.
	Spared int     `json:"spared"`
	Rules  []Rule  `json:"rules"`
	Others []Other `json:"others"`
}

// Rule is one that is proposed.
type Rule struct {
	Rule string `json:"rule"`
	// Spared is how many approved calls it would have spared by itself, Together how
	// many more with others of the report.
	Spared   int      `json:"spared"`
	Together int      `json:"together,omitempty"`
	Examples []string `json:"examples"`
}

// Other is what was approved, and no rule is proposed for.
type Other struct {
	What  string `json:"what"`
	Calls int    `json:"calls"`
	Why   string `json:"why"`
}

// Options bound what is proposed.
type Options struct {
	Min  int // how many calls a rule has to spare; 0: 2
	Most int // how many rules are proposed; 0: 30
}
