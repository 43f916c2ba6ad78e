package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/linked"
)

// sightings are what an Obeyed has found out already. They hold for one look only,
// in which many paths may be judged: the changes of a command.
type sightings struct {
	own     []string
	ownSeen bool
	roots   []string
	leads   map[string]led
	real    map[string]led
	git     map[string]bool
	pointed map[string][]gitconfig.Pointed
	below   map[string][]linked.Listing
	ways    map[string][]obeyedWay

	names     *takenNames
	namesSeen bool
}

// led is where a path leads.
type led struct {
	to  string
	err error
}

// once gives an Obeyed that looks at each place of the machine at most once.
func (o *Obeyed) once() *Obeyed {
	if o == nil {
		return nil
	}
	own := *o
	own.seen = &sightings{leads: map[string]led{}, real: map[string]led{}, git: map[string]bool{}, pointed: map[string][]gitconfig.Pointed{}, below: map[string][]linked.Listing{}, ways: map[string][]obeyedWay{}}
	if resolve := o.Resolve; resolve != nil {
		own.Resolve = func(path string) (string, error) {
			l := own.seen.leadsTo(path, resolve)
			return l.to, l.err
		}
	}
	return &own
}

// leadsTo finds where a path leads. Files that lie beside each other share the way there.
func (s *sightings) leadsTo(full string, resolve func(path string) (string, error)) led {
	return remembered(s.real, full, func() led {
		dir, base := filepath.Split(full)
		if runtime.GOOS != "windows" && base != "" && len(dir) > 1 && filepath.Clean(full) == full {
			around := s.leadsTo(dir[:len(dir)-1], resolve)
			if name := filepath.Join(around.to, base); around.err == nil && plain(name) {
				return led{to: name}
			}
		}
		to, err := resolve(full)
		return led{to, err}
	})
}

// plain: what has this name is no link, or nothing has it.
func plain(name string) bool {
	info, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0
}

// remembered gives the value of a key, and finds it the first time.
func remembered[V any](m map[string]V, key string, find func() V) V {
	v, known := m[key]
	if !known {
		v = find()
		m[key] = v
	}
	return v
}
