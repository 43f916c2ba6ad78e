package definition

import (
	"fmt"
	"strings"
)

func (r *reader) array(t *tree, s *shape, depth int) error {
	r.counts(t, "minItems", &s.minItems, "maxItems", &s.maxItems)
	s.unique = t.get("uniqueItems").truth()
	var tuple *tree
	rest := t.get("items")
	if r.draft == 2020 {
		tuple = r.list(t, "prefixItems")
	}
	if rest.is(kindArray) {
		tuple, rest = rest, t.get("additionalItems")
	}
	if tuple == nil {
		if rest == nil {
			return nil
		}
		items, err := r.below("items", rest, depth)
		if err != nil {
			return err
		}
		s.items = items
		if items.never() {
			s.items, s.maxItems = nil, 0
		}
		return nil
	}
	return r.tuple(tuple, rest, s, depth)
}

// tuple reads a list whose places differ: the places become alternatives, since hardly any API knows places.
func (r *reader) tuple(places, rest *tree, s *shape, depth int) error {
	var each []*shape
	var order []string
	for i, p := range places.elems {
		place, err := r.below(fmt.Sprintf("items/%d", i), p, depth)
		if err != nil {
			return err
		}
		each = append(each, place)
		if i < 8 {
			order = append(order, strings.TrimSpace(place.title+" "+place.kinds.words()))
		}
	}
	s.note("in this order: " + strings.Join(order, ", "))
	other := free()
	if rest != nil {
		var err error
		if other, err = r.below("items", rest, depth); err != nil {
			return err
		}
	}
	switch n := len(each); {
	case !other.never():
		if s.maxItems < 0 || s.maxItems > n {
			each = append(each, other)
		}
	case s.maxItems < 0 || s.maxItems > n:
		s.maxItems = n
	}
	s.items = either(each)
	if s.items.never() {
		s.items, s.maxItems = nil, 0
	}
	return nil
}
