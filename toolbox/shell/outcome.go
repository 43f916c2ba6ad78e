package shell

import (
	"fmt"

	"github.com/toolcrib/toolcrib"
)

// outcomeOf is how the journal records a command that has ended.
func outcomeOf(exit toolcrib.Exit) (toolcrib.Outcome, string) {
	switch {
	case exit.Cancelled:
		return toolcrib.Outcome(toolcrib.CodeCancelled), "the command was cancelled by the caller while it ran"
	case exit.TimedOut:
		return toolcrib.Outcome(toolcrib.CodeTimeout), "the command was ended because its time ran out"
	case exit.Signal != "":
		return toolcrib.Broke, "the command was ended by " + exit.Signal
	case exit.Code != 0:
		return toolcrib.Broke, fmt.Sprintf("the command ended with exit status %d", exit.Code)
	}
	return toolcrib.Done, ""
}

// ending is how a command in the background ended, in the answer that is the first to tell. It
// is recorded once: who then pages through the output of a failed command does not fail.
type ending struct {
	outcome toolcrib.Outcome // empty: it runs, or its end was told before
	why     string
}

// tellEnd gives how a command ended, if it is over and no answer told so before. That one was
// stopped which was to be stopped is no failure.
func (j *job) tellEnd() ending {
	if !j.over() || !j.reported.CompareAndSwap(false, true) || j.stopped.Load() {
		return ending{}
	}
	if j.failure != nil {
		return ending{toolcrib.Broke, j.failure.Error()}
	}
	outcome, why := outcomeOf(j.exit)
	return ending{outcome, why}
}
