// Package sessions keeps conversations: one file of JSON lines for each, with who holds
// it and under what, and then every message as it is said.
//
// It knows messages and neither tools nor models. Who opens agents writes and reads
// them (internal/agents), the command line lists them. A session belongs to one
// subject: nobody else finds it, whatever name is asked for.
//
// The invariant: whenever the program dies, what is left of a file loads as a
// conversation that can be gone on with. A line that was being written is as if it was
// never said, and a call without an answer is answered by what became of it.
package sessions
