package definition

import (
	"reflect"
	"slices"
	"strings"
)

// maxCompared bounds how many alternatives are compared with each other.
const maxCompared = 16

// either is what fits at least one of the shapes, told as simply as it can be: literals become one enumeration, and
// "or null" becomes one more type.
func either(shapes []*shape) *shape {
	var parts []*shape
	null := false
	for _, p := range shapes {
		switch {
		case p.never():
		case p.kinds == isNull:
			null = true
		case len(parts) < maxCompared && slices.ContainsFunc(parts, func(q *shape) bool { return reflect.DeepEqual(p, q) }):
		default:
			parts = append(parts, p)
		}
	}
	switch {
	case len(parts) == 0:
		s := free()
		s.kinds = 0
		if null {
			s.kinds = isNull
		}
		return s
	case len(parts) == 1 && (!null || parts[0].any == nil):
		s := *parts[0]
		if s.deft != nil { // that of an alternative is not filled in for certain
			s.notes = slices.Clone(s.notes)
			s.note(defaultWords(s.deft))
			s.deft = nil
		}
		if null && s.kinds&isNull == 0 {
			s.kinds |= isNull
			if s.enum != nil {
				s.enum = append(slices.Clone(s.enum), &tree{kind: kindNull, text: "null"})
			}
		}
		return &s
	}
	if s := literals(parts); s != nil {
		if null {
			s.enum = append(s.enum, &tree{kind: kindNull, text: "null"})
			s.kinds |= isNull
		}
		return s
	}
	s := free()
	s.kinds = 0
	if null {
		n := free()
		n.kinds = isNull
		parts = append(parts, n)
	}
	for _, p := range parts {
		s.kinds |= p.kinds
	}
	s.any = parts
	return s
}

// literals puts alternatives that are enumerations of plain values into one, nil if they are not. What was said of each
// value is kept.
func literals(parts []*shape) *shape {
	s := free()
	s.kinds = 0
	var words []string
	for _, p := range parts {
		if p.enum == nil || p.any != nil || p.kinds&(isArray|isObject) != 0 {
			return nil
		}
		s.kinds |= p.kinds
		s.enum = append(s.enum, p.enum...)
		if about := first(p.about, p.title); about != "" && len(p.enum) == 1 && len(words) < 40 {
			words = append(words, p.enum[0].String()+": "+about)
		}
	}
	s.note(strings.Join(words, "; "))
	return s
}

// flatten gives a shape without alternatives that everything fits which fits s: it declares what any alternative
// declares, and requires what all of them require.
func flatten(s *shape) *shape {
	if s.any == nil {
		return s
	}
	base := *s
	base.any = nil
	return intersect(&base, join(s.any))
}

// join merges alternatives into one shape that is wider than each of them.
func join(parts []*shape) *shape {
	s := free()
	s.kinds = 0
	var with []*shape // those that allow an object
	items, enums := []*shape{}, []*tree{}
	for _, p := range parts {
		p = flatten(p)
		s.kinds |= p.kinds
		s.cut = first(s.cut, p.cut)
		if p.kinds&isArray != 0 && items != nil {
			if items = append(items, p.items); p.items == nil {
				items = nil
			}
		}
		if enums != nil {
			if enums = append(enums, p.enum...); p.enum == nil {
				enums = nil
			}
		}
		if p.kinds&isObject != 0 {
			with = append(with, p)
		}
	}
	if len(enums) > 0 {
		s.enum = enums
	}
	if len(items) > 0 {
		s.items = either(items)
	}
	s.joinObjects(with)
	return s
}

func (s *shape) joinObjects(parts []*shape) {
	if len(parts) == 0 {
		return
	}
	at := map[string]int{}
	var each [][]*shape // by property, what the alternatives say
	var must []int      // by property, how many require it
	var extras []*shape
	s.closed = true
	for _, p := range parts {
		if p.extra != nil {
			extras = append(extras, p.extra)
		}
		s.closed = s.closed && p.closed
		for _, q := range p.props {
			i, ok := at[q.name]
			if !ok {
				i = len(s.props)
				at[q.name] = i
				s.props = append(s.props, property{name: q.name})
				each, must = append(each, nil), append(must, 0)
			}
			each[i] = append(each[i], q.shape)
			if q.must {
				must[i]++
			}
		}
	}
	if s.note(requiredSets(parts)); len(extras) > 0 {
		s.extra = free()
		if len(extras) == len(parts) {
			s.extra = either(extras)
		}
	}
	for i := range s.props {
		p := &s.props[i]
		if s.extra != nil { // an alternative that does not declare it may allow it as one of the others
			for _, q := range parts {
				if q.extra != nil && q.prop(p.name) == nil {
					each[i] = append(each[i], q.extra)
				}
			}
		}
		p.shape, p.must = either(each[i]), must[i] == len(parts)
	}
}

// requiredSets says which properties go together, where alternatives differ in that.
func requiredSets(parts []*shape) string {
	if len(parts) > 12 {
		return ""
	}
	var sets []string
	for _, p := range parts {
		var names []string
		for _, q := range p.props {
			if q.must {
				names = append(names, q.name)
			}
		}
		if set := strings.Join(names, " and "); set != "" && !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	if len(sets) < 2 {
		return ""
	}
	return "give " + strings.Join(sets, ", or ")
}
