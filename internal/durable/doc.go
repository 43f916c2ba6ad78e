// Package durable is the part of the ground floor that keeps files whole: it
// replaces a file so that every reader, at any moment and after any crash, finds
// the old or the new content, and lets one process at a time do something.
//
// Every package may import it. It knows nothing of what the files hold, nor of
// who may read them.
//
// Its one invariant: whatever fails, what a file held before is still there.
package durable
