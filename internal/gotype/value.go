package gotype

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// Encode writes an output; lists says whether its type has any. Unlike json.Marshal it leaves < > and & alone: the
// text is for models and programs, not for a web page.
func Encode(out any, lists bool) (json.RawMessage, error) {
	if lists && out != nil {
		out = filled(reflect.ValueOf(out), 0).Interface()
	}
	text, err := json.Marshal(out)
	if err != nil || !bytes.Contains(text, []byte(`\u00`)) {
		return text, err // nothing that could have been escaped so
	}
	return jsontext.Marshal(out)
}

// HasLists reports whether values of t can hold a nil slice or map. Types
// that go deeper than any sane contract are taken to.
func HasLists(t reflect.Type) bool { return hasLists(t, 0) }

func hasLists(t reflect.Type, depth int) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Interface:
		return true
	case reflect.Pointer, reflect.Array:
		return depth > 8 || hasLists(t.Elem(), depth+1)
	case reflect.Struct:
		for field := range t.Fields() {
			if depth > 8 || hasLists(field.Type, depth+1) {
				return true
			}
		}
	}
	return false
}

// filled gives v with its nil slices and maps as empty ones: a contract that
// says "array" must not be answered with null because nothing was found. What
// has to change is copied, because v may be the tool's own memory. A value
// nested deeper than any contract is left as it is.
func filled(v reflect.Value, depth int) reflect.Value {
	if depth > 64 {
		return v
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || !hasLists(v.Type().Elem(), 0) || unwritable(v.Type().Elem()) {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(filled(v.Elem(), depth+1))
		return p.Convert(v.Type())
	case reflect.Struct:
		if unwritable(v.Type()) {
			return v
		}
		s := reflect.New(v.Type()).Elem()
		s.Set(v)
		for i := range v.NumField() {
			if f := s.Field(i); f.CanSet() && hasLists(f.Type(), 0) {
				f.Set(filled(v.Field(i), depth+1))
			}
		}
		return s
	case reflect.Map:
		if v.IsNil() {
			return reflect.MakeMap(v.Type())
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return v // any JSON: null is a fair answer
		}
		if v.IsNil() {
			return reflect.MakeSlice(v.Type(), 0, 0)
		}
		if hasLists(v.Type().Elem(), 0) {
			s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			for i := range v.Len() {
				s.Index(i).Set(filled(v.Index(i), depth+1))
			}
			return s
		}
	}
	return v
}

// unwritable types write themselves; what is inside is theirs.
func unwritable(t reflect.Type) bool {
	marshaler := reflect.TypeFor[json.Marshaler]()
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

// Complete checks that an answer has what the asker's type requires: a struct
// that stays empty because it was the wrong one must not pass for an answer.
func Complete(value json.RawMessage, t reflect.Type) error {
	if t.Kind() != reflect.Struct || unwritable(t) {
		return nil
	}
	var has map[string]json.RawMessage
	if err := json.Unmarshal(value, &has); err != nil {
		return err
	}
	for _, f := range reflect.VisibleFields(t) {
		name, omit := JSONName(f)
		if omit || f.Anonymous || len(f.Index) > 1 || f.Type.Kind() == reflect.Pointer || strings.Contains(f.Tag.Get("json"), ",omit") {
			continue
		}
		if _, ok := has[name]; !ok {
			return fmt.Errorf("it has no %s", name)
		}
	}
	return nil
}

// Input writes an input as a program has it: JSON text, a map or a struct.
func Input(input any) (json.RawMessage, error) {
	switch v := input.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return v, nil
	}
	text, err := Encode(input, true)
	if string(text) == "null" {
		return nil, err // a nil map is no arguments, as an empty one is
	}
	return text, err
}
