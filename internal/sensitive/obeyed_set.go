package sensitive

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// ObeyedSet finds obeyed places in paths.
type ObeyedSet struct {
	set, except *Set
	places      map[string]Place // by pattern
	held        []Place
	below       map[string][]Pattern // patterns by the names of directories on the way to what they mean
}

// NewObeyedSet makes the set of [Obeyed] without exceptions: names, or ends of
// paths, that a person has granted.
func NewObeyedSet(except ...string) (*ObeyedSet, error) {
	o := &ObeyedSet{places: map[string]Place{}, below: map[string][]Pattern{}}
	var patterns, granted []Pattern
	for _, text := range except {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, err
		}
		granted = append(granted, p)
	}
	o.except = NewSet(granted...)
	for _, place := range Obeyed() {
		p, err := ParsePattern(place.Pattern)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, p)
		o.places[p.key()] = place
		for _, way := range p[:len(p)-1] {
			o.below[way] = append(o.below[way], p)
		}
		if place.Held && !o.except.Match(p) {
			o.held = append(o.held, place)
		}
	}
	o.set = NewSet(patterns...)
	return o, nil
}

func (p Pattern) key() string {
	return strings.Join(p, "/")
}

// Held lists the places that programs look for at the top of a project.
func (o *ObeyedSet) Held() []Place { return o.held }

// Leads reports whether a directory of this name may be on the way to an obeyed
// place. It is quick, and a no is certain.
func (o *ObeyedSet) Leads(name string) bool { return o != nil && len(o.below[text.FoldFile(name)]) > 0 }

// Below gives the patterns of what is obeyed in a directory for the directory's
// own name: for .cargo that is config.toml.
func (o *ObeyedSet) Below(elems []string) (list []Pattern) {
	if len(elems) == 0 || o == nil {
		return nil
	}
	for _, p := range o.below[text.FoldFile(elems[len(elems)-1])] {
		for i := 1; i < len(p); i++ {
			if p[:i].match(elems) {
				list = append(list, p[i:])
			}
		}
	}
	return list
}

// Is reports whether a path is an obeyed place itself, and who obeys it.
func (o *ObeyedSet) Is(elems []string) (by string, ok bool) {
	if o == nil {
		return "", false
	}
	place, n := o.Place(elems)
	return place.By, n > 0
}

// Place gives the entry of the list that a path is, and how many of its last
// elements name it; zero if it is none.
func (o *ObeyedSet) Place(elems []string) (place Place, n int) {
	p := o.set.find(elems)
	if p == nil || o.except.Match(elems) {
		return Place{}, 0
	}
	place = o.places[p.key()]
	if place.Danger <= AfterCommit && slices.ContainsFunc(elems[:len(elems)-len(p)], isInstalled) {
		return Place{}, 0
	}
	return place, len(p)
}

// isInstalled: what lies in a directory of this name came with packages. Many bring the
// workflows and hooks of their own repositories along, and neither git nor a service looks
// for those there.
func isInstalled(name string) bool {
	name = text.FoldFile(name)
	return name == "node_modules" || name == "site-packages"
}

// Granted reports whether a person has granted a path, or a directory above it,
// by its name.
func (o *ObeyedSet) Granted(elems []string) bool {
	for i := range elems {
		if o.except.May(elems[i]) && o.except.Match(elems[:i+1]) {
			return true
		}
	}
	return false
}

// In reports whether a path is an obeyed place or lies in one: n is how many of
// its elements name the place; zero for none.
func (o *ObeyedSet) In(elems []string) (n int, by string) {
	if o == nil {
		return 0, ""
	}
	for i := range elems {
		if !o.set.May(elems[i]) {
			continue
		}
		if by, ok := o.Is(elems[:i+1]); ok {
			return i + 1, by
		}
	}
	return 0, ""
}

// May reports whether a place of this name may be obeyed, wherever it lies. It
// is quick, and a no is certain.
func (o *ObeyedSet) May(name string) bool { return o != nil && o.set.May(name) }
