package policy

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Profile says which tools exist: those that Include picks and Exclude does
// not. The zero Profile has none.
type Profile struct {
	Name             string
	Include, Exclude []Selector
}

// lookOnly is what does nothing but look: the effects of minimal, and of plan.
const lookOnly = toolcrib.Pure | toolcrib.Reads | toolcrib.AsksPerson

// The built-in profiles.
const (
	ProfileMinimal = "minimal" // what only looks
	ProfileCoding  = "coding"  // that, and changing files, but no commands
	ProfileFull    = "full"    // everything
)

// BuiltinProfile gives a built-in profile. They go by effects; a tool that
// declares none is in full alone.
func BuiltinProfile(name string) (Profile, bool) {
	within := func(e toolcrib.Effects) selectorPart { return selectorPart{kind: selectEffects, effects: e} }
	group := func(g string) selectorPart { return selectorPart{kind: selectGroup, name: g} }
	p := Profile{Name: name}
	switch name {
	case ProfileMinimal:
		p.Include = []Selector{{parts: []selectorPart{within(lookOnly)}}}
	case ProfileCoding:
		change := lookOnly | toolcrib.Writes | toolcrib.Destroys
		p.Include = []Selector{{parts: []selectorPart{within(lookOnly)}}}
		for _, g := range []string{"fs", "search", "interact", "code"} {
			p.Include = append(p.Include, Selector{parts: []selectorPart{group(g), within(change)}})
		}
	case ProfileFull:
		p.Include = []Selector{{parts: []selectorPart{{kind: selectAll}}}}
	default:
		return Profile{}, false
	}
	for i := range p.Include {
		p.Include[i].text = p.Include[i].written()
	}
	return p, true
}

// written is the text of a selector that was not read from one.
func (s *Selector) written() string {
	var words []string
	for _, p := range s.parts {
		switch p.kind {
		case selectAll:
			words = append(words, "*")
		case selectGroup:
			words = append(words, "group:"+p.name)
		case selectEffects:
			words = append(words, "effects:"+p.effects.String())
		}
	}
	return strings.Join(words, "+")
}

// Has reports whether a tool is in the profile. Own are the boxes that are part
// of the program: a bare name in Include means their tools only.
func (p *Profile) Has(spec *toolcrib.Entry, own []string) bool {
	return slices.ContainsFunc(p.Include, func(s Selector) bool { return s.includes(spec, own) }) &&
		!slices.ContainsFunc(p.Exclude, func(s Selector) bool { return s.Picks(spec) })
}

// includes is the reading for profiles: only a bare name is held to our own
// boxes, and to the one that it says. Groups, effects and * are about whatever there is; being visible is
// not yet being allowed.
func (s *Selector) includes(spec *toolcrib.Entry, own boxes) bool {
	if !s.Picks(spec) {
		return false
	}
	for i := range s.parts {
		p := &s.parts[i]
		if p.kind != selectTool || p.box != "" || slices.Contains(own, spec.Box) {
			continue
		}
		if sure, _ := p.means(spec); !sure {
			return false
		}
	}
	return true
}
