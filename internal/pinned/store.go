// Package pinned keeps what was approved of tools that others define, and says what
// a definition has that nobody sees. It is on the ground floor: the hub of MCP
// servers and the toolboxes of OpenAPI documents hold back what has changed by the same
// files and the same eyes. Its one invariant: what is sealed counts as it was written,
// or not at all.
package pinned

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

// Seals makes files that nobody else can write, and knows which there should be.
type Seals interface {
	// Write seals a body, which is JSON, as name, and has put write the file.
	Write(name string, body []byte, put func(sealed []byte) error) error
	// Read gives what was sealed last as name; get reads the file. False: there
	// never was any, or it was forgotten. An error: what is there, or is not, is
	// not what was sealed, or cannot be read.
	Read(name string, get func() ([]byte, error)) (body []byte, known bool, err error)
	// Forget lets a name begin anew; drop removes the file.
	Forget(name string, drop func() error) error
	// Digest gives a fingerprint that nobody makes without the key.
	Digest(parts ...string) string
}

// Store keeps what is remembered of suppliers between runs: a file each, replaced
// as a whole, so that a reader in another process sees the old or the new.
type Store struct {
	Root     *os.Root // nil: it is kept in memory, as long as this process runs
	Seals    Seals    // nil: none of it is sealed
	ReadOnly bool
	Most     int      // bytes of one
	What     string   // of whom it is, in errors: an MCP server
	Under    string   // what seals are called by, before the name: hub/
	Sealed   []string // how the names begin of what decides something
	mu       sync.Mutex
	number   int
	memory   map[string][]byte
}

// MostKept bounds what is kept and read back.
const MostKept = 32 << 20

// Load reads what was kept; false if there is nothing.
func (s *Store) Load(name string, into any) (bool, error) {
	if s.Root == nil {
		s.mu.Lock()
		text, ok := s.memory[name]
		s.mu.Unlock()
		if !ok {
			return false, nil
		}
		return true, json.Unmarshal(text, into)
	}
	text, ok, err := s.read(name)
	if err != nil {
		return false, fmt.Errorf("reading what is known of %s: %w", s.What, err)
	}
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("what is known of %s cannot be read (%s.json): %w", s.What, name, err)
	}
	return true, nil
}

// isSealed says what decides something: which definitions are offered, and what
// a supplier is said to offer that was not asked again.
func (s *Store) isSealed(name string) bool {
	return s.Seals != nil && s.Root != nil && slices.ContainsFunc(s.Sealed, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// read gives the text of one; false if there is none.
func (s *Store) read(name string) ([]byte, bool, error) {
	get := func() ([]byte, error) {
		f, err := s.Root.Open(name + ".json")
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(f, int64(s.Most)+1))
		if err = errors.Join(err, f.Close()); err == nil && len(text) > s.Most {
			err = fmt.Errorf("%s.json is too long", name)
		}
		return text, err
	}
	if s.isSealed(name) {
		return s.Seals.Read(s.Under+name, get)
	}
	text, err := get()
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	return text, err == nil, err
}

// Save keeps it.
func (s *Store) Save(name string, value any) error {
	if s.ReadOnly {
		return nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // it would make a text longer
	if err := enc.Encode(value); err != nil {
		return fmt.Errorf("keeping what is known of %s: %w", s.What, err)
	}
	text := buf.Bytes()
	if len(text) > s.Most { // it could not be read back
		return fmt.Errorf("what is known of %s is too long to be kept (%s.json)", s.What, name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Root == nil {
		if s.memory == nil {
			s.memory = map[string][]byte{}
		}
		s.memory[name] = text
		return nil
	}
	if s.isSealed(name) {
		return s.Seals.Write(s.Under+name, text, func(sealed []byte) error { return s.replace(name, sealed) })
	}
	return s.replace(name, text)
}

// replace writes a file in the place of the old one. S.mu is held.
func (s *Store) replace(name string, text []byte) (err error) {
	s.number++
	temp := fmt.Sprintf("%s.%p.%d.tmp", name, s, s.number)
	defer func() {
		if err != nil {
			err = fmt.Errorf("keeping what is known of %s: %w", s.What, err)
			_ = s.Root.Remove(temp) // it may not be there; the first error counts
		}
	}()
	f, err := s.Root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return s.Root.Rename(temp, name+".json")
}

// Remove forgets it.
func (s *Store) Remove(name string) error {
	if s.ReadOnly {
		return nil
	}
	if s.Root == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.memory, name)
		return nil
	}
	drop := func() error {
		if err := s.Root.Remove(name + ".json"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	forget := drop
	if s.isSealed(name) {
		forget = func() error { return s.Seals.Forget(s.Under+name, drop) }
	}
	if err := forget(); err != nil {
		return fmt.Errorf("forgetting %s: %w", s.What, err)
	}
	return nil
}
