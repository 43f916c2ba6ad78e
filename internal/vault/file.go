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
)

// The files of a store. There is one temporary name only: whoever writes it
// holds the lock, and what a crash left under it is in nobody's use.
const (
	fileName = "secrets"
	tempName = "secrets.new"
	lockName = "lock"
)

// The points of a write, in order, at which a test may stop it.
const (
	atMade    = "the new file is made"
	atHalf    = "half of it is written"
	atWritten = "all of it is written"
	atSynced  = "it is on the disk"
	atRenamed = "it has its name"
	atDone    = "the name is on the disk"
)

// store is the directory with its files; it knows nothing of what is in them.
type store struct {
	dir  string
	sync func(dir string) (durable bool, err error) // syncDir, or what a test has instead
	at   func(point string)                         // for tests; nil: nothing
}

func (s store) path(name string) string { return filepath.Join(s.dir, name) }

func (s store) reached(point string) {
	if s.at != nil {
		s.at(point)
	}
}

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
func (s store) write(data []byte) (durable bool, err error) {
	temp, path := s.path(tempName), s.path(fileName)
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("removing what a crash left: %w", err)
	}
	if err := s.writeNew(temp, data); err != nil {
		return false, errors.Join(fmt.Errorf("writing the vault's file: %w", err), removeIfThere(temp))
	}
	s.reached(atSynced)
	if err := rename(temp, path); err != nil {
		return false, errors.Join(fmt.Errorf("writing the vault's file: %w", err), removeIfThere(temp))
	}
	s.reached(atRenamed)
	durable, err = s.sync(s.dir)
	if err != nil {
		return false, fmt.Errorf("flushing the vault's directory: %w", err)
	}
	s.reached(atDone)
	return durable, nil
}

func (s store) writeNew(path string, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	s.reached(atMade)
	half := len(data) / 2
	if _, err := f.Write(data[:half]); err != nil {
		return err
	}
	s.reached(atHalf)
	if _, err := f.Write(data[half:]); err != nil {
		return err
	}
	s.reached(atWritten)
	return f.Sync()
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lock waits for the lock of the store, which the death of its holder frees.
func (s store) lock(ctx context.Context, wait time.Duration) (*os.File, error) {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		f, err := tryLock(s.path(lockName))
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
