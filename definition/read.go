package definition

import (
	"errors"
	"fmt"
	"math"
	"strings"

	words "github.com/toolcrib/toolcrib/internal/text"
)

// The bounds of reading. Schemas come from strangers: what unfolds without measure is cut or refused.
const (
	maxSchemaText = 1 << 20 // bytes of one schema
	maxShapes     = 20_000  // shapes that one schema may unfold to
	maxFollowed   = 4000    // from which on references are not followed any more
	maxReadDepth  = 64      // levels, references followed; what lies deeper is free
	maxRuleText   = 300     // bytes of a rule that is quoted in a description
	maxSkipped    = 8       // keywords of one schema that are told as skipped
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
	where     []string
	skipped   []string // keywords that make no sense, and why
}

// below reads a schema inside another one.
func (r *reader) below(where string, t *tree, depth int) (*shape, error) {
	r.where = append(r.where, where)
	defer func() { r.where = r.where[:len(r.where)-1] }()
	return r.read(t, depth+1)
}

// skip leaves out a keyword that makes no sense: the definition then says less than its author meant, and the tool can
// be used. Whoever serves the tool checks its arguments.
func (r *reader) skip(format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	if len(r.where) > 0 {
		why = strings.Join(r.where, "/") + ": " + why
	}
	switch n := len(r.skipped); {
	case n < maxSkipped:
		r.skipped = append(r.skipped, words.Clip(why, maxRuleText))
	case n == maxSkipped:
		r.skipped = append(r.skipped, "and more")
	}
}

// readSchema reads the schema of a tool's arguments. No text at all is a tool without arguments.
// Skipped are the keywords in it that make no sense.
func readSchema(schema []byte) (s *shape, skipped []string, err error) {
	if len(schema) == 0 {
		s := free()
		s.kinds, s.closed = isObject, true
		return s, nil, nil
	}
	if len(schema) > maxSchemaText {
		return nil, nil, errTooLong
	}
	t, err := parse(schema)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the schema: %w", err)
	}
	r := &reader{root: t, draft: draftOf(t)}
	key := "$id"
	if r.draft == 4 {
		key = "id"
	}
	r.nested = identifiers(t, key, true)
	if s, err = r.read(t, 0); err != nil {
		return nil, nil, fmt.Errorf("reading the schema: %w", err)
	}
	if s.kinds &= isObject; s.never() {
		return nil, nil, errors.New("the schema allows no object, and arguments always are one")
	}
	return s, r.skipped, nil
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
	case !t.is(kindObject) && depth > 0:
		r.skip("it is not a schema")
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
			s.kinds = isAny
			r.skip("unknown type %.40q", v.text)
		}
	case v.kind == kindArray:
		s.kinds = 0
		for _, e := range v.elems {
			k := kindOf(e.text)
			if e.kind != kindString || k == 0 {
				k = isAny
				r.skip("unknown type %.40s", e)
			}
			s.kinds |= k
		}
	default:
		r.skip("type is neither a name nor a list of names")
	}
	if v := r.list(t, "enum"); v != nil {
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

// list gives a keyword that is a list; nil: there is none, or it is something else.
func (r *reader) list(t *tree, key string) *tree {
	v := t.get(key)
	if v != nil && v.kind != kindArray {
		r.skip("%s is not a list", key)
		return nil
	}
	return v
}

func (r *reader) numbers(t *tree, s *shape, _ int) error {
	for _, k := range []struct {
		key string
		to  *string
		of  *string // of the bound that draft 4 makes exclusive by true
	}{{"minimum", &s.min, nil}, {"maximum", &s.max, nil}, {"multipleOf", &s.step, nil}, {"exclusiveMinimum", &s.above, &s.min}, {"exclusiveMaximum", &s.below, &s.max}} {
		v := t.get(k.key)
		switch {
		case v == nil:
		case v.kind == kindNumber:
			*k.to = v.text
		case v.kind == kindBool && k.of != nil: // common in schemas that name a later draft, or none
			if v.truth() {
				*k.to, *k.of = *k.of, ""
			}
		default:
			r.skip("%s is not a number", k.key)
		}
	}
	return nil
}

func (r *reader) strings(t *tree, s *shape, _ int) error {
	s.pattern, s.format = t.string("pattern"), t.string("format")
	r.counts(t, "minLength", &s.minLen, "maxLength", &s.maxLen)
	return nil
}

// counts reads two limits that are whole numbers. A huge one, or one that is none, is no limit.
func (r *reader) counts(t *tree, least string, low *int, most string, high *int) {
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
			r.skip("%s is not a count", k.key)
			continue
		}
		if f < 1<<31 {
			*k.to = int(f)
		}
	}
}

// string gives a member that is a string, empty if it is none.
func (t *tree) string(key string) string {
	if v := t.get(key); v.is(kindString) {
		return v.text
	}
	return ""
}
