package store

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// Config says where a journal lies and how long it remembers.
type Config struct {
	// Dir is the directory of the database. It is made if it is missing, and
	// kept closed to other users.
	Dir string
	// Keys is the directory of the keys and of the checkpoint. Empty:
	// Dir with "-key" behind it. It must not lie in Dir: the checkpoint is only
	// worth something if it can be protected, or copied, apart.
	Keys string

	// MaxAge is how long entries are kept. 0: for ever. A call ID whose entries
	// were removed is forgotten: used again, its call runs again.
	MaxAge time.Duration
	// MaxBytes is how large the database may grow, without its write-ahead log.
	// 0: without bound.
	MaxBytes int64
	// AgeFrom and BytesFrom say where these two were set. It stands in the
	// journal beside what they removed.
	AgeFrom, BytesFrom string

	// Sync waits for the disk at every entry, which makes entries survive a
	// power cut and costs a disk flush per call. False: they survive the death
	// of the process.
	Sync bool
	// Wait is how long a write waits for another process to finish its own.
	// 0: 5 s.
	Wait time.Duration

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: silent
}

// The errors a caller may want to tell apart.
var (
	// ErrNoJournal: there is nothing to read at the configured place.
	ErrNoJournal = errors.New("there is no journal here")
	// ErrNotFound: no record has this call ID or number.
	ErrNotFound = errors.New("no such record")
	// ErrClosed: the journal was closed.
	ErrClosed = errors.New("the journal is closed")
	// ErrDegraded: the database refuses to write, so nothing may begin.
	ErrDegraded = errors.New("the journal cannot write at the moment")
	// ErrKey: the key in Config.Keys is not the one this journal was begun with.
	ErrKey = errors.New("the journal's key is missing or is another one")
	// ErrForged: an entry has no good seal, so that nothing may be built on it.
	ErrForged = errors.New("the journal did not write this entry")
	// ErrAltered: somebody added to the tables or took from them.
	ErrAltered = errors.New("the journal's tables were altered")
	// ErrUnsound: what is to be removed is not as it was written, so it is kept.
	ErrUnsound = errors.New("old entries are not removed, because the journal is not as it was written")
	// ErrSchema: the database is of a version this program does not know.
	ErrSchema = errors.New("the journal has another version")
	// ErrNotBegun: End for a call that this journal did not begin, or ended before.
	ErrNotBegun = errors.New("the call was not begun here, or is already closed")
)

// filled gives the configuration with its defaults.
func (c Config) filled() (Config, error) {
	if c.Dir == "" {
		return c, errors.New("the journal has no directory")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return c, fmt.Errorf("finding the journal: %w", err)
	}
	c.Dir = dir
	if c.Keys == "" {
		c.Keys = c.Dir + "-key"
	}
	if c.Keys, err = filepath.Abs(c.Keys); err != nil {
		return c, fmt.Errorf("finding the journal's key: %w", err)
	}
	if pathglob.Holds(c.Dir, c.Keys) {
		return c, fmt.Errorf("the key directory %s lies in the journal's directory; it must be apart", c.Keys)
	}
	if c.Wait <= 0 {
		c.Wait = 5 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
