package sandbox

import (
	"errors"
	"io/fs"
	"slices"
)

// A program can close a directory of its own (chmod 311) so that a plain user
// cannot look into it, and hides with it what the repositories in it point at
// elsewhere. Whoever owns a directory may open it up: such a one is opened for
// its owner while it is looked at, and gets its mode back when the look is over.
// The next program sees nothing of it, as before.

// maxOpened bounds how many directories of one look get their mode back: each
// is kept open. Further ones are opened for good, and the next look finds them so.
const maxOpened = 256

// lookClosed looks into a directory that could not be looked into; nil if that
// cannot be done.
func (w *shieldWalk) lookClosed(dir, root string, err error) *sight {
	for range maxAgain {
		if !errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if _, err := stateOf(dir); errors.Is(err, fs.ErrPermission) && dir != root {
			w.moved = dir // what it lies in was open a moment ago
			return nil
		}
		if !w.openClosed(dir) {
			return nil
		}
		var seen *sight
		if seen, err = w.look(dir); err == nil {
			return seen
		}
	}
	w.moved = dir // somebody closes it again and again
	return nil
}

// openClosed lets us into a directory that its owner closed, where programs may
// write. It gives false if we cannot be let in.
func (w *shieldWalk) openClosed(dir string) bool {
	if !writable(dir, w.dirs) {
		return false
	}
	shut, ok := letIn(dir)
	switch {
	case ok && len(w.opened) < maxOpened:
		w.opened = append(w.opened, shut)
	case ok:
		shut(false)
		w.moved = dir
	}
	return ok
}

// shutOpened gives directories their modes back, inner ones first. If one was
// closed again meanwhile, something in it may not have been seen.
func (w *shieldWalk) shutOpened() {
	for _, shut := range slices.Backward(w.opened) {
		if !shut(true) && w.moved == "" {
			w.moved = w.dirs[0].Path
		}
	}
	w.opened = nil
}
