package toolcrib

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/internal/schema"
)

// admit makes the input fit the contract, or names everything that does not.
func (c *Crib) admit(r resolved) (admitted, error) {
	if r.docErr != nil {
		return admitted{}, refuse(CodeInvalid, r.call.Tool, "the input is not usable: "+r.docErr.Error(), r.docErr)
	}
	in := r.entry.in
	if r.entry.adapter != nil {
		in = r.entry.adapter.in
	}
	given, bad := r.fitting(in, r.doc, r.call.Lenient)
	if len(bad) > 0 {
		return admitted{}, invalid(r.call.Tool, bad)
	}
	r.given, r.input = given, given
	if r.entry.adapter != nil {
		if err := r.adapt(); err != nil {
			return admitted{}, err
		}
	}
	return admitted{r.flight}, nil
}

// adapt turns an admitted input of the dialect into one of the native tool.
func (r resolved) adapt() error {
	if in := r.entry.adapter.In; in != nil {
		native, err := in(r.given)
		if err != nil {
			if e, ok := AsError(err); ok {
				return e
			}
			return refuse(CodeInvalid, r.call.Tool, err.Error(), err)
		}
		r.input = native
	}
	input, err := r.readmit(r.input)
	r.input = input
	return err
}

// readmit admits a native input that did not come straight from the caller.
func (f *flight) readmit(text json.RawMessage) (json.RawMessage, error) {
	doc, err := schema.Parse(text, schema.Limits{Bytes: f.limits.Input, Depth: f.limits.Depth})
	if err != nil {
		return nil, refuse(CodeInvalid, f.call.Tool, "the input is not usable: "+err.Error(), err)
	}
	defer doc.Release()
	input, bad := f.fitting(f.entry.in, doc, false)
	if len(bad) > 0 {
		return nil, invalid(f.call.Tool, bad)
	}
	return input, nil
}

// fitting gives the input as the tool gets it, or what does not fit.
func (f *flight) fitting(in *schema.Schema, doc *schema.Doc, lenient bool) (json.RawMessage, []schema.Problem) {
	if f.entry.tool.Foreign {
		return f.pass(in, doc, lenient)
	}
	return in.Admit(doc, schema.Options{Lenient: lenient, Closed: true, PlainInts: true, Apart: true})
}

// invalid lists every bad field, because a model mends them all at once.
func invalid(tool string, bad []schema.Problem) *Error {
	e := &Error{Code: CodeInvalid, Tool: tool}
	lines := make([]string, 0, len(bad))
	for _, p := range bad {
		e.Fields = append(e.Fields, FieldError(p))
		lines = append(lines, p.String())
	}
	e.Message = strings.Join(lines, "; ")
	return e
}
