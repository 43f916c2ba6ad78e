package mcphub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// store keeps what is remembered of servers between runs: a file each, replaced
// as a whole, so that a reader in another process sees the old or the new.
type store struct {
	root     *os.Root // nil: nothing is kept
	readOnly bool
	mu       sync.Mutex
	number   int
}

// mostKept bounds what is read back.
const mostKept = 32 << 20

// load reads what was kept; false if there is nothing.
func (s *store) load(name string, into any) (bool, error) {
	if s.root == nil {
		return false, nil
	}
	f, err := s.root.Open(name + ".json")
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading what is known of an MCP server: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, mostKept+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("reading what is known of an MCP server: %w", err)
	}
	if len(text) > mostKept {
		return false, fmt.Errorf("what is known of an MCP server is too long (%s.json)", name)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("what is known of an MCP server cannot be read (%s.json): %w", name, err)
	}
	return true, nil
}

// save keeps it.
func (s *store) save(name string, value any) (err error) {
	if s.root == nil || s.readOnly {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("keeping what is known of an MCP server: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
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
	if s.root == nil || s.readOnly {
		return nil
	}
	if err := s.root.Remove(name + ".json"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forgetting an MCP server: %w", err)
	}
	return nil
}
