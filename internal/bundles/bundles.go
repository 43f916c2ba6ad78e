// Package bundles installs packages of skills, MCP servers, agents and memory templates:
// it fetches them, keeps them, and says what of them counts. It is a joint; what a package
// is, and what it wants, is internal/bundle's. The wiring and the command line import it.
//
// The invariant: what counts is in one file, the record, which is replaced as a whole.
// Whoever is killed at any moment leaves the old state or the new one, and nothing that a
// package says leads out of its folder.
package bundles

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// Bundles is the packages of a person.
type Bundles struct {
	// State is the directory of the program's state, which has the record in it.
	State string
	// Store is where packages lie: a directory that no tool writes to.
	Store string
	// LockFile is the person's lock file; empty: there is none.
	LockFile string
	// Memory is the folder of the memory box, for templates; empty: there is none.
	Memory string
	// Dir is the working directory, and Home the person's: a project is looked for
	// between them.
	Dir, Home string
	// Program finds a program of the machine, such as git. Nil: none is started.
	Program func(name string) (string, error)
	// HTTP gives a client for a host, which it may also be sent away from. Nil: nothing is
	// fetched.
	HTTP func(host string) *http.Client
	// Reach says whether git may be sent to an address of another machine. Nil: to none.
	Reach func(ctx context.Context, address string) error
	// NPM and PyPI are the registries that packages are looked up in.
	NPM, PyPI string
	Now       func() time.Time

	reached func(step string) // a test stops here
}

// The registries that everybody uses.
const (
	DefaultNPM  = "https://registry.npmjs.org"
	DefaultPyPI = "https://pypi.org"
)

// ErrNone is the error of a package that is not there.
var ErrNone = errors.New("there is no such bundle")

func (b *Bundles) at(step string) {
	if b.reached != nil {
		b.reached(step)
	}
}

func (b *Bundles) now() time.Time {
	if b.Now == nil {
		return time.Now()
	}
	return b.Now()
}

// dir is where the record lies.
func (b *Bundles) dir() string { return filepath.Join(b.State, "bundles") }

// hold keeps all others from changing what is installed.
func (b *Bundles) hold(ctx context.Context) (release func(), err error) {
	if b.State == "" || b.Store == "" {
		return nil, errors.New("there is no directory to keep bundles in")
	}
	if err := os.MkdirAll(b.dir(), 0o700); err != nil {
		return nil, fmt.Errorf("keeping bundles: %w", err)
	}
	lock, err := durable.Lock(ctx, filepath.Join(b.dir(), "lock"))
	if err != nil {
		return nil, fmt.Errorf("waiting for who changes bundles: %w", err)
	}
	return func() { _ = lock.Close() }, nil // closing what was only locked loses nothing
}

// needs is what reading a package takes.
func (b *Bundles) needs(name string) (bundle.Needs, error) {
	box, err := skill.Open(context.Background(), skill.Config{}, skill.Needs{
		Open: nothingToRead, YAML: config.Decode,
	})
	if err != nil {
		return bundle.Needs{}, err
	}
	return bundle.Needs{Name: plainName(name), YAML: config.Decode, Skill: func(_ string, text []byte) (bundle.Skill, []bundle.Note, error) {
		// As a place of its own: so it is found when it is installed.
		check := box.Validate(".", text)
		var notes []bundle.Note
		for _, n := range check.Notes {
			notes = append(notes, bundle.Note{Text: n})
		}
		return bundle.Skill{Name: check.Skill.Name, Description: check.Skill.Description, AllowedTools: check.Skill.AllowedTools}, notes, check.Err
	}}, nil
}

// plainName makes a name that a package can have of one that somebody gave to a folder or
// to a file.
func plainName(name string) string {
	out := make([]byte, 0, len(name))
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			out = append(out, c)
		case len(out) > 0 && out[len(out)-1] != '-':
			if c != '_' && c != '.' {
				c = '-'
			}
			if last := out[len(out)-1]; last != '.' && last != '_' {
				out = append(out, c)
			}
		}
	}
	for len(out) > 0 && (len(out) > 64 || out[len(out)-1] == '-' || out[len(out)-1] == '_' || out[len(out)-1] == '.') {
		out = out[:len(out)-1]
	}
	return string(out)
}

// nothingToRead: texts of skills are read, and no files.
func nothingToRead(skill.Place) (*files.Handle, error) { return nil, errors.ErrUnsupported }
