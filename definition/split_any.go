package definition

import (
	"reflect"
	"slices"
)

// maxAgain bounds how often alternatives are written twice to see whether they can be told apart. From then on they are
// merged at once: merged ones always can.
const maxAgain = 30

// alternatives lists the forms of a value that is told by alternatives. Those that a value could fit without it being
// clear which one is meant are merged, because they may stand for different things.
func (w *writer) alternatives(s *shape, depth int) (facets []facet, null bool) {
	base := *s
	base.any, base.notes, base.about, base.title, base.deft = nil, nil, "", "", nil
	parts := oneForm(s.any, isArray)
	if w.again < maxAgain {
		before := *w
		facets, null = w.parts(&base, parts, depth)
		if !confusing(facets) {
			return facets, null
		}
		again := w.again
		*w = before
		w.again = again + 1
	}
	return w.parts(&base, oneForm(parts, isObject), depth)
}

func (w *writer) parts(base *shape, parts []*shape, depth int) (facets []facet, null bool) {
	for _, b := range parts {
		part := onePlain(intersect(base, b))
		some, n := w.facets(part, depth)
		if len(some) > 0 {
			some[0].notes = append(slices.Clone(part.notes), some[0].notes...)
			if words := part.words(""); words != "" {
				some[0].notes = append([]string{words}, some[0].notes...)
			}
		}
		facets, null = append(facets, some...), null || n
	}
	return facets, null
}

// oneForm merges what alternatives say about values of one kind, if several say something.
func oneForm(parts []*shape, k kinds) []*shape {
	var with, out []*shape
	for _, p := range parts {
		if p.kinds&k != 0 {
			with = append(with, masked(p, k))
		}
		if p = masked(p, isAny&^k); !p.never() {
			out = append(out, p)
		}
	}
	if len(with) < 2 {
		return parts
	}
	return append(out, masked(join(with), k))
}

func masked(s *shape, k kinds) *shape {
	mask := free()
	mask.kinds = k
	return intersect(mask, s)
}

// confusing reports whether a value could fit two forms of an object that stand for different things.
func confusing(facets []facet) bool {
	var forms []*objectUndo
	for _, f := range facets {
		forms = append(forms, f.back.objects...)
	}
	if len(forms) > maxCompared {
		return true
	}
	for i, f := range forms {
		for _, g := range forms[:i] {
			if !f.distinctFrom(g) && !g.distinctFrom(f) && !reflect.DeepEqual(f, g) {
				return true
			}
		}
	}
	return false
}

// distinctFrom reports that nothing that fits f fits g: it has a member that g does not know, or one whose values g does not
// list.
func (u *objectUndo) distinctFrom(v *objectUndo) bool {
	for _, name := range u.must {
		f := u.fields[name]
		g, known := v.fields[name]
		switch {
		case !known && name != v.more:
			return true
		case f.back == nil || !known: // one of them holds further entries
		case f.drop || g.drop || !f.back.literal() || !g.back.literal():
		case !slices.ContainsFunc(f.back.only, func(a *tree) bool {
			return slices.ContainsFunc(g.back.only, func(b *tree) bool { return same(a, b) })
		}):
			return true
		}
	}
	return false
}

// literal reports that a value is one of those listed.
func (u *undo) literal() bool {
	return u.text == 0 && !u.null && u.objects == nil && u.arrays == nil && u.kinds == u.listed
}
