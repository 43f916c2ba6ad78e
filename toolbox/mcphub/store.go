package mcphub

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// store keeps what is remembered of servers between runs: a file each, replaced
// as a whole, so that a reader in another process sees the old or the new.
type store struct {
	root     *os.Root // nil: it is kept in memory, as long as this process runs
	seals    Seals    // nil: none of it is sealed
	readOnly bool
	most     int // bytes of one
	mu       sync.Mutex
	number   int
	memory   map[string][]byte
}

// mostKept bounds what is kept and read back.
const mostKept = 32 << 20

// load reads what was kept; false if there is nothing.
func (s *store) load(name string, into any) (bool, error) {
	if s.root == nil {
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
		return false, fmt.Errorf("reading what is known of an MCP server: %w", err)
	}
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("what is known of an MCP server cannot be read (%s.json): %w", name, err)
	}
	return true, nil
}

// isSealed says what decides something: which definitions are offered, and what
// a server that is not running is said to offer.
func (s *store) isSealed(name string) bool {
	return s.seals != nil && s.root != nil && (strings.HasPrefix(name, "pins-") || strings.HasPrefix(name, "manifest-"))
}

// read gives the text of one; false if there is none.
func (s *store) read(name string) ([]byte, bool, error) {
	get := func() ([]byte, error) {
		f, err := s.root.Open(name + ".json")
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(f, int64(s.most)+1))
		if err = errors.Join(err, f.Close()); err == nil && len(text) > s.most {
			err = fmt.Errorf("%s.json is too long", name)
		}
		return text, err
	}
	if s.isSealed(name) {
		return s.seals.Read("hub/"+name, get)
	}
	text, err := get()
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	return text, err == nil, err
}

// save keeps it.
func (s *store) save(name string, value any) error {
	if s.readOnly {
		return nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // it would make a text longer
	if err := enc.Encode(value); err != nil {
		return fmt.Errorf("keeping what is known of an MCP server: %w", err)
	}
	text := buf.Bytes()
	if len(text) > s.most { // it could not be read back
		return fmt.Errorf("what is known of an MCP server is too long to be kept (%s.json)", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil {
		if s.memory == nil {
			s.memory = map[string][]byte{}
		}
		s.memory[name] = text
		return nil
	}
	if s.isSealed(name) {
		return s.seals.Write("hub/"+name, text, func(sealed []byte) error { return s.replace(name, sealed) })
	}
	return s.replace(name, text)
}

// replace writes a file in the place of the old one. S.mu is held.
func (s *store) replace(name string, text []byte) (err error) {
	s.number++
	temp := fmt.Sprintf("%s.%p.%d.tmp", name, s, s.number)
	defer func() {
		if err != nil {
			err = fmt.Errorf("keeping what is known of an MCP server: %w", err)
			_ = s.root.Remove(temp) // it may not be there; the first error counts
		}
	}()
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return s.root.Rename(temp, name+".json")
}

// remove forgets it.
func (s *store) remove(name string) error {
	if s.readOnly {
		return nil
	}
	if s.root == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.memory, name)
		return nil
	}
	drop := func() error {
		if err := s.root.Remove(name + ".json"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	forget := drop
	if s.isSealed(name) {
		forget = func() error { return s.seals.Forget("hub/"+name, drop) }
	}
	if err := forget(); err != nil {
		return fmt.Errorf("forgetting an MCP server: %w", err)
	}
	return nil
}
