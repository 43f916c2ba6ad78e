package definition

import (
	"errors"
	"fmt"
	"strings"
)

func (r *reader) object(t *tree, s *shape, depth int) error {
	if err := counts(t, "minProperties", &s.minProps, "maxProperties", &s.maxProps); err != nil {
		return err
	}
	at := map[string]int{}
	if v := t.get("properties"); v != nil {
		if v.kind != kindObject {
			return errors.New("properties is not an object")
		}
		s.props = []property{}
		for _, m := range v.members {
			p, err := r.read(m.value, depth+1)
			if err != nil {
				return fmt.Errorf("in property %.80q: %w", m.key, err)
			}
			at[m.key] = len(s.props)
			s.props = append(s.props, property{name: m.key, shape: p})
		}
	}
	if err := r.others(t, s, depth); err != nil {
		return err
	}
	return required(t, s, at)
}

// required marks what has to be given. A name that is not declared is declared by that.
func required(t *tree, s *shape, at map[string]int) error {
	v := t.get("required")
	if v == nil || v.kind == kindBool { // true or false: a habit from draft 3 that means nothing any more
		return nil
	}
	if v.kind != kindArray {
		return errors.New("required is not a list")
	}
	for _, e := range v.elems {
		if e.kind != kindString {
			return errors.New("required lists something that is not a name")
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
	return nil
}

// others reads what is said about properties that are not declared.
func (r *reader) others(t *tree, s *shape, depth int) error {
	var kinds []*shape
	if v := t.get("patternProperties"); v != nil {
		if v.kind != kindObject {
			return errors.New("patternProperties is not an object")
		}
		for _, m := range v.members {
			p, err := r.read(m.value, depth+1)
			if err != nil {
				return fmt.Errorf("in properties matching %.80q: %w", m.key, err)
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
	p, err := r.read(v, depth+1)
	if err != nil {
		return fmt.Errorf("in additionalProperties: %w", err)
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
	if v := t.get("allOf"); v != nil {
		if v.kind != kindArray {
			return errors.New("allOf is not a list")
		}
		for i, e := range v.elems {
			part, err := r.read(e, depth+1)
			if err != nil {
				return fmt.Errorf("in allOf/%d: %w", i, err)
			}
			*s = *intersect(s, part)
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		v := t.get(key)
		if v == nil {
			continue
		}
		if v.kind != kindArray {
			return fmt.Errorf("%s is not a list", key)
		}
		var parts []*shape
		var seen, twice kinds
		for i, e := range v.elems {
			part, err := r.read(e, depth+1)
			if err != nil {
				return fmt.Errorf("in %s/%d: %w", key, i, err)
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
