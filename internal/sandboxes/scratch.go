package sandboxes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Scratch is directories that commands may write, each for one purpose of one session, such as a skill that it
// uses. They lie outside of what was granted, are bounded, and go with their purpose or with this process. The zero
// value has none.
type Scratch struct {
	// Dir is where they lie, for all processes. It must be a place that no command sees else.
	Dir string
	// MaxBytes and MaxFiles bound each. Zero: 256 MiB and 20,000.
	MaxBytes int64
	MaxFiles int

	mu   sync.Mutex
	room *Output // nil: none was needed so far
	next int
	of   map[purpose]string // their names
}

// purpose is what a directory is for: two sessions never share one.
type purpose struct{ subject, organisation, session, name string }

func purposeOf(c toolcrib.Caller, name string) purpose {
	return purpose{c.Subject, c.Organisation, c.Session, name}
}

// ScratchDir is where they lie in a home. It is not the place of what Toolcrib shows to programs, which nobody may write.
func ScratchDir(home string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".cache", "toolcrib-scratch")
}

// Make gives the directory for a purpose; the first time it makes it.
func (s *Scratch) Make(c toolcrib.Caller, of string) (string, error) {
	if s.Dir == "" {
		return "", errors.New("there is no home directory to make it in")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room == nil {
		room, err := ownRoom(s.Dir)
		if err != nil {
			return "", fmt.Errorf("making a directory to write to: %w", err)
		}
		if room.path, err = filepath.EvalSymlinks(room.path); err != nil { // sandboxes follow no link
			return "", errors.Join(err, room.Close())
		}
		s.room, s.of = room, map[purpose]string{}
	}
	key := purposeOf(c, of)
	name, there := s.of[key]
	if !there {
		s.next++
		name = strconv.Itoa(s.next)
	}
	if err := s.room.Root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("making a directory to write to: %w", err)
	}
	if info, err := s.room.Root.Lstat(name); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is no directory any more", filepath.Join(s.room.path, name))
	}
	s.of[key] = name
	return filepath.Join(s.room.path, name), nil
}

// Drop removes the directory for a purpose, if there is one.
func (s *Scratch) Drop(c toolcrib.Caller, of string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := purposeOf(c, of)
	name, there := s.of[key]
	if !there {
		return
	}
	delete(s.of, key)
	_ = removeAll(filepath.Join(s.room.path, name)) // what cannot be removed now goes with the others
}

// Close removes them all.
func (s *Scratch) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room == nil {
		return nil
	}
	room := s.room
	s.room, s.of = nil, nil
	return room.Close()
}

// scratchEvery is how often it is looked how much a program has written.
const scratchEvery = 200 * time.Millisecond

// hold ends a program that writes more than there is room for. Stop gives why it was ended.
func (s *Scratch) hold(ctx context.Context, dir string) (_ context.Context, stop func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	ended, over := make(chan struct{}), make(chan struct{})
	before := tallied(dir, 10*s.maxFiles())
	if before.blind { // then it would not show what this one writes
		empty(dir)
		before = &tally{}
	}
	var full error
	go func() {
		defer close(ended)
		tick := time.NewTicker(scratchEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			now := tallied(dir, 10*s.maxFiles())
			if now.blind {
				full = fmt.Errorf("the command was ended: it made directories in %s that nobody can look into, or more than %d of them one in the other", dir, deepest)
				cancel(full)
				return
			}
			if now.bytes > max(before.bytes, s.maxBytes()) || now.count > max(before.count, s.maxFiles()) { // who clears up is not stopped
				full = fmt.Errorf("the command was ended: it wrote more to %s than there is room for (%d MiB, %d files); have a command remove what is not needed", dir, s.maxBytes()>>20, s.maxFiles())
				cancel(full)
				return
			}
		}
	}()
	return ctx, func() error {
		close(over)
		<-ended
		cancel(nil)
		return full
	}
}

func (s *Scratch) maxBytes() int64 {
	if s.MaxBytes > 0 {
		return s.MaxBytes
	}
	return 256 << 20
}

func (s *Scratch) maxFiles() int {
	if s.MaxFiles > 0 {
		return s.MaxFiles
	}
	return 20_000
}
