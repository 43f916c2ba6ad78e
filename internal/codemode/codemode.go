// Package codemode runs small programs that models write instead of many calls:
// JavaScript that calls tools. A script runs in a worker process of its own, which
// has nothing but a pipe to this side; here its calls are made, by the functions
// that the caller gives.
//
// Its invariant: a worker is not trusted. What it sends is bounded and checked, and
// all that it can get done is what [Host] does for it.
package codemode

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Engine runs scripts.
type Engine interface {
	// Run runs one script to its end. An error that the script is to blame for is a
	// *[ScriptError]; the outcome says what it did even then.
	Run(ctx context.Context, s Script, h Host) (Outcome, error)
}

// Script is a program and what it is given.
type Script struct {
	Code  string
	Input json.RawMessage // what it sees as input; empty: null
	// Time is how long it may compute. It does not run while the script waits for a call.
	// Zero: the engine's own.
	Time time.Duration
}

// Host is what scripts can get done. A nil function is refused.
type Host struct {
	// Call calls a tool. A *[Fault] is thrown in the script with its code. At most
	// [Parallel] calls run at once.
	Call func(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error)
	// Search finds tools, Describe tells how one is called: both give what the script sees.
	Search   func(ctx context.Context, query string) (json.RawMessage, error)
	Describe func(ctx context.Context, name string) (json.RawMessage, error)
	// Logged is told each line as the script logs it. It may be nil.
	Logged func(line string)
}

// Outcome is what became of a script.
type Outcome struct {
	Value json.RawMessage // what it returned, or its last expression; null if nothing
	Log   []string        // what it logged, cut
	Lost  int             // how many lines of the log are not in it
	Calls int             // how many calls it made
	Took  time.Duration   // how long it computed
}

// Fault is an error that scripts are told in full.
type Fault struct {
	Code    string // such as denied
	Message string
}

func (f *Fault) Error() string { return f.Code + ": " + f.Message }

// ScriptError is why a script did not come to its end.
type ScriptError struct {
	Name    string // the name of the exception, such as TypeError
	Code    string // of a call that was refused or failed, if that was the cause
	Message string
	Line    int // from 1 on; 0: unknown
	Column  int
	Around  string // the lines around it, with a mark
}

func (e *ScriptError) Error() string {
	var b strings.Builder
	if e.Name != "" {
		b.WriteString(e.Name + ": ")
	}
	b.WriteString(e.Message)
	if e.Line > 0 {
		fmt.Fprintf(&b, " (line %d, column %d)", e.Line, e.Column)
	}
	if e.Around != "" {
		b.WriteString("\n" + e.Around)
	}
	return b.String()
}

// The bounds of every script.
const (
	Parallel  = 8        // calls at once
	maxCalls  = 1000     // calls in all
	maxLooks  = 100      // of these, searches and descriptions
	MaxCode   = 256_000  // bytes of a script
	MaxValue  = 4 << 20  // bytes of a value that goes in or out
	maxFault  = 64 << 10 // bytes of what a script is told about a call that failed
	maxLog    = 64 << 10
	maxLines  = 1000
	maxLine   = 2000
	usualTime = 10 * time.Second
	graceTime = 300 * time.Millisecond // for a worker to say where it was interrupted
)
