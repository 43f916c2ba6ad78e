// Package gotype makes JSON Schemas of Go types, and writes their values so that they fit.
package gotype

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema makes the schema of a Go type. The library gives the structure; the
// tags doc, default, enum, min, max, minlen, maxlen, minitems, maxitems and
// pattern give what a Go type cannot say.
func Schema(t reflect.Type) (json.RawMessage, error) {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
		reflect.TypeFor[time.Duration]():   {Type: "integer", Description: "nanoseconds"},
	}})
	if err != nil {
		return nil, err
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		return nil, fmt.Errorf("%v is not an object: use a struct or a map", t)
	}
	if err := writable(t, "", 0); err != nil {
		return nil, err
	}
	if err := decorate(s, t, ""); err != nil {
		return nil, err
	}
	s.Type, s.Types = "object", nil
	nullable(s)
	return json.Marshal(s)
}

// writable refuses what the library gives a schema for that its values do not
// fit: types that write themselves in a form of their own, and numbers in
// quotes.
func writable(t reflect.Type, path string, depth int) error {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[[]byte]():
		return nil
	}
	for _, own := range []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	} {
		if t.Kind() != reflect.Interface && (t.Implements(own) || reflect.PointerTo(t).Implements(own)) || t == reflect.TypeFor[json.Number]() {
			return fmt.Errorf("field %s: %v writes itself in a form a schema cannot be derived for; use a plain type, or give the Spec a schema", path, t)
		}
	}
	if depth > 32 {
		return nil // the library has refused circles before
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return writable(t.Elem(), path, depth+1)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, omit := JSONName(f)
			if omit || len(f.Index) > 1 {
				continue
			}
			at := strings.TrimPrefix(path+"."+name, ".")
			if strings.HasSuffix(f.Tag.Get("json"), ",string") {
				return fmt.Errorf("field %s: the json option string has no schema; leave it out", at)
			}
			if err := writable(f.Type, at, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// decorate walks the type beside its schema.
func decorate(s *jsonschema.Schema, t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		// The library lets every slice be null; an absent list is said by
		// leaving it out, so only a pointer keeps the null.
		if s.Items == nil {
			return nil // a type with a schema of its own, such as []byte
		}
		s.Type, s.Types = "array", nil
		return decorate(s.Items, t.Elem(), path+"[]")
	case reflect.Map:
		if s.AdditionalProperties == nil {
			return nil
		}
		return decorate(s.AdditionalProperties, t.Elem(), path+".*")
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if err := decorateField(s, f, path); err != nil {
				return err
			}
		}
	}
	return nil
}

func decorateField(s *jsonschema.Schema, f reflect.StructField, path string) error {
	name, omit := JSONName(f)
	p := s.Properties[name]
	if f.Anonymous || omit || p == nil {
		return nil
	}
	at := strings.TrimPrefix(path+"."+name, ".")
	nullable := f.Type.Kind() == reflect.Pointer
	if err := decorate(p, f.Type, at); err != nil {
		return err
	}
	if nullable {
		s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		if p.Type == "array" {
			p.Type, p.Types = "", []string{"null", "array"}
		}
	}
	return applyTags(s, p, f, name, at)
}

func applyTags(s, p *jsonschema.Schema, f reflect.StructField, name, at string) error {
	one := p
	if p.Items != nil {
		one = p.Items // a rule for values, on a list, is about its elements
	}
	for _, rule := range []struct {
		tag   string
		apply func(string) error
	}{
		{"doc", func(v string) error { p.Description = v; return nil }},
		{"pattern", func(v string) error { one.Pattern = v; return nil }},
		{"enum", func(v string) error { return setEnum(one, v) }},
		{"min", func(v string) error { return setNumber(&one.Minimum, v) }},
		{"max", func(v string) error { return setNumber(&one.Maximum, v) }},
		{"minlen", func(v string) error { return setCount(&one.MinLength, v) }},
		{"maxlen", func(v string) error { return setCount(&one.MaxLength, v) }},
		{"minitems", func(v string) error { return setCount(&p.MinItems, v) }},
		{"maxitems", func(v string) error { return setCount(&p.MaxItems, v) }},
		{"default", func(v string) error {
			p.Default = literal(p, v)
			if !json.Valid(p.Default) {
				return fmt.Errorf("%s is not JSON", v)
			}
			// What has a default need not be given.
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
			return nil
		}},
	} {
		v, ok := f.Tag.Lookup(rule.tag)
		if !ok {
			continue
		}
		if err := rule.apply(v); err != nil {
			return fmt.Errorf("field %s: tag %s: %w", at, rule.tag, err)
		}
	}
	return nil
}

// literal reads a tag as a value of the property's type: a string property
// takes the text as it stands, every other one takes JSON.
func literal(p *jsonschema.Schema, text string) json.RawMessage {
	if p.Type == "string" || (slices.Contains(p.Types, "string") && text != "null") {
		quoted, err := json.Marshal(text)
		if err == nil {
			return quoted
		}
	}
	return json.RawMessage(text)
}

func setEnum(target *jsonschema.Schema, list string) error {
	for word := range strings.SplitSeq(list, ",") {
		var v any
		if err := json.Unmarshal(literal(target, word), &v); err != nil {
			return fmt.Errorf("%q is not a value of this type", word)
		}
		target.Enum = append(target.Enum, v)
	}
	if slices.Contains(target.Types, "null") {
		target.Enum = append(target.Enum, nil)
	}
	return nil
}

func setNumber(to **float64, text string) error {
	v, err := strconv.ParseFloat(text, 64)
	*to = &v
	return err
}

func setCount(to **int, text string) error {
	v, err := strconv.Atoi(text)
	*to = &v
	return err
}

// JSONName is the field's name in JSON, by the rules of encoding/json.
func JSONName(f reflect.StructField) (name string, omit bool) {
	if !f.IsExported() && !f.Anonymous {
		return "", true
	}
	tag := f.Tag.Get("json")
	if tag == "-" {
		return "", true
	}
	name, _, _ = strings.Cut(tag, ",")
	if name == "" {
		name = f.Name
	}
	return name, false
}
