package gitobject

import (
	"crypto/sha1" //nolint:gosec // the hash that git goes by
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Store reads the objects of a repository. It is for one goroutine.
type Store struct {
	dir    Dir
	budget *Budget
	packs  []*pack
	listed bool
	held   heldObjects
}

// New makes a store over a Git directory. What it reads is charged to the budget.
func New(dir Dir, budget *Budget) *Store { return &Store{dir: dir, budget: budget} }

// Close closes the packs that were read.
func (s *Store) Close() error {
	var err error
	for _, p := range s.packs {
		err = errors.Join(err, p.close())
	}
	s.packs, s.listed, s.held = nil, false, heldObjects{}
	return err
}

// Read gives an object that is at most so long: longer ones are [ErrTooMuch].
func (s *Store) Read(id ID, most int64) (Object, error) {
	most = min(most, maxObject)
	o, err := s.readLoose(id, most)
	if !errors.Is(err, fs.ErrNotExist) {
		return o, s.named(id, err)
	}
	if err := s.listPacks(); err != nil {
		return Object{}, s.named(id, err)
	}
	for _, p := range s.packs {
		offset, found, err := p.find(id)
		if err != nil {
			return Object{}, s.named(id, err)
		}
		if !found {
			continue
		}
		o, err := p.object(offset, most)
		if err == nil && Hash(o) != id {
			err = ErrForged
		}
		return o, s.named(id, err)
	}
	return Object{}, s.named(id, ErrMissing)
}

// ReadKind gives an object of a kind.
func (s *Store) ReadKind(id ID, kind Kind, most int64) ([]byte, error) {
	o, err := s.Read(id, most)
	if err == nil && o.Kind != kind {
		err = s.named(id, fmt.Errorf("is no %s: %w", kind, ErrOdd))
	}
	return o.Data, err
}

func (s *Store) named(id ID, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the Git object %s %w", id.Short(), err)
}

// Hash is the name of an object.
func Hash(o Object) ID {
	h := sha1.New() //nolint:gosec // git's own
	_, _ = fmt.Fprintf(h, "%s %d\x00", o.Kind, len(o.Data))
	_, _ = h.Write(o.Data) // a hash takes everything
	return ID(h.Sum(nil))
}

// maxPacks bounds how many packs of a repository are looked through.
const maxPacks = 1024

// listPacks opens the packs that have an index.
func (s *Store) listPacks() error {
	if s.listed {
		return nil
	}
	names, err := s.dir.List("objects/pack")
	if errors.Is(err, fs.ErrNotExist) {
		s.listed = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot be looked for in packs: %w", err)
	}
	for _, name := range names {
		stem, ok := strings.CutSuffix(name, ".idx")
		if !ok {
			continue
		}
		if len(s.packs) >= maxPacks {
			return ErrTooMuch
		}
		p, err := openPack(s.dir, stem, s.budget, &s.held)
		if err != nil {
			return fmt.Errorf("cannot be looked for in the pack %s: %w", stem, err)
		}
		s.packs = append(s.packs, p)
	}
	s.listed = true
	return nil
}
