// Package lockfile lets one process at a time do something. It stands under
// everything; its one invariant is that a lock is given back when its process
// ends, however it ends.
package lockfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Wait takes the lock file as soon as nobody else holds it. It makes it if it is
// missing.
func Wait(ctx context.Context, path string) (*os.File, error) {
	pause := time.Millisecond
	for {
		f, err := Try(path, true)
		if err != nil || f != nil {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %s: %w", filepath.Base(path), ctx.Err())
		case <-time.After(pause):
			pause = min(2*pause, 50*time.Millisecond)
		}
	}
}
