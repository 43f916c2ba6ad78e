// Package undo keeps what files held before a call changed them, so that a person
// can take the change back, and has the tool that does so.
//
// The wiring hands what the toolbox of files changes to it, and the command line
// offers its tool to the person. Its one invariant: a file that is not as the call left it
// is not touched.
package undo

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/seal"
)

// Change is what a call does to one file.
type Change struct {
	Call, Subject string
	Path          string // absolute, after links
	Before        []byte // what the file held; nil if New or Slot
	New           bool   // there was no file
	After         files.Stamp
	Slot          string // of what was removed: the directory in the trash that holds it
	Type          string // of what was removed: file, directory or link
}

// kept is a Change as it lies on the disk.
type kept struct {
	Call    string    `json:"call"`
	Subject string    `json:"subject"`
	Path    string    `json:"path"`
	At      time.Time `json:"at"`
	Before  []byte    `json:"before,omitempty"`
	New     bool      `json:"new,omitempty"`
	Sum     []byte    `json:"sum,omitempty"`
	Size    int64     `json:"size,omitempty"`
	Slot    string    `json:"slot,omitempty"`
	Type    string    `json:"type,omitempty"`
}

const (
	// MaxFile is how large a file may be so that what it held is kept.
	MaxFile = 1 << 20
	// MaxAge is how long it is kept.
	MaxAge  = 30 * 24 * time.Hour
	maxKept = 5000 // files
	// encoded is how large one is on the disk, at most.
	encoded = 2*MaxFile + 64<<10
)

// ErrNothing says that nothing was kept of a call.
var ErrNothing = errors.New("nothing was kept of it")

// Store is the directory of what is kept. The zero value keeps nothing. It may be used
// by many at once, processes too.
type Store struct {
	State string // the directory of state it lies in, and what seals it
	Bytes int64  // at most so many in all; 0: nothing is kept

	mu    sync.Mutex
	seal  *seal.Digest // once something was kept
	known bool         // size and count are
	size  int64
	count int
}

// Keep writes down what a call is about to change. It is no reason to fail the call if it
// cannot.
func (s *Store) Keep(c Change) error {
	if s == nil || s.Bytes <= 0 || s.State == "" || c.Call == "" || len(c.Before) > MaxFile {
		return nil
	}
	text, err := json.Marshal(kept{
		Call: c.Call, Subject: c.Subject, Path: c.Path, At: time.Now().UTC(), Before: c.Before, New: c.New,
		Sum: c.After.Sum[:], Size: c.After.Size, Slot: c.Slot, Type: c.Type,
	})
	if err != nil || int64(len(text)) > s.Bytes {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(DirOf(s.State), 0o700); err != nil {
		return err
	}
	if text, err = s.sealed(text); err != nil {
		return err
	}
	temp, err := os.CreateTemp(DirOf(s.State), ".new-") // mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), s.file(c.Subject, c.Call))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	s.size, s.count = s.size+int64(len(text)), s.count+1
	if !s.known || s.size > s.Bytes || s.count > maxKept {
		return s.prune(time.Now())
	}
	return nil
}

// file is where a call's change is kept. A subject uses a call ID once.
func (s *Store) file(subject, call string) string {
	sum := sha256.Sum256([]byte(subject + "\x00" + call))
	return filepath.Join(DirOf(s.State), hex.EncodeToString(sum[:16])+".json")
}

// prune removes what is too old, and the oldest of what is too much. A quarter more goes
// than has to, so that it is not done at every call.
func (s *Store) prune(now time.Time) error {
	entries, err := os.ReadDir(DirOf(s.State))
	if err != nil {
		return err
	}
	type one struct {
		name string
		at   time.Time
		size int64
	}
	var list []one
	s.size, s.count = 0, 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // another process was faster
		}
		old := now.Sub(info.ModTime())
		if strings.HasPrefix(e.Name(), ".new-") && old > time.Hour || old > MaxAge {
			if err := remove(filepath.Join(DirOf(s.State), e.Name())); err != nil {
				return err
			}
			continue
		}
		list = append(list, one{e.Name(), info.ModTime(), info.Size()})
		s.size, s.count = s.size+info.Size(), s.count+1
	}
	if s.size > s.Bytes || s.count > maxKept {
		slices.SortFunc(list, func(a, b one) int { return a.at.Compare(b.at) })
		for _, o := range list {
			if s.size <= s.Bytes*3/4 && s.count <= maxKept*3/4 {
				break
			}
			if err := remove(filepath.Join(DirOf(s.State), o.name)); err != nil {
				return err
			}
			s.size, s.count = s.size-o.size, s.count-1
		}
	}
	s.known = true
	return nil
}

func remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Find gives what was kept of a call, or ErrNothing.
func (s *Store) Find(subject, call string) (Change, error) {
	text, err := plainfile.Read(s.file(subject, call), encoded)
	if errors.Is(err, fs.ErrNotExist) {
		return Change{}, ErrNothing
	}
	if err != nil {
		return Change{}, err
	}
	box, err := seal.OfState(s.State, true) // without a key nothing was sealed, and none can be guessed
	if err != nil {
		return Change{}, err
	}
	if text, err = opened(box, text, call); err != nil {
		return Change{}, err
	}
	return read(text, subject, call)
}

// What is kept is sealed: whoever could write it would have a person write any file with
// the next undo. The seal is a line of its own behind the text.

func (s *Store) sealed(text []byte) ([]byte, error) {
	if s.seal == nil {
		box, err := seal.OfState(s.State, true)
		if err != nil {
			return nil, err
		}
		s.seal = digestOf(box)
	}
	return append(append(text, '\n'), s.seal.Sum(text)...), nil
}

func opened(box *seal.Box, sealed []byte, call string) ([]byte, error) {
	at := bytes.LastIndexByte(sealed, '\n')
	if at < 0 || !hmac.Equal([]byte(digestOf(box).Sum(sealed[:at])), sealed[at+1:]) {
		return nil, fmt.Errorf("what was kept of call %s is not as Toolcrib wrote it, or is from a version that did not seal it, so it is not put back", call)
	}
	return sealed[:at], nil
}

func digestOf(box *seal.Box) *seal.Digest { return seal.NewDigest(box.Key(dirName), dirName) }

// read reads what is kept, and makes sure that it is of this call.
func read(text []byte, subject, call string) (Change, error) {
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return Change{}, fmt.Errorf("what was kept of call %s cannot be read: %w", call, err)
	}
	if k.Call != call || k.Subject != subject || !filepath.IsAbs(k.Path) || len(k.Sum) != sha256.Size || k.Slot != "" && !plainSlot(k.Slot) {
		return Change{}, fmt.Errorf("what was kept of call %s is not about it", call)
	}
	if k.Before == nil && !k.New && k.Slot == "" {
		k.Before = []byte{} // an empty file
	}
	return Change{
		Call: k.Call, Subject: k.Subject, Path: k.Path, Before: k.Before, New: k.New,
		After: files.Stamp{Sum: [sha256.Size]byte(k.Sum), Size: k.Size}, Slot: k.Slot, Type: k.Type,
	}, nil
}

const dirName = "undo"

// DirOf is where changes are kept in a directory of state; empty: nowhere.
func DirOf(state string) string {
	if state == "" {
		return ""
	}
	return filepath.Join(state, dirName)
}

// Tell keeps a change, and says in the log if it cannot.
func (s *Store) Tell(c Change, log *slog.Logger) {
	if err := s.Keep(c); err != nil && log != nil {
		log.Warn("what a file held before is not kept, so the change cannot be taken back", "call", c.Call, "error", err)
	}
}
