package sandbox

// Holds keeps programs from making what other programs obey where there is
// nothing yet. It is safe for use by many at once, and by many processes.
type Holds struct {
	// Dir is where the lists of placeholders lie, outside of what is granted.
	// Processes that work in the same project must have the same. Empty: nothing
	// is held.
	Dir string
}

// Busy reports whether a program runs that keeps others from making something in
// one of the directories around a path: it has files there covered, too.
func (h *Holds) Busy(path string) bool { return h != nil && h.Dir != "" && h.busy(path) }

// Place is where a placeholder is needed.
type Place struct {
	Path string
	// Link: git dies of a directory there, and takes a link that leads nowhere for
	// nothing.
	Link bool

	led bool // see Cover.Led
	way bool // only a directory on the way to others
}

// nowhere is what a placeholder leads to that is a link. Nothing can be made
// there either.
const nowhere = "/nonexistent/held-by-toolcrib"
