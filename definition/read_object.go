package definition

import (
	"fmt"
	"strings"
)

func (r *reader) object(t *tree, s *shape, depth int) error {
	r.counts(t, "minProperties", &s.minProps, "maxProperties", &s.maxProps)
	at := map[string]int{}
	if v := r.table(t, "properties"); v != nil {
		s.props = []property{}
		for _, m := range v.members {
			p, err := r.below(fmt.Sprintf("properties/%.80s", m.key), m.value, depth)
			if err != nil {
				return err
			}
			at[m.key] = len(s.props)
			s.props = append(s.props, property{name: m.key, shape: p})
		}
	}
	if err := r.others(t, s, depth); err != nil {
		return err
	}
	r.required(t, s, at)
	return nil
}

// table gives a keyword that is an object; nil: there is none, or it is something else.
func (r *reader) table(t *tree, key string) *tree {
	v := t.get(key)
	if v != nil && v.kind != kindObject {
		r.skip("%s is not an object", key)
		return nil
	}
	return v
}

// required marks what has to be given. A name that is not declared is declared by that.
func (r *reader) required(t *tree, s *shape, at map[string]int) {
	if t.get("required").is(kindBool) { // true or false: a habit from draft 3 that means nothing any more
		return
	}
	v := r.list(t, "required")
	if v == nil {
		return
	}
	for _, e := range v.elems {
		if e.kind != kindString {
			r.skip("required lists something that is not a name")
			continue
		}
		i, ok := at[e.text]
		if !ok {
			p := free()
			if s.extra != nil {
				p = s.extra
			}
			i = len(s.props)
			at[e.text] = i
			s.props = append(s.props, property{name: e.text, shape: p})
		}
		s.props[i].must = true
	}
}

// others reads what is said about properties that are not declared.
func (r *reader) others(t *tree, s *shape, depth int) error {
	var kinds []*shape
	if v := r.table(t, "patternProperties"); v != nil {
		for _, m := range v.members {
			p, err := r.below(fmt.Sprintf("patternProperties/%.80s", m.key), m.value, depth)
			if err != nil {
				return err
			}
			if !p.never() {
				kinds = append(kinds, p)
				s.note(fmt.Sprintf("names that match %.100s: %s", m.key, p.kinds.words()))
			}
		}
		if t.get("additionalProperties") == nil {
			s.extra = free()
			return nil
		}
	}
	v := t.get("additionalProperties")
	if v == nil {
		return nil
	}
	p, err := r.below("additionalProperties", v, depth)
	if err != nil {
		return err
	}
	if !p.never() {
		kinds = append(kinds, p)
	}
	if len(kinds) == 0 {
		s.closed = true
		return nil
	}
	s.extra = either(kinds)
	return nil
}

// combined reads the keywords that put schemas together.
func (r *reader) combined(t *tree, s *shape, depth int) error {
	if v := r.list(t, "allOf"); v != nil {
		for i, e := range v.elems {
			part, err := r.below(fmt.Sprintf("allOf/%d", i), e, depth)
			if err != nil {
				return err
			}
			*s = *intersect(s, part)
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		v := r.list(t, key)
		if v == nil {
			continue
		}
		var parts []*shape
		var seen, twice kinds
		for i, e := range v.elems {
			part, err := r.below(fmt.Sprintf("%s/%d", key, i), e, depth)
			if err != nil {
				return err
			}
			part.kinds &= s.kinds
			if !part.never() {
				parts = append(parts, part)
				twice |= seen & part.kinds
				seen |= part.kinds
			}
		}
		if key == "oneOf" && twice&(isArray|isObject) != 0 {
			s.note("exactly one of the alternatives")
		}
		*s = *intersect(s, either(parts))
	}
	return nil
}

// rules keeps the keywords that a shape has no field for as words. It comes last: closing an object by what is left
// unevaluated needs to know all else.
func (r *reader) rules(t *tree, s *shape) {
	left := object()
	for _, key := range []string{
		"not", "if", "then", "else", "contains", "minContains", "maxContains", "propertyNames", "dependentRequired",
		"dependentSchemas", "dependencies", "unevaluatedItems", "unevaluatedProperties",
	} {
		if v := t.get(key); v != nil {
			left.set(key, v)
		}
	}
	if v := left.get("unevaluatedProperties"); v.is(kindBool) && r.draft >= 2019 {
		if len(left.members) == 1 {
			left.members = nil
		}
		if !v.truth() && left.members == nil && s.any == nil && s.extra == nil && s.cut == "" && !r.dynamic(t) {
			s.closed = true
		}
	}
	if len(left.members) > 0 {
		if words := left.String(); len(words) <= maxRuleText && !strings.Contains(words, `"$ref"`) {
			s.note("also holds: " + words)
		} else {
			var keys []string
			for _, m := range left.members {
				keys = append(keys, m.key)
			}
			s.note("further rules are checked (" + strings.Join(keys, ", ") + ")")
		}
	}
	if v := t.get("examples"); v.is(kindArray) && len(v.elems) > 0 {
		if words := v.String(); len(words) <= maxRuleText {
			s.note("for example " + words[1:len(words)-1])
		}
	}
	for _, key := range []string{"contentEncoding", "contentMediaType"} {
		if v := t.string(key); v != "" && len(v) <= 80 {
			s.note(v)
		}
	}
	if t.get("deprecated").truth() {
		s.note("deprecated")
	}
	if r.dynamic(t) {
		s.cut = "its definition is not shown"
	}
}

// dynamic reports a reference that is only known when a value is there.
func (r *reader) dynamic(t *tree) bool {
	return t.get("$dynamicRef") != nil || t.get("$recursiveRef") != nil
}
