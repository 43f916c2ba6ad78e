package notefile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/watch"
	"github.com/toolcrib/toolcrib/toolbox/notes"
)

// Taint says which tool first brought private data and content from outside into a
// conversation. Empty: none did.
type Taint struct {
	Private   string `json:"private,omitempty"`
	Untrusted string `json:"untrusted,omitempty"`
}

func (t Taint) and(o Taint) Taint {
	return Taint{cmp.Or(t.Private, o.Private), cmp.Or(t.Untrusted, o.Untrusted)}
}

// Config says where notes lie and how many there may be. The zero value of each
// bound is its default.
type Config struct {
	Dir      string        // made if it is missing, and closed to other users
	Sessions int           // how many are kept; default 2,000
	MaxAge   time.Duration // after their last change; default 30 days
	// Taint is what a conversation has read until now, and Carry has it count for
	// one that goes on in this process. Nil: nobody knows.
	Taint func(toolcrib.Caller) Taint
	Carry func(toolcrib.Caller, Taint)
	Now   func() time.Time
	Log   *slog.Logger
}

// Store is a directory of notes. Several processes may use one directory.
type Store struct {
	cfg     Config
	mu      sync.Mutex // of who opens it
	root    *os.Root   // nil: it was not needed yet
	changes watch.List[func(Change)]
}

// Change is what was changed: whose notes, and whether there are others now than
// before, or only what they say has changed.
type Change struct {
	Caller toolcrib.Caller
	List   bool
	Todos  bool
	Keys   []string // of the scratchpad
}

var _ notes.Store = (*Store)(nil)

// Open checks the bounds. The directory is opened when notes are first read or
// written, so that a program that needs none makes none.
func Open(cfg Config) (*Store, error) {
	cfg.Sessions = cmp.Or(cfg.Sessions, 2000)
	cfg.MaxAge = cmp.Or(cfg.MaxAge, 30*24*time.Hour)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Dir == "" || cfg.Sessions < 0 || cfg.MaxAge < 0 {
		return nil, errors.New("opening the notes of sessions: there is no directory, or a bound is negative")
	}
	return &Store{cfg: cfg}, nil
}

// ready opens the directory, and makes it if create says so. It reports false
// where there is none.
func (s *Store) ready(ctx context.Context, create bool) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root != nil {
		return true, nil
	}
	if create {
		if err := os.MkdirAll(s.cfg.Dir, 0o700); err != nil {
			return false, fmt.Errorf("opening the notes of sessions: %w", err)
		}
	}
	info, err := os.Lstat(s.cfg.Dir)
	if !create && errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && !info.IsDir() { // a link could lead anywhere
		err = errors.New(s.cfg.Dir + " is no directory of its own")
	}
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(s.cfg.Dir)
	}
	if err != nil {
		return false, fmt.Errorf("opening the notes of sessions: %w", err)
	}
	s.root = root
	if _, err := s.sweep(ctx); err != nil {
		s.root = nil
		return false, errors.Join(err, root.Close())
	}
	return true, nil
}

// Close gives the directory back; what is in it stays.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil {
		return nil
	}
	return s.root.Close()
}

// Watch tells of changes that this process makes.
func (s *Store) Watch(do func(Change)) (stop func()) { return s.changes.Add(do) }

// file is what is kept of a session.
type file struct {
	// Who it belongs to, for people who look into the directory.
	Organisation string    `json:"organisation,omitempty"`
	Subject      string    `json:"subject,omitempty"`
	Session      string    `json:"session,omitempty"`
	Changed      time.Time `json:"changed"`
	// Taint is what the session had read when it was last written.
	Taint Taint `json:"taint"`
	notes.Notes
}

// maxFile is more than the largest notes take as JSON.
const maxFile = 16 << 20

// Read implements [notes.Store].
func (s *Store) Read(ctx context.Context, caller toolcrib.Caller) (notes.Notes, error) {
	if there, err := s.ready(ctx, false); !there || err != nil {
		return notes.Notes{}, err
	}
	name := nameOf(caller)
	f, err := s.load(name)
	if err != nil {
		return notes.Notes{}, err
	}
	if f == nil {
		return notes.Notes{}, s.gone(name)
	}
	s.carry(caller, f)
	return f.Notes, nil
}

// Todos is the list of tasks of a session, for screens.
func (s *Store) Todos(ctx context.Context, caller toolcrib.Caller) ([]notes.Todo, error) {
	n, err := s.Read(ctx, caller)
	if errors.Is(err, ErrGone) {
		err = nil
	}
	return n.Todos, err
}

func (s *Store) carry(caller toolcrib.Caller, f *file) {
	if s.cfg.Carry != nil && f.Taint != (Taint{}) {
		s.cfg.Carry(caller, f.Taint)
	}
}

// load reads the notes of a session; nil: there are none.
func (s *Store) load(name string) (*file, error) {
	text, _, err := plainfile.ReadIn(s.root, name+kept, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the notes of this session: %w", err)
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("the notes of this session cannot be read, and are left as they are: a person has to look at %s: %w", filepath.Join(s.cfg.Dir, name+kept), err)
	}
	return &f, nil
}

// Change implements [notes.Store].
func (s *Store) Change(ctx context.Context, caller toolcrib.Caller, edit func(*notes.Notes) error) error {
	c, err := s.change(ctx, caller, edit)
	if err != nil {
		return err
	}
	if c.List || c.Todos || len(c.Keys) > 0 {
		c.Caller = caller
		s.changes.Each(func(do func(Change)) { do(c) }) // without the lock: who hears of it may read or write
	}
	return nil
}

func (s *Store) change(ctx context.Context, caller toolcrib.Caller, edit func(*notes.Notes) error) (done Change, err error) {
	if _, err := s.ready(ctx, true); err != nil {
		return Change{}, err
	}
	name := nameOf(caller)
	if _, err := s.root.Lstat(name + kept); errors.Is(err, fs.ErrNotExist) {
		// Before the lock: who makes room takes those of others.
		if err := s.makeRoom(ctx); err != nil {
			return Change{}, err
		}
	}
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return Change{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	old, err := s.load(name)
	if err != nil {
		return Change{}, err
	}
	f := file{Organisation: caller.Organisation, Subject: caller.Subject, Session: caller.Session}
	if old != nil {
		s.carry(caller, old)
		f.Taint, f.Notes = old.Taint, copied(old.Notes)
	}
	if err := edit(&f.Notes); err != nil {
		return Change{}, err
	}
	f.Changed = s.cfg.Now().UTC().Truncate(time.Second)
	if s.cfg.Taint != nil {
		f.Taint = f.Taint.and(s.cfg.Taint(caller))
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = durable.ReplaceLocked(filepath.Join(s.cfg.Dir, name+kept), append(text, '\n'), 0o600)
	}
	if err == nil {
		err = missing(s.root.Remove(name + goneMark)) // it has notes again
	}
	if err != nil {
		return Change{}, fmt.Errorf("keeping the notes of this session: %w", err)
	}
	var before notes.Notes
	if old != nil {
		before = old.Notes
	}
	return difference(before, f.Notes), nil
}

// lock keeps other changes of the same session away.
func (s *Store) lock(ctx context.Context, name string) (unlock func() error, err error) {
	f, err := durable.Lock(ctx, filepath.Join(s.cfg.Dir, "lock-"+name[:2]))
	if err != nil {
		return nil, fmt.Errorf("changing the notes of this session: %w", err)
	}
	return f.Close, nil
}

const (
	kept     = ".json"
	goneMark = ".gone"
)

// nameOf names the file of a session: a hash, so that no name that a frontend
// gives leads anywhere, and lengths keep two names from trading letters. The agent
// is left out: agents of one conversation have one list.
func nameOf(c toolcrib.Caller) string {
	h := sha256.New()
	for _, word := range []string{c.Organisation, c.Subject, c.Session} {
		h.Write(binary.AppendUvarint(nil, uint64(len(word))))
		h.Write([]byte(word))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Same reports whether two callers have the same notes.
func Same(a, b toolcrib.Caller) bool {
	return a.Organisation == b.Organisation && a.Subject == b.Subject && a.Session == b.Session
}

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
