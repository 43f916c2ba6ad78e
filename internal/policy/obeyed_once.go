package policy

import (
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
			l := remembered(own.seen.real, path, func() led { to, err := resolve(path); return led{to, err} })
			return l.to, l.err
		}
	}
	return &own
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
