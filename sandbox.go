package toolcrib

import (
	"context"
	"io"
	"time"
)

// Bounds names what a sandbox can hold a program to.
type Bounds uint16

// The bounds a grant can ask for and a sandbox can claim.
const (
	BoundFiles     Bounds = 1 << iota // only the granted directories
	BoundNetwork                      // only the granted hosts
	BoundMemory                       // a ceiling on memory
	BoundProcesses                    // a ceiling on processes
	BoundTime                         // the whole tree ends at the deadline
)

// Sandbox runs programs. It declares what it enforces; asked for more than
// that, the crib refuses the call instead of weakening the grant.
type Sandbox interface {
	Enforces() Bounds
	Run(ctx context.Context, cmd Cmd, grant Grant) (Exit, error)
}

// Cmd is a program to run. The environment is exactly Env: nothing is inherited.
type Cmd struct {
	Path           string
	Args           []string // without the program's own name
	Dir            string
	Env            []string
	Stdin          io.Reader // nil: closed
	Stdout, Stderr io.Writer // nil: discarded
	// OnLayer asks for a layer: the program then reaches no live file of the granted
	// directories, and what it changed comes back as Exit.Changes. A sandbox without
	// layers refuses.
	OnLayer bool
	// Ended is for a program that outlives its call: it hears of its end, and gives the
	// context under which its changes are settled. If that is over as well, or Ended is
	// nil, a program that was ended by its context was cut off.
	Ended func() context.Context

	// For whom it runs, the tool by its native name, and what it can do as far as
	// that is known. The crib fills these in, whatever a tool puts there.
	Call    Call
	Tool    string
	Effects Effects
}

// Exit is how a program ended.
type Exit struct {
	Code   int    // 128 and its number if a signal ended it
	Signal string // the signal that ended it, such as SIGKILL
	// TimedOut: it was ended because its context was. Cancelled is set in its place
	// if that was because the caller gave up; the crib does so for every Sandbox.
	TimedOut  bool
	Cancelled bool
	Duration  time.Duration
	Sandbox   string // where it ran, if there are several
	// Notes tell a person what was kept from the program that was not protected
	// by its name, and what it made that other programs obey.
	Notes []string
	// Changes is what a program on a layer did to the granted directories. Nil: nothing,
	// or there was no layer. Whoever gets it has to apply or to drop it.
	Changes Changes
}
