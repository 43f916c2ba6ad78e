package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gotype"
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
// returned beside the error is kept. An Out with a method
//
//	Outcome() (outcome Outcome, why string)
//
// says how the journal records an answer that is no failure of the tool: a command
// may have ended with an exit status. Only Broke, timeout and cancelled count;
// anything else is Done. A type that has no schema is reported by name when the
// tool is put into a catalog.
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
	lists := gotype.HasLists(reflect.TypeFor[Out]())
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
		value, merr := gotype.Encode(out, lists)
		if merr != nil {
			return nil, refuse(CodeInternal, s.Name, "its output cannot be written as JSON", merr)
		}
		if err != nil {
			r := Failed(err.Error())
			r.Value = value
			return r, nil
		}
		return &Result{Value: value, ended: endingOf(&out)}, nil
	}
	return t
}

// endingOf asks an output how its work ended. What a tool says may be a failure, but
// not a refusal, which is the crib's to say.
func endingOf(out any) ending {
	o, ok := out.(interface{ Outcome() (Outcome, string) })
	if !ok {
		return ending{}
	}
	outcome, why := o.Outcome()
	switch outcome {
	case Broke, Outcome(CodeTimeout), Outcome(CodeCancelled):
		return ending{outcome, why}
	}
	return ending{}
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

// Invoke calls a tool from Go: in is a struct, a map or JSON text, and the
// answer comes back as an Out. The caller is this program itself (Frontend "go");
// to call on behalf of someone use [Crib.Call]. A failed tool is a *FailedError.
func Invoke[Out any](ctx context.Context, c *Crib, name string, in any) (Out, error) {
	var out Out
	input, err := gotype.Input(in)
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
		err = gotype.Complete(value, reflect.TypeFor[Out]())
	}
	if err != nil {
		return out, refuse(CodeInvalid, name, fmt.Sprintf("its answer is not a %T: %v", out, err), err)
	}
	return out, nil
}
