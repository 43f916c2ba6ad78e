package definition

import "slices"

// intersect is what fits both shapes, or somewhat more: where two rules cannot be told as one, the first is kept and the
// other one becomes words. Neither a nor b is changed.
func intersect(a, b *shape) *shape {
	if a.any != nil && b.any != nil {
		b = flatten(b)
	}
	s := *a
	s.kinds &= b.kinds
	s.enum = meetEnum(a.enum, b.enum)
	s.title = first(a.title, b.title)
	s.cut = first(a.cut, b.cut)
	switch {
	case a.about == "":
		s.about = b.about
	case b.about != "" && b.about != a.about:
		s.about = a.about + " " + b.about
	}
	if s.deft == nil {
		s.deft = b.deft
	}
	s.notes = slices.Clone(a.notes)
	for _, n := range b.notes {
		s.note(n)
	}
	s.min, s.above = tighter(a.min, b.min, true), tighter(a.above, b.above, true)
	s.max, s.below = tighter(a.max, b.max, false), tighter(a.below, b.below, false)
	s.step = s.keepFirst("a multiple of ", a.step, b.step)
	s.minLen, s.maxLen = max(a.minLen, b.minLen), least(a.maxLen, b.maxLen)
	s.pattern = s.keepFirst("matches ", a.pattern, b.pattern)
	s.format = s.keepFirst("format ", a.format, b.format)
	s.minItems, s.maxItems = max(a.minItems, b.minItems), least(a.maxItems, b.maxItems)
	s.unique = a.unique || b.unique
	s.items = meetMaybe(a.items, b.items)
	if s.items != nil && s.items.never() {
		s.items, s.maxItems = nil, 0
	}
	s.meetObjects(a, b)
	if s.any == nil {
		s.any = b.any
	}
	s.conclude()
	return &s
}

func (s *shape) meetObjects(a, b *shape) {
	s.minProps, s.maxProps = max(a.minProps, b.minProps), least(a.maxProps, b.maxProps)
	s.closed = a.closed || b.closed
	s.extra = meetMaybe(a.extra, b.extra)
	if s.extra != nil && s.extra.never() {
		s.closed = true
	}
	if s.closed {
		s.extra = nil
	}
	if b.props == nil {
		return
	}
	s.props = slices.Clone(a.props)
	at := make(map[string]int, len(s.props))
	for i := range s.props {
		at[s.props[i].name] = i
	}
	for _, p := range b.props {
		i, both := at[p.name]
		if !both {
			s.props = append(s.props, p)
			continue
		}
		s.props[i] = property{p.name, intersect(s.props[i].shape, p.shape), s.props[i].must || p.must}
	}
	if s.props == nil {
		s.props = []property{}
	}
}

// keepFirst takes the first of two rules; if the second is another one, it becomes words.
func (s *shape) keepFirst(words, a, b string) string {
	if a != "" && b != "" && a != b && len(b) <= maxRuleText {
		s.note(words + b)
	}
	return first(a, b)
}

func meetMaybe(a, b *shape) *shape {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return intersect(a, b)
}

func meetEnum(a, b []*tree) []*tree {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case len(a)*len(b) > 1_000_000: // either alone is wide enough
		return a
	}
	both := []*tree{}
	for _, v := range a {
		if slices.ContainsFunc(b, func(w *tree) bool { return same(v, w) }) {
			both = append(both, v)
		}
	}
	return both
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// tighter picks the narrower of two bounds; either would be right.
func tighter(a, b string, larger bool) string {
	if a == "" || b == "" {
		return first(a, b)
	}
	if (number(b) > number(a)) == larger {
		return b
	}
	return a
}

// least is the smaller of two limits of which -1 is none.
func least(a, b int) int {
	if a < 0 || (b >= 0 && b < a) {
		return b
	}
	return a
}
