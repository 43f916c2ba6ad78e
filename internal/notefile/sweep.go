package notefile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// ErrGone says that a session had notes that have been removed.
var ErrGone = errors.New("the notes of this session were removed")

// The bounds on what is left of notes that were removed, and on whose notes can
// make room for others: those of a session at work do not.
const (
	marksFor = 365 * 24 * time.Hour
	maxMarks = 20_000
	atWork   = time.Hour
)

// removedNotes is what is left of them.
type removedNotes struct {
	Removed time.Time `json:"removed"`
	Why     string    `json:"why"`
}

// gone tells of notes that were removed; nil: there never were any.
func (s *Store) gone(name string) error {
	text, _, err := plainfile.ReadIn(s.root, name+goneMark, 4096)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var r removedNotes
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return fmt.Errorf("reading the notes of this session: %w", err)
	}
	return fmt.Errorf("%w on %s, because %s; what is written now begins anew", ErrGone, r.Removed.Format(time.DateOnly), r.Why)
}

type storedNotes struct {
	name string
	at   time.Time
}

// sweep sets aside what is too old, and lists the rest, the oldest first.
func (s *Store) sweep(ctx context.Context) ([]storedNotes, error) {
	dir, err := s.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("looking through the notes of sessions: %w", err)
	}
	entries, err := dir.ReadDir(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		return nil, fmt.Errorf("looking through the notes of sessions: %w", err)
	}
	var all, marks []storedNotes
	now := s.cfg.Now()
	for _, e := range entries {
		name, isNotes := strings.CutSuffix(e.Name(), kept)
		if !isNotes {
			name = strings.TrimSuffix(e.Name(), goneMark)
		}
		if len(name) != 32 || name+kept != e.Name() && name+goneMark != e.Name() {
			continue // nothing of ours, or a lock
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process was quicker
		}
		if err != nil {
			return nil, fmt.Errorf("looking through the notes of sessions: %w", err)
		}
		one := storedNotes{name, info.ModTime()}
		switch {
		case !isNotes:
			marks = append(marks, one)
		case now.Sub(one.at) > s.cfg.MaxAge:
			if err := s.setAside(ctx, one, fmt.Sprintf("they had not been changed for %s (toolboxes.notes.max_age)", days(s.cfg.MaxAge))); err != nil {
				return nil, err
			}
		default:
			all = append(all, one)
		}
	}
	oldest := func(a, b storedNotes) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.name, b.name)) }
	slices.SortFunc(all, oldest)
	slices.SortFunc(marks, oldest)
	for i, m := range marks {
		if now.Sub(m.at) > marksFor || len(marks)-i > maxMarks {
			if err := missing(s.root.Remove(m.name + goneMark)); err != nil {
				return nil, fmt.Errorf("looking through the notes of sessions: %w", err)
			}
		}
	}
	return all, nil
}

func days(d time.Duration) string {
	if d < 48*time.Hour {
		return d.String()
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// setAside removes the notes of a session, leaves a mark and has it told.
func (s *Store) setAside(ctx context.Context, one storedNotes, why string) (err error) {
	unlock, err := s.lock(ctx, one.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	info, err := s.root.Lstat(one.name + kept)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Equal(one.at) {
		return nil // the session goes on, or another process was quicker
	}
	if err != nil {
		return fmt.Errorf("removing old notes: %w", err)
	}
	f, _ := s.load(one.name) // what cannot be read is removed, too
	text, err := json.Marshal(removedNotes{s.cfg.Now().UTC().Truncate(time.Second), why})
	if err == nil {
		err = durable.ReplaceLocked(filepath.Join(s.cfg.Dir, one.name+goneMark), text, 0o600)
	}
	if err == nil {
		err = missing(s.root.Remove(one.name + kept))
	}
	if err != nil {
		return fmt.Errorf("removing old notes: %w", err)
	}
	who := []any{"why", why}
	if f != nil {
		who = append(who, "subject", f.Subject, "session", f.Session, "todos", len(f.Todos), "keys", len(f.Pad))
	}
	s.cfg.Log.InfoContext(ctx, "the notes of a session were removed", who...)
	return nil
}

// makeRoom is asked before a session writes its first notes.
func (s *Store) makeRoom(ctx context.Context) error {
	all, err := s.sweep(ctx)
	if err != nil {
		return err
	}
	for len(all) >= s.cfg.Sessions {
		if s.cfg.Now().Sub(all[0].at) < atWork {
			return fmt.Errorf("there are notes of %d sessions, which all are at work, and no more are kept (toolboxes.notes.max_sessions): nothing was written", len(all))
		}
		if err := s.setAside(ctx, all[0], fmt.Sprintf("%d newer sessions had notes (toolboxes.notes.max_sessions)", len(all)-1)); err != nil {
			return err
		}
		all = all[1:]
	}
	return nil
}
