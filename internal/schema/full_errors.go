package schema

import (
	"errors"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

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
			if flat.reason == "" {
				return &SchemaError{f.d.pointer(at), "does not satisfy the rules of its draft"}
			}
			i, _ := f.d.locate(at, flat.deepest)
			return &SchemaError{f.d.pointer(i), cut(flat.reason, maxMessage)}
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
		return &SchemaError{"", "a schema must not refer to other documents: " + cut(load.URL, maxForm)}
	}
	if id, ok := errors.AsType[*jsonschema.ParseIDError](err); ok {
		_, fragment, _ := strings.Cut(id.URL, "#")
		return &SchemaError{f.d.pointer(f.d.atFragment(fragment)), "its identifier is not a valid address"}
	}
	return &SchemaError{"", cut(strings.ReplaceAll(err.Error(), baseAddress, ""), maxMessage)}
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
		return &SchemaError{"", "a reference to #" + cut(fragment, maxForm) + " points to nothing in this schema"}
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
