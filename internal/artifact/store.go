package artifact

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Config says where artifacts lie and how much of them there may be. The zero
// value of each bound is its default.
type Config struct {
	Dir       string        // made if it is missing, and closed to other users
	PerCaller int64         // bytes kept for one caller; default 64 MiB
	Total     int64         // bytes kept for all; default 512 MiB
	Count     int           // how many are kept for one caller; default 256
	MaxAge    time.Duration // default 24 h
	Now       func() time.Time
}

func (c Config) filled() Config {
	c.PerCaller = cmp.Or(c.PerCaller, 64<<20)
	c.Total = cmp.Or(c.Total, 512<<20)
	c.Count = cmp.Or(c.Count, 256)
	c.MaxAge = cmp.Or(c.MaxAge, 24*time.Hour)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// ErrNotFound: there is no such artifact for this caller. That another one has
// it is not told.
var ErrNotFound = errors.New("there is no such artifact: it may be too old, or have made room for newer ones")

// ErrTooLarge: what is to be kept is more than may be kept at all.
var ErrTooLarge = errors.New("it is larger than what may be kept")

// Store is a directory of artifacts. Several processes may use one directory:
// each holds it to the bounds whenever it adds to it.
type Store struct {
	cfg  Config
	root *os.Root
	mu   sync.Mutex // of those who add
}

// Open opens a directory and removes what is too old.
func Open(cfg Config) (*Store, error) {
	cfg = cfg.filled()
	if cfg.PerCaller < 0 || cfg.Total < 0 || cfg.Count < 0 || cfg.MaxAge < 0 {
		return nil, errors.New("opening the artifacts: a bound is negative")
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("opening the artifacts: %w", err)
	}
	// A link could lead anywhere, and what is behind it is swept.
	if info, err := os.Lstat(cfg.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("opening the artifacts: %s is no directory of its own: %w", cfg.Dir, cmp.Or(err, os.ErrInvalid))
	}
	root, err := os.OpenRoot(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the artifacts: %w", err)
	}
	s := &Store{cfg: cfg, root: root}
	if _, err := s.sweep("", 0); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// Close gives the directory back; what is in it stays for the next process.
func (s *Store) Close() error { return s.root.Close() }

// Put keeps a text for a caller and gives its ID. The oldest make room for it.
func (s *Store) Put(caller toolcrib.Caller, text []byte) (string, error) {
	size := int64(len(text))
	if size > s.cfg.PerCaller || size > s.cfg.Total {
		return "", fmt.Errorf("keeping %d bytes: %w", size, ErrTooLarge)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	who := owner(caller)
	if _, err := s.sweep(who, size); err != nil {
		return "", err
	}
	id := newID()
	draft := draftPrefix + id
	err := s.write(draft, text)
	if err == nil {
		err = s.root.Rename(draft, id+"."+who)
	}
	if err != nil {
		// What is left of it is swept away later if it cannot be removed now.
		return "", fmt.Errorf("keeping an artifact: %w", errors.Join(err, missing(s.root.Remove(draft))))
	}
	return id, nil
}

func (s *Store) write(name string, text []byte) error {
	f, err := s.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	now := s.cfg.Now()
	return s.root.Chtimes(name, now, now)
}

// Read gives a part of an artifact and its length.
func (s *Store) Read(caller toolcrib.Caller, id string, offset int64, limit int) (part []byte, total int64, err error) {
	if !validID(id) || offset < 0 || limit < 0 {
		return nil, 0, ErrNotFound
	}
	name := id + "." + owner(caller)
	before, err := s.root.Lstat(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, ErrNotFound
	}
	if err != nil {
		return nil, 0, fmt.Errorf("reading an artifact: %w", err)
	}
	if !before.Mode().IsRegular() || s.old(before) {
		return nil, 0, ErrNotFound
	}
	f, err := s.root.Open(name)
	if errors.Is(err, os.ErrNotExist) { // it has just made room for another
		return nil, 0, ErrNotFound
	}
	if err != nil {
		return nil, 0, fmt.Errorf("reading an artifact: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// A link that was put in its place meanwhile would lead to another's.
	info, err := f.Stat()
	if err != nil || !os.SameFile(before, info) {
		return nil, 0, errors.Join(ErrNotFound, err)
	}
	total = info.Size()
	part = make([]byte, min(int64(limit), max(0, total-offset)))
	n, err := f.ReadAt(part, min(offset, total))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("reading an artifact: %w", err)
	}
	return part[:n], total, nil
}

// owner names a caller: its organisation, its subject and its session. An
// artifact stays in its session, because what a session has seen decides what
// it may send where.
func owner(c toolcrib.Caller) string {
	h := sha256.New()
	for _, part := range []string{c.Organisation, c.Subject, c.Session} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:]) // lengths keep two names from trading letters
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil)[:ownerLen/2])
}

const (
	idLen       = 26
	ownerLen    = 32
	draftPrefix = "new-"
)

// newID is 128 random bits: not to be guessed, though that alone gives nothing.
func newID() string {
	var b [16]byte
	// Read never fails: since Go 1.24 it ends the process instead.
	_, _ = rand.Read(b[:])
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

func validID(id string) bool {
	return len(id) == idLen && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// missing drops the error that something is not there.
func missing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
