// Package scriptfile keeps saved scripts in files, one for each, and implements [saved.Store]. The joint internal/coding and the
// command line open it.
//
// Its one invariant: what it gives is what was put. A file that was written, changed, swapped or put back by anybody else is left out,
// and told.
package scriptfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/toolbox/saved"
)

const (
	folder = "scripts"
	prefix = "script-" // so that no name is one that a system keeps for itself
	ending = ".json"

	maxFile    = 256 << 10
	maxScripts = 500
)

// Store is a directory of scripts. Several processes may use one.
type Store struct {
	state, dir string
}

// Open gives the scripts of a directory of state. It makes nothing yet.
func Open(state string) *Store {
	return &Store{state: state, dir: filepath.Join(state, folder)}
}

var _ saved.Store = (*Store)(nil)

// Path is where a script lies.
func (s *Store) Path(name string) string { return filepath.Join(s.dir, prefix+name+ending) }

// sealName is what a file is sealed as: a file under another name is another script.
func sealName(name string) string { return folder + "/" + name }

// List gives the scripts, and what is left out and why.
func (s *Store) List(ctx context.Context) ([]saved.Script, []saved.Fault, error) {
	names, err := s.names()
	if err != nil || len(names) == 0 {
		return nil, nil, err
	}
	box, err := seal.OfState(s.state, false)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the saved scripts: %w", err)
	}
	var scripts []saved.Script
	var faults []saved.Fault
	for i, name := range names {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if i == maxScripts {
			faults = append(faults, saved.Fault{Name: name, Err: fmt.Errorf("at most %d saved scripts count; remove some: toolcrib scripts remove NAME", maxScripts)})
			break
		}
		script, there, err := s.read(box, name)
		switch {
		case err != nil:
			faults = append(faults, saved.Fault{Name: name, Err: err})
		case there:
			scripts = append(scripts, script)
		}
	}
	return scripts, faults, nil
}

// names are those of the files, in order.
func (s *Store) names() ([]string, error) {
	entries, err := plainfile.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for saved scripts: %w", err)
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), prefix)
		if name, is := strings.CutSuffix(name, ending); ok && is && name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

func (s *Store) read(box *seal.Box, name string) (script saved.Script, there bool, err error) {
	body, there, err := box.Read(sealName(name), func() ([]byte, error) { return plainfile.Read(s.Path(name), maxFile) })
	if errors.Is(err, seal.ErrBroken) {
		return script, false, fmt.Errorf("the saved script %s is not what a person has seen (%w), so it is no tool: have it saved again, or remove it with toolcrib scripts remove %s", name, err, name)
	}
	if err != nil {
		return script, false, fmt.Errorf("the saved script %s cannot be read (%w), so it is no tool: toolcrib scripts remove %s removes it", name, err, name)
	}
	if !there {
		return script, false, nil
	}
	if err := json.Unmarshal(body, &script); err != nil || script.Name != name {
		return script, false, fmt.Errorf("the saved script %s cannot be read; remove it with toolcrib scripts remove %s", name, name)
	}
	return script, true, nil
}

// Put keeps a script, in the place of one of the same name.
func (s *Store) Put(_ context.Context, script saved.Script) error {
	if err := saved.Check(script, nil); err != nil { // its name becomes part of a path
		return err
	}
	body, err := json.Marshal(script)
	if err != nil {
		return fmt.Errorf("keeping the script: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("keeping the script: %w", err)
	}
	box, err := seal.OfState(s.state, true)
	if err != nil {
		return fmt.Errorf("keeping the script: %w", err)
	}
	err = box.Write(sealName(script.Name), body, func(sealed []byte) error {
		if len(sealed) > maxFile {
			return fmt.Errorf("it would have %d bytes; at most %d are kept", len(sealed), maxFile)
		}
		return durable.Replace(s.Path(script.Name), sealed, 0o600)
	})
	if err != nil {
		return fmt.Errorf("keeping the script: %w", err)
	}
	return nil
}

// Remove removes a script, or what lies in its place.
func (s *Store) Remove(_ context.Context, name string) error {
	names, err := s.names()
	if err != nil {
		return err
	}
	found := false
	for _, n := range names {
		found = found || n == name
	}
	if !found {
		return saved.ErrNone
	}
	box, err := seal.OfState(s.state, true)
	if err != nil {
		return fmt.Errorf("removing the script: %w", err)
	}
	if err := box.Forget(sealName(name), func() error { return os.Remove(s.Path(name)) }); err != nil {
		return fmt.Errorf("removing the script: %w", err)
	}
	return nil
}

// Marks differ when the files do.
func (s *Store) Marks() string {
	names, err := s.names()
	if err != nil {
		return err.Error()
	}
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = s.Path(n)
	}
	return plainfile.Marks(paths...)
}
