// Package learn remembers which search for tools led to which call, so that the
// next search with like words has that tool ahead.
//
// It hears of calls as the journal records them (toolcrib.Crib.OnEnd). It keeps the
// words of a caller's own search, redacted as the journal has them, and the name of
// the tool that the same session then called with success: nothing that a tool, a
// server or an argument said. What is learned belongs to a profile, and ranks for
// callers of that profile only. The wiring opens it; toolbox/finder ranks by it.
//
// Its one invariant: what is learned only ranks what a caller sees anyway. A tool
// that the guards denied a person is forgotten, as far as that person taught it.
package learn
