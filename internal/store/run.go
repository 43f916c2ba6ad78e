package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A run is one opening of the journal for writing. Its number stands in every
// entry it writes, and it holds the file run-<number>.lock as long as it lives.
// The file says from which entry on this run may have open calls, so that
// whoever cleans up after it need not read the whole journal.

const openLockFile = "open.lock" // held while a journal is opened

func newRun() string {
	var b [8]byte
	// Read never fails: since Go 1.24 it ends the process instead.
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func runLockPath(dir, run string) string { return filepath.Join(dir, "run-"+run+".lock") }

// low says from which entry on there may be open calls. It is written in one
// piece of fixed size, so that the file is whole whenever the process dies.
func (l *fileLock) setLow(seq uint64) error {
	if _, err := l.f.WriteAt(fmt.Appendf(nil, "%020d\n", seq), 0); err != nil {
		return fmt.Errorf("writing the run's lock file: %w", err)
	}
	return nil
}

// low reads it back; of a file that does not tell, everything is to be read.
func (l *fileLock) low() (uint64, error) {
	b := make([]byte, 20)
	if _, err := l.f.ReadAt(b, 0); errors.Is(err, io.EOF) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("reading a run's lock file: %w", err)
	}
	if n, err := strconv.ParseUint(string(b), 10, 64); err == nil {
		return n, nil
	}
	return 0, nil
}

// deadRun is a run whose process is gone but which left something behind.
type deadRun struct {
	run  string
	low  uint64
	lock *fileLock
}

// deadRuns finds and takes over the runs that are gone. It must be called
// under the open lock: otherwise a run that has made its file but not yet
// locked it would count as dead.
func deadRuns(dir, own string) (dead []deadRun, err error) {
	defer func() {
		if err != nil {
			for _, d := range dead {
				err = errors.Join(err, d.lock.release())
			}
		}
	}()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for dead runs: %w", err)
	}
	seen := map[string]bool{own: true}
	for _, e := range entries {
		run, ok := runOf(e.Name())
		if !ok || seen[run] {
			continue
		}
		seen[run] = true
		// A spill file without a lock file is of a dead run as well: the lock
		// is made first and removed last.
		lock, err := tryLock(runLockPath(dir, run))
		if err != nil {
			return dead, err
		}
		if lock == nil {
			continue
		}
		d := deadRun{run: run, lock: lock}
		dead = append(dead, d)
		if dead[len(dead)-1].low, err = lock.low(); err != nil {
			return dead, err
		}
	}
	return dead, nil
}

// runOf gives the run that a file belongs to.
func runOf(name string) (string, bool) {
	run, ok := strings.CutPrefix(name, "run-")
	if ok {
		run, ok = strings.CutSuffix(run, ".lock")
	} else if run, ok = strings.CutPrefix(name, "spill-"); ok {
		run, ok = strings.CutSuffix(run, ".jsonl")
	}
	if !ok {
		return "", false
	}
	raw, err := hex.DecodeString(run)
	return run, err == nil && len(raw) == 8
}

// removeFiles removes what a dead run left behind.
func (d deadRun) removeFiles(dir string) error {
	err := removeIfThere(spillPath(dir, d.run))
	if err == nil {
		err = dropLock(d.lock, runLockPath(dir, d.run))
	}
	return err
}

// dropLock removes a lock file and gives it back.
func dropLock(l *fileLock, path string) error {
	// Windows cannot remove a file that is open; elsewhere the order keeps
	// others from finding the file without its lock.
	err := os.Remove(path)
	if e := l.release(); e != nil {
		return errors.Join(err, e)
	}
	if err != nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
