package opened

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// How often somebody who watches says so, and how long that counts.
const (
	presentEvery = time.Second
	presentFor   = 5 * time.Second
)

func presentFile(state string) string { return filepath.Join(state, "desk", "watched") }

// Present tells the programs that share this state that a person watches all questions,
// until ctx ends: their calls wait for the answer then, as for one at a screen of their
// own. ended is closed when it is over.
func Present(ctx context.Context, state string) (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(presentEvery)
		defer tick.Stop()
		file := presentFile(state)
		for {
			// If it cannot be written, calls are refused at once, as without it.
			touch(file, time.Now())
			select {
			case <-ctx.Done():
				_ = os.Remove(file) // whoever else watches makes it again
				return
			case <-tick.C:
			}
		}
	}()
	return done
}

// touch makes the file, or gives it the time of now. A link that somebody put there would
// have another file changed, and is removed.
func touch(file string, now time.Time) {
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		_ = os.Remove(file)
	}
	if f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close() // it is new, and so is its time
		return
	}
	if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
		_ = os.Chtimes(file, now, now)
	}
}

// watched reports whether a person watches all questions in another program.
func watched(state string, now time.Time) bool {
	at, err := os.Lstat(presentFile(state))
	if err != nil || !at.Mode().IsRegular() {
		return false
	}
	age := now.Sub(at.ModTime())
	return age < presentFor && age > -presentFor
}
