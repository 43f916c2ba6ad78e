// Package wire is what the adapters to the APIs of models have in common: how a request
// is sent and sent again, how a stream of events is read, and what an error means.
//
// Only the packages beside it import it. The invariant: whatever a service sends, what is
// kept of it is bounded, and no error text has the key in it.
package wire

// The bounds on what comes in.
const (
	maxEvent  = 8 << 20  // bytes of one event of a stream, and of a line in it
	maxAnswer = 64 << 20 // bytes of an answer, all of them
	maxError  = 64 << 10 // bytes of an answer that says what is wrong
	// MaxCalls bounds how many calls an answer may have.
	MaxCalls = 256
)
