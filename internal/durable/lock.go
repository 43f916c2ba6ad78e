package durable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrLink says that a link lies where a lock file should be.
var ErrLink = errors.New("it is a link")

// Lock takes a lock file as soon as nobody else holds it, and makes it if it is
// missing. Closing it gives it back, and so does the end of the process, however
// it ends.
func Lock(ctx context.Context, path string) (*os.File, error) {
	pause := time.Millisecond
	for {
		f, err := TryLock(path, true)
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
