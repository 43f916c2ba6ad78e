package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// baseAddress is the name under which the full validator knows the schema. It cannot be resolved, and nothing tries to.
const baseAddress = "https://schema.invalid/root"

// noLoader refuses to load anything: a schema is one text.
type noLoader struct{}

func (noLoader) Load(address string) (any, error) {
	return nil, errors.New("a schema must not refer to other documents")
}

// fullCompiler wraps the other validator's compiler for one schema.
type fullCompiler struct {
	c *jsonschema.Compiler
	d *Doc
}

func newFullCompiler(d *Doc, draft int) (*fullCompiler, error) {
	if i, ok := d.extreme(); ok {
		return nil, &SchemaError{d.pointer(i), "the number " + show(d, i) + " is too large or too long to be reckoned with"}
	}
	f := &fullCompiler{c: jsonschema.NewCompiler(), d: d}
	f.c.UseLoader(noLoader{})
	doc := value(d, 0)
	if draft < draft2019 {
		doc = oldDraft(doc)
	}
	err := guarded(func() error { return f.c.AddResource(baseAddress, doc) })
	if err != nil {
		return nil, f.explain(err)
	}
	return f, nil
}

// compile compiles the subschema at node at.
func (f *fullCompiler) compile(at uint32) (s *jsonschema.Schema, err error) {
	var address strings.Builder
	address.WriteString(baseAddress + "#")
	if p := f.d.pointer(at); p != "" {
		for step := range strings.SplitSeq(p[1:], "/") {
			address.WriteString("/" + url.PathEscape(step))
		}
	}
	err = guarded(func() (err error) {
		s, err = f.c.Compile(address.String())
		return err
	})
	if err != nil {
		return nil, f.explain(err)
	}
	return s, nil
}

// judge validates a document by the subschema at node at.
func (f *fullCompiler) judge(d *Doc, at uint32) ([]Problem, error) {
	s, err := f.compile(at)
	if err != nil {
		return nil, err
	}
	return (&Schema{doc: f.d, full: s}).validateFull(d), nil
}

// guarded turns a panic of the other validator into an error: schemas and values come from strangers, and one of them
// must not take the process down.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the validator gave up: %v", p)
		}
	}()
	return do()
}

// explain makes a SchemaError of what the other compiler says.
func (f *fullCompiler) explain(err error) error {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if v, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			at := uint32(0)
			if _, fragment, ok := strings.Cut(invalid.URL, "#"); ok {
				at = f.d.atFragment(fragment)
			}
			flat := flattener{d: f.d, root: at}
			flat.walk(v)
			if len(flat.out) == 0 {
				return &SchemaError{f.d.pointer(at), "does not satisfy the rules of its draft"}
			}
			deepest := flat.out[0]
			for _, p := range flat.out {
				if len(p.loc) > len(deepest.loc) {
					deepest = p
				}
			}
			i, _ := f.d.locate(at, deepest.loc)
			return &SchemaError{f.d.pointer(i), deepest.Message}
		}
	}
	if pointer, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err); ok {
		return f.dangling(pointer.URL)
	}
	if anchor, ok := errors.AsType[*jsonschema.AnchorNotFoundError](err); ok {
		return f.dangling(anchor.Reference)
	}
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		if i, ok := f.d.reference(outside); ok {
			return &SchemaError{f.d.pointer(i), show(f.d, i) + " is another document; a schema must not refer to other documents"}
		}
		return &SchemaError{"", "a schema must not refer to other documents: " + load.URL}
	}
	if id, ok := errors.AsType[*jsonschema.ParseIDError](err); ok {
		_, fragment, _ := strings.Cut(id.URL, "#")
		return &SchemaError{f.d.pointer(f.d.atFragment(fragment)), "its identifier is not a valid address"}
	}
	return &SchemaError{"", strings.ReplaceAll(err.Error(), baseAddress, "")}
}

// atFragment finds the node that a fragment of the other validator's addresses names; the root if there is none.
func (d *Doc) atFragment(fragment string) uint32 {
	at := uint32(0)
	if fragment == "" {
		return at
	}
	for step := range strings.SplitSeq(fragment[1:], "/") {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		next, ok := d.step(at, step)
		if !ok {
			return 0
		}
		at = next
	}
	return at
}

// dangling makes the error for a reference to a place that is not there.
func (f *fullCompiler) dangling(address string) error {
	_, fragment, _ := strings.Cut(address, "#")
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	i, ok := f.d.reference(func(ref string) bool {
		_, own, _ := strings.Cut(ref, "#")
		return own == fragment
	})
	if !ok {
		return &SchemaError{"", "a reference to #" + fragment + " points to nothing in this schema"}
	}
	return &SchemaError{f.d.pointer(i), show(f.d, i) + " points to nothing in this schema"}
}

// outside says whether a reference leads out of the text.
func outside(ref string) bool { return !strings.HasPrefix(ref, "#") && draftOf(ref) == 0 }

// reference finds the first reference of the schema that satisfies a condition.
func (d *Doc) reference(is func(string) bool) (uint32, bool) {
	for i := range d.nodes {
		if d.nodes[i].kind != Object {
			continue
		}
		for _, k := range d.keys(uint32(i)) {
			switch string(d.str(k)) {
			case "$ref", "$dynamicRef", "$recursiveRef", "$schema":
				if v := (Node{d, k + 1}); v.Kind() == String && is(string(v.Str())) {
					return k + 1, true
				}
			}
		}
	}
	return 0, false
}

// extreme finds a number that the other validator would write out digit by digit, or would choke on.
func (d *Doc) extreme() (uint32, bool) {
	const reach = 1000
	for i := range d.nodes {
		n := &d.nodes[i]
		if n.kind != Number || (n.flags&flagInt != 0 && n.end-n.start < reach) {
			continue
		}
		if x := parseDecimal(d.raw(uint32(i))); n.end-n.start > 2*reach || x.top > reach || x.top < -reach {
			return uint32(i), true
		}
	}
	return 0, false
}

func (s *Schema) validateFull(d *Doc) []Problem {
	if i, ok := d.extreme(); ok {
		var path []byte
		for _, step := range d.steps(i) {
			path = appendStep(path, step)
		}
		return []Problem{{string(path), "type", "the number " + show(d, i) + " is too large or too long to be checked; send one of usual size"}}
	}
	err := guarded(func() error { return s.full.Validate(value(d, 0)) })
	if err == nil {
		return nil
	}
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return []Problem{{Rule: "schema", Message: err.Error()}}
	}
	flat := flattener{d: d, sd: s.doc}
	flat.walk(v)
	return flat.problems()
}

// value decodes a node into what the other validator works on.
func value(d *Doc, i uint32) any {
	switch n := &d.nodes[i]; n.kind {
	case Bool:
		return n.flags&flagTrue != 0
	case Number:
		return json.Number(d.raw(i))
	case String:
		return string(d.str(i))
	case Array:
		list := make([]any, 0, n.b)
		for _, e := range (Node{d, i}).Elems() {
			list = append(list, value(d, e.i))
		}
		return list
	case Object:
		m := make(map[string]any, n.b)
		for _, k := range d.keys(i) {
			m[string(d.str(k))] = value(d, k+1)
		}
		return m
	}
	return nil
}

// oldDraft takes out of every subschema what the other validator would enforce up to draft-07 and should not: format, which
// is an annotation here in every draft, and const beside $ref, where these drafts ignore it. Values of const, enum and
// the like are left alone.
func oldDraft(schema any) any {
	m, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	if _, ok := m["$ref"].(string); ok {
		delete(m, "const")
	}
	for key, v := range m {
		switch key {
		case "format":
			delete(m, key)
		case "not", "additionalProperties", "additionalItems", "propertyNames", "contains", "if", "then", "else":
			oldDraft(v)
		case "items", "allOf", "anyOf", "oneOf":
			oldDraft(v)
			if list, ok := v.([]any); ok {
				for _, c := range list {
					oldDraft(c)
				}
			}
		case "definitions", "$defs", "properties", "patternProperties", "dependencies":
			if sub, ok := v.(map[string]any); ok {
				for _, c := range sub {
					oldDraft(c)
				}
			}
		}
	}
	return m
}
