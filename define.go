package toolcrib

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gotype"
	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/schema"
)

// Define makes a tool from a function with typed input and output. Both
// schemas are derived from the types unless the Spec brings its own:
//
//   - names come from json tags; a field without omitempty and without a
//     pointer is required, one with a default is not;
//   - doc:"…" is the description the model reads; default, enum, min, max,
//     minlen, maxlen, minitems, maxitems and pattern are constraints;
//   - nested structs, slices and maps are followed.
//
// The function gets an input that fits its schema, defaults filled in. If it
// returns an error the call is a failed Result with that text; a value
// returned beside the error is kept. A type that has no schema is reported by
// name when the tool is put into a catalog.
func Define[In, Out any](s Spec, fn func(context.Context, *Env, In) (Out, error)) Tool {
	t := Tool{Spec: s, ours: true}
	t.Description = strings.TrimSpace(s.Description) // often a file with a last newline
	if t.Input == nil {
		t.Input, t.err = gotype.Schema(reflect.TypeFor[In]())
	}
	if t.Output == nil && t.err == nil {
		t.Output, t.err = gotype.Schema(reflect.TypeFor[Out]())
	}
	if t.err != nil {
		t.err = fmt.Errorf("deriving its schemas: %w", t.err)
	}
	dec := schema.NewDecoder(reflect.TypeFor[In]())
	lists := hasLists(reflect.TypeFor[Out](), 0)
	t.Run = func(ctx context.Context, env *Env, input json.RawMessage) (*Result, error) {
		var in In
		if err := decode(dec, env, input, reflect.ValueOf(&in).Elem()); err != nil {
			// A schema cannot say everything a Go type can: 2^70 is an integer.
			return nil, refuse(CodeInvalid, s.Name, "the input cannot be read: "+strings.TrimPrefix(err.Error(), "json: "), err)
		}
		out, err := fn(ctx, env, in)
		if _, refused := AsError(err); refused {
			return nil, err
		}
		if err != nil && (reflect.ValueOf(&out).Elem().IsZero() || (ctx.Err() != nil && errors.Is(err, ctx.Err()))) {
			return nil, err // nothing to keep, or the end of its time
		}
		value, merr := encode(out, lists)
		if merr != nil {
			return nil, refuse(CodeInternal, s.Name, "its output cannot be written as JSON", merr)
		}
		if err != nil {
			r := Failed(err.Error())
			r.Value = value
			return r, nil
		}
		return &Result{Value: value}, nil
	}
	return t
}

// encode writes an output. Unlike json.Marshal it leaves < > and & alone: the
// text is for models and programs, not for a web page.
func encode(out any, lists bool) (json.RawMessage, error) {
	if lists && out != nil {
		out = filled(reflect.ValueOf(out), 0).Interface()
	}
	text, err := json.Marshal(out)
	if err != nil || !bytes.Contains(text, []byte(`\u00`)) {
		return text, err // nothing that could have been escaped so
	}
	return jsontext.Marshal(out)
}

func decode(dec *schema.Decoder, env *Env, input json.RawMessage, v reflect.Value) error {
	if doc := env.parsed(input); doc != nil {
		defer doc.Release()
		return dec.Decode(doc, v)
	}
	doc, err := schema.Parse(input, schema.Limits{})
	if err != nil {
		return err
	}
	defer doc.Release()
	return dec.Decode(doc, v)
}

// hasLists reports whether values of t can hold a nil slice or map. Types
// that go deeper than any sane contract are taken to.
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

// Invoke calls a tool from Go: in is a struct, a map or JSON text, and the
// answer comes back as an Out. The caller is this program itself (Frontend "go");
// to call on behalf of someone use [Crib.Call]. A failed tool is a *FailedError.
func Invoke[Out any](ctx context.Context, c *Crib, name string, in any) (Out, error) {
	var out Out
	input, err := inputText(in)
	if err != nil {
		return out, refuse(CodeInvalid, name, "the input cannot be written as JSON: "+err.Error(), err)
	}
	result, err := c.Call(ctx, Call{Tool: name, Input: input, Caller: Caller{Subject: "self", Frontend: "go"}})
	if err != nil {
		return out, err
	}
	if result.Failed {
		return out, &FailedError{Tool: name, Result: result}
	}
	value := result.Value
	if value == nil {
		if value, err = json.Marshal(result.String()); err != nil {
			return out, refuse(CodeInternal, name, "its text cannot be written as JSON", err)
		}
	}
	err = json.Unmarshal(value, &out)
	if err == nil {
		err = complete(value, reflect.TypeFor[Out]())
	}
	if err != nil {
		return out, refuse(CodeInvalid, name, fmt.Sprintf("its answer is not a %T: %v", out, err), err)
	}
	return out, nil
}

// complete checks that an answer has what the asker's type requires: a struct
// that stays empty because it was the wrong one must not pass for an answer.
func complete(value json.RawMessage, t reflect.Type) error {
	if t.Kind() != reflect.Struct || unwritable(t) {
		return nil
	}
	var has map[string]json.RawMessage
	if err := json.Unmarshal(value, &has); err != nil {
		return err
	}
	for _, f := range reflect.VisibleFields(t) {
		name, omit := gotype.JSONName(f)
		if omit || f.Anonymous || len(f.Index) > 1 || f.Type.Kind() == reflect.Pointer || strings.Contains(f.Tag.Get("json"), ",omit") {
			continue
		}
		if _, ok := has[name]; !ok {
			return fmt.Errorf("it has no %s", name)
		}
	}
	return nil
}
