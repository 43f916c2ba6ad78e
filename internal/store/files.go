package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// privateDir makes a directory that only its owner can enter. One that is
// already there and open to others is closed.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making %s: %w", dir, err)
	}
	return narrow(dir, 0o700)
}

// narrow takes the rights of other users away. It does not open the file: a
// database loses its locks when any descriptor of it is closed.
func narrow(path string, mode os.FileMode) error {
	if runtime.GOOS == "windows" { // rights are inherited from the profile there
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("looking at %s: %w", path, err)
	}
	if info.Mode().Perm()&^mode == 0 {
		return nil
	}
	if err := os.Chmod(path, mode); err != nil {
		return fmt.Errorf("closing %s to other users: %w", path, err)
	}
	return nil
}

// PrivateFile makes an empty file that only its owner can read, unless there
// is one; of that it takes the rights of others away.
func PrivateFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return narrow(path, 0o600)
	}
	if err != nil {
		return fmt.Errorf("making %s: %w", path, err)
	}
	return f.Close()
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// fileLock is a file that one process holds. It is given back when the
// process ends, however it ends.
type fileLock struct{ f *os.File }

// underLock runs fn while this process alone holds a lock file. It waits for the
// lock as long as ctx lasts.
func underLock(ctx context.Context, path string, fn func() error) error {
	f, err := durable.Lock(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(fn(), f.Close())
}

// tryLock takes a lock file; nil without an error: another process holds it.
func tryLock(path string) (*fileLock, error) {
	f, err := durable.TryLock(path, true)
	if err != nil || f == nil {
		return nil, err
	}
	return &fileLock{f}, nil
}

// release gives the lock back and leaves the file.
func (l *fileLock) release() error { return l.f.Close() }
