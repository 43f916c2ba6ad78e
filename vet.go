package toolcrib

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/schema"
)

// Vetter looks over what a tool gave back before its caller gets it: it takes
// secrets out, marks what came from outside, bounds what is too long. It gives
// the result to go on with, which may be a changed copy, or an error: then the
// caller gets none of it. The review is of the native tool, and so is the
// result; a Value it changes still has to be JSON. With Review.Replay the result
// is one that was handed out before, as it was then.
type Vetter interface {
	Vet(ctx context.Context, r Review, result *Result) (*Result, error)
}

// vet holds the tool to its contract before anyone believes the result.
func (c *Crib) vet(ctx context.Context, o ran) (*Result, error) {
	f := o.flight
	result, err := c.vetted(f, f.withHint(o.result), f.entry.out)
	if err != nil {
		return nil, err
	}
	if result, err = c.lookOver(ctx, f, result); err != nil {
		return nil, err
	}
	if f.entry.adapter == nil || f.entry.adapter.Out == nil {
		return result, nil
	}
	if result.Failed && f.ended.outcome == "" {
		f.ended.outcome = Broke
	}
	if result, err = f.entry.adapter.Out(f.given, result); err != nil {
		if e, ok := AsError(err); ok {
			return nil, e
		}
		return nil, refuse(CodeInternal, f.call.Tool, "its result has no form in this dialect", err)
	}
	// The native value was held to its contract above; the dialect's contract is
	// shown, not enforced, since the systems it speaks for break it themselves
	// (a NaN goes out as null where the schema says number).
	return c.vetted(f, result, nil)
}

// lookOver asks the vetters. They see a result that fits its contract; what
// they make of it is held to the bounds again, but no more to the contract: a
// secret was taken out of it, and the place it stood in may have had a form.
func (c *Crib) lookOver(ctx context.Context, f *flight, result *Result) (*Result, error) {
	if len(c.Vetters) == 0 && f.old == nil {
		return result, nil
	}
	review := f.review(f.input)
	for _, v := range c.Vetters {
		next, err := vetOne(ctx, v, review, result)
		if err != nil {
			if e, ok := AsError(err); ok {
				own := *e
				own.Tool = f.call.Tool
				if own.Code == CodeDenied && f.old == nil && !f.effects.ReadOnly() {
					own.Code = CodeInternal // it was done: only its answer is held back
				}
				return nil, &own
			}
			c.log().Error("a result was held back", "vetter", fmt.Sprintf("%T", v), "tool", f.call.Tool, "call", f.call.ID, "err", err)
			return nil, refuse(CodeInternal, f.call.Tool, "the tool ran, but its result could not be vetted and is held back", err)
		}
		result = next
	}
	return c.vetted(f, result, nil)
}

// vetOne asks a vetter; one that breaks down lets nothing through.
func vetOne(ctx context.Context, v Vetter, r Review, given *Result) (result *Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	if result, err = v.Vet(ctx, r, given); err == nil && result == nil {
		err = errors.New("it gave no result")
	}
	return result, err
}

// after tells who keeps state of what was done.
func (c *Crib) after(ctx context.Context, r *Record) {
	for _, hear := range c.OnEnd {
		func() {
			defer func() {
				if p := recover(); p != nil {
					c.log().Error("a hook broke down after a call", "tool", r.Tool, "call", r.ID, "err", p)
				}
			}()
			hear(ctx, r)
		}()
	}
}

func (c *Crib) vetted(f *flight, r *Result, out *schema.Schema) (*Result, error) {
	f.clean = false
	size := len(r.Value) + len(r.More)
	for _, c := range r.Content {
		size += len(c.Text) + len(c.Data) + len(c.More)
	}
	if size > f.limits.Output {
		return nil, refuse(CodeInternal, f.call.Tool, fmt.Sprintf("the tool ran, but its result of %d bytes is over the limit of %d (limits.output)", size, f.limits.Output), nil)
	}
	if err := moreIsObject(r); err != nil {
		return nil, refuse(CodeInternal, f.call.Tool, "the tool ran, but what came with its result cannot be read", err)
	}
	if r.Value == nil {
		if out != nil && !r.Failed {
			return nil, refuse(CodeInternal, f.call.Tool, "the tool ran, but gave no value although its contract promises one", nil)
		}
		return r, nil
	}
	doc, err := schema.Parse(r.Value, schema.Limits{Depth: f.limits.Depth})
	if err != nil {
		return nil, refuse(CodeInternal, f.call.Tool, "the tool ran, but its value is not JSON", err)
	}
	defer doc.Release()
	f.clean = len(r.Content) == 0 && r.More == nil && !redact.Finds(doc)
	if out == nil {
		return r, nil
	}
	if bad := out.Validate(doc); len(bad) > 0 {
		// What is wrong quotes the result, in a sentence of ours that no vetter
		// marks: only who runs the crib is told that much.
		why := invalid(f.call.Tool, bad)
		c.log().Warn("a result breaks the contract of its tool", "tool", f.call.Tool, "call", f.call.ID, "problems", c.redactedText(why.Message))
		var rules []string
		for _, p := range bad {
			if !slices.Contains(rules, p.Rule) {
				rules = append(rules, p.Rule)
			}
		}
		return nil, refuse(CodeInternal, f.call.Tool, fmt.Sprintf("the tool ran, but its result does not match its output schema (%s); the log names the fields", strings.Join(rules, ", ")), nil)
	}
	return r, nil
}

// moreIsObject holds what a supplier added to its word: an object each.
func moreIsObject(r *Result) error {
	check := func(more json.RawMessage) error {
		if more == nil {
			return nil
		}
		if text := bytes.TrimLeft(more, " \t\r\n"); len(text) == 0 || text[0] != '{' || !json.Valid(text) {
			return errors.New("it is no JSON object")
		}
		return nil
	}
	if err := check(r.More); err != nil {
		return err
	}
	for i := range r.Content {
		if err := check(r.Content[i].More); err != nil {
			return err
		}
	}
	return nil
}
