package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// The files of a store.
const (
	fileName = "secrets"
	lockName = "lock"
)

// store is the directory with its files; it knows nothing of what is in them.
type store struct {
	dir     string
	replace durable.Replacement // whoever writes holds the lock
}

func (s store) path(name string) string { return filepath.Join(s.dir, name) }

// makeDir makes the directory if it is missing, closed from the beginning.
func (s store) makeDir() error {
	if err := os.MkdirAll(filepath.Dir(s.dir), 0o700); err != nil {
		return fmt.Errorf("making the vault's directory: %w", err)
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making the vault's directory: %w", err)
	}
	return s.checkDir()
}

// checkDir refuses a directory that others can enter or that is not ours. It
// does not close it: whoever had the way in may have used it, and a person
// should know.
func (s store) checkDir() error {
	info, err := os.Lstat(s.dir)
	switch {
	case err != nil:
		return fmt.Errorf("looking at the vault's directory: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return notSafe("the directory %s is a link", s.dir)
	case !info.IsDir():
		return notSafe("%s is not a directory", s.dir)
	}
	return checkRights(s.dir, info, 0o700)
}

// checkFile refuses what is not a file of ours that we alone can read.
func checkFile(path string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return notSafe("%s is a link", path)
	}
	if !info.Mode().IsRegular() {
		return notSafe("%s is not a plain file", path)
	}
	if links(info) > 1 {
		return notSafe("%s has a second name elsewhere (a hard link)", path)
	}
	return checkRights(path, info, 0o600)
}

func checkRights(path string, info fs.FileInfo, want fs.FileMode) error {
	if !hasRights {
		return nil
	}
	if who, ours := owner(info); !ours {
		return notSafe("%s belongs to another user (number %d)", path, who)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return notSafe("%s has the mode %04o, so that other users get at it; see who could have, then chmod %o it", path, mode, want)
	}
	return nil
}

// read gives the bytes of the store. None, and no error: there is no store.
func (s store) read() ([]byte, error) {
	if err := s.checkDir(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	path := s.path(fileName)
	// A look before the opening, for what cannot be opened without consequences.
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking at the vault's file: %w", err)
	}
	if err := checkFile(path, info); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the vault's file: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err = f.Stat()
	if err != nil {
		return nil, fmt.Errorf("looking at the vault's file: %w", err)
	}
	// A writer may have renamed a new file over this one meanwhile; then it has
	// no name left, which is not a second one.
	if err := checkFile(path, info); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading the vault's file: %w", err)
	}
	if len(data) > maxFile {
		return nil, damaged("it is larger than any that was written")
	}
	if len(data) == 0 {
		return nil, damaged("it is empty")
	}
	return data, nil
}

// write puts data in place of the store. Only the holder of the lock may. It
// reports whether the change is sure to outlast a power cut.
func (s store) write(data []byte) (flushed bool, err error) {
	return s.replace.Write(s.path(fileName), data, 0o600)
}

// lock waits for the lock of the store, which the death of its holder frees.
func (s store) lock(ctx context.Context, wait time.Duration) (*os.File, error) {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		f, err := s.tryLock()
		if f != nil || err != nil {
			return f, err
		}
		select {
		case <-again.C:
		case <-limit.C:
			return nil, fmt.Errorf("%w: waited %v", ErrBusy, wait)
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
		}
	}
}

// tryLock takes the lock, or gives nil without an error if another has it.
func (s store) tryLock() (*os.File, error) {
	path := s.path(lockName)
	f, err := durable.TryLock(path, true)
	if errors.Is(err, durable.ErrLink) {
		return nil, notSafe("%s is a link", path)
	}
	if err != nil || f == nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkFile(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
