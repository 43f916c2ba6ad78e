package toolcrib

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

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
	t := Tool{Spec: s}
	t.Description = strings.TrimSpace(s.Description) // often a file with a last newline
	if t.Input == nil {
		t.Input, t.err = derive(reflect.TypeFor[In]())
	}
	if t.Output == nil && t.err == nil {
		t.Output, t.err = derive(reflect.TypeFor[Out]())
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
			return nil, refuse(Invalid, s.Name, "the input cannot be read: "+strings.TrimPrefix(err.Error(), "json: "), err)
		}
		out, err := fn(ctx, env, in)
		if err != nil && (reflect.ValueOf(&out).Elem().IsZero() || (ctx.Err() != nil && errors.Is(err, ctx.Err()))) {
			return nil, err // nothing to keep, or the end of its time
		}
		if lists {
			fillLists(reflect.ValueOf(&out).Elem())
		}
		value, merr := encode(out)
		if merr != nil {
			return nil, refuse(Internal, s.Name, "its output cannot be written as JSON", merr)
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
func encode(out any) (json.RawMessage, error) {
	text, err := json.Marshal(out)
	if err != nil || !bytes.Contains(text, []byte(`\u00`)) {
		return text, err // nothing that could have been escaped so
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func decode(dec *schema.Decoder, env *Env, input json.RawMessage, v reflect.Value) error {
	if doc := env.parsed(input); doc != nil {
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

// fillLists turns nil slices and maps into empty ones: a contract that says
// "array" must not be answered with null because nothing was found.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				fillLists(f)
			}
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return // any JSON: null is a fair answer
		}
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	}
}

// Invoke calls a tool from Go: in is a struct, a map or JSON text, and the
// answer comes back as an Out. The caller is this program itself (Via "go");
// to call on behalf of someone use [Crib.Call]. A failed tool is a *Failure.
func Invoke[Out any](ctx context.Context, c *Crib, name string, in any) (Out, error) {
	var out Out
	input, err := inputText(in)
	if err != nil {
		return out, refuse(Invalid, name, "the input cannot be written as JSON: "+err.Error(), err)
	}
	result, err := c.Call(ctx, Call{Tool: name, Input: input, Caller: Caller{Subject: "self", Via: "go"}})
	if err != nil {
		return out, err
	}
	if result.Failed {
		return out, &Failure{Tool: name, Result: result}
	}
	value := result.Value
	if value == nil {
		if value, err = json.Marshal(result.String()); err != nil {
			return out, refuse(Internal, name, "its text cannot be written as JSON", err)
		}
	}
	if err := json.Unmarshal(value, &out); err != nil {
		return out, refuse(Invalid, name, fmt.Sprintf("its answer is not a %T: %v", out, err), err)
	}
	return out, nil
}
