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
			if now := time.Now(); os.Chtimes(file, now, now) != nil {
				_ = os.WriteFile(file, nil, 0o600)
			}
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

// watched reports whether a person watches all questions in another program.
func watched(state string, now time.Time) bool {
	at, err := os.Stat(presentFile(state))
	if err != nil {
		return false
	}
	age := now.Sub(at.ModTime())
	return age < presentFor && age > -presentFor
}
