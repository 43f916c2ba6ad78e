package definition

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// The bounds of reading. Schemas come from strangers: what unfolds without measure is cut or refused.
const (
	maxSchemaText = 1 << 20 // bytes of one schema
	maxShapes     = 20_000  // shapes that one schema may unfold to
	maxFollowed   = 4000    // from which on references are not followed any more
	maxReadDepth  = 64      // levels, references followed; what lies deeper is free
	maxRuleText   = 300     // bytes of a rule that is quoted in a description
)

var (
	errTooLong  = fmt.Errorf("the schema is longer than %d bytes", maxSchemaText)
	errUnfolds  = fmt.Errorf("the schema unfolds to more than %d parts", maxShapes)
	errNoSchema = errors.New("a schema is an object, true or false")
)

// reader turns the text of a schema into a shape.
type reader struct {
	root      *tree
	draft     int  // 4, 6, 7, 2019 or 2020
	nested    bool // schemas inside have addresses of their own
	made      int
	following []*tree // the targets of the references that are being followed
}

// readSchema reads the schema of a tool's arguments. No text at all is a tool without arguments.
func readSchema(schema []byte) (*shape, error) {
	if len(schema) == 0 {
		s := free()
		s.kinds, s.closed = isObject, true
		return s, nil
	}
	if len(schema) > maxSchemaText {
		return nil, errTooLong
	}
	t, err := parse(schema)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	r := &reader{root: t, draft: draftOf(t)}
	key := "$id"
	if r.draft == 4 {
		key = "id"
	}
	r.nested = identifiers(t, key, true)
	s, err := r.read(t, 0)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	if s.kinds &= isObject; s.never() {
		return nil, errors.New("the schema allows no object, and arguments always are one")
	}
	return s, nil
}

func draftOf(t *tree) int {
	if t.kind != kindObject {
		return 2020
	}
	address := t.get("$schema")
	if !address.is(kindString) {
		return 2020
	}
	for _, d := range []struct {
		part  string
		draft int
	}{{"/draft-04/", 4}, {"/draft-06/", 6}, {"/draft-07/", 7}, {"/draft/2019-09/", 2019}} {
		if strings.Contains(address.text, d.part) {
			return d.draft
		}
	}
	return 2020
}

// read reads one schema, whose keywords all hold at once.
func (r *reader) read(t *tree, depth int) (*shape, error) {
	if r.made++; r.made > maxShapes {
		return nil, errUnfolds
	}
	s := free()
	switch {
	case t.is(kindBool):
		if !t.truth() {
			s.kinds = 0
		}
		return s, nil
	case !t.is(kindObject):
		return nil, errNoSchema
	case depth > maxReadDepth:
		s.cut = "nested too deep to be shown"
		return s, nil
	}
	s.title, s.about = t.string("title"), strings.TrimSpace(t.string("description"))
	ref := t.get("$ref")
	if ref.is(kindString) && r.draft <= 7 { // which reads nothing beside a reference
		to, err := r.follow(ref.text, depth)
		if err != nil {
			return nil, err
		}
		return intersect(s, to), nil
	}
	for _, part := range []func(*tree, *shape, int) error{r.general, r.numbers, r.strings, r.array, r.object, r.combined} {
		if err := part(t, s, depth); err != nil {
			return nil, err
		}
	}
	if ref.is(kindString) {
		to, err := r.follow(ref.text, depth)
		if err != nil {
			return nil, err
		}
		s = intersect(s, to)
	}
	r.rules(t, s)
	s.conclude()
	return s, nil
}

// general reads what holds for values of any kind.
func (r *reader) general(t *tree, s *shape, _ int) error {
	switch v := t.get("type"); {
	case v == nil:
	case v.kind == kindString:
		if s.kinds = kindOf(v.text); s.kinds == 0 {
			return fmt.Errorf("unknown type %.40q", v.text)
		}
	case v.kind == kindArray:
		s.kinds = 0
		for _, e := range v.elems {
			k := kindOf(e.text)
			if e.kind != kindString || k == 0 {
				return fmt.Errorf("unknown type %.40s", e)
			}
			s.kinds |= k
		}
	default:
		return errors.New("type is neither a name nor a list of names")
	}
	if v := t.get("enum"); v != nil {
		if v.kind != kindArray {
			return errors.New("enum is not a list")
		}
		s.enum = append([]*tree{}, v.elems...)
	}
	if v := t.get("const"); v != nil && r.draft > 4 {
		one := free()
		one.enum = []*tree{v}
		*s = *intersect(s, one)
	}
	s.deft = t.get("default")
	return nil
}

func (r *reader) numbers(t *tree, s *shape, _ int) error {
	for _, k := range []struct {
		key string
		to  *string
	}{{"minimum", &s.min}, {"maximum", &s.max}, {"exclusiveMinimum", &s.above}, {"exclusiveMaximum", &s.below}, {"multipleOf", &s.step}} {
		v := t.get(k.key)
		switch {
		case v == nil:
		case v.kind == kindNumber:
			*k.to = v.text
		case v.kind == kindBool && r.draft == 4:
			if v.truth() {
				s.note(strings.ToLower(strings.TrimPrefix(k.key, "exclusive")) + " itself excluded")
			}
		default:
			return fmt.Errorf("%s is not a number", k.key)
		}
	}
	return nil
}

func (r *reader) strings(t *tree, s *shape, _ int) error {
	s.pattern, s.format = t.string("pattern"), t.string("format")
	return counts(t, "minLength", &s.minLen, "maxLength", &s.maxLen)
}

// counts reads two limits that are whole numbers. A huge one, or one that is none, is no limit.
func counts(t *tree, least string, low *int, most string, high *int) error {
	for _, k := range []struct {
		key string
		to  *int
	}{{least, low}, {most, high}} {
		v := t.get(k.key)
		if v == nil {
			continue
		}
		f := number(v.text)
		if v.kind != kindNumber || f < 0 || f != math.Trunc(f) {
			return fmt.Errorf("%s is not a count", k.key)
		}
		if f < 1<<31 {
			*k.to = int(f)
		}
	}
	return nil
}

func (r *reader) array(t *tree, s *shape, depth int) error {
	if err := counts(t, "minItems", &s.minItems, "maxItems", &s.maxItems); err != nil {
		return err
	}
	s.unique = t.get("uniqueItems").truth()
	var tuple *tree
	rest := t.get("items")
	if r.draft == 2020 {
		tuple = t.get("prefixItems")
	}
	if rest.is(kindArray) {
		tuple, rest = rest, t.get("additionalItems")
	}
	if tuple == nil {
		if rest == nil {
			return nil
		}
		items, err := r.read(rest, depth+1)
		if err != nil {
			return fmt.Errorf("in items: %w", err)
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
	if places.kind != kindArray {
		return errors.New("prefixItems is not a list")
	}
	var each []*shape
	var order []string
	for i, p := range places.elems {
		place, err := r.read(p, depth+1)
		if err != nil {
			return fmt.Errorf("in item %d: %w", i, err)
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
		if other, err = r.read(rest, depth+1); err != nil {
			return fmt.Errorf("in items: %w", err)
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

// string gives a member that is a string, empty if it is none.
func (t *tree) string(key string) string {
	if v := t.get(key); v.is(kindString) {
		return v.text
	}
	return ""
}
