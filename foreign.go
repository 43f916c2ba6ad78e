package toolcrib

import (
	"slices"

	"github.com/toolcrib/toolcrib/internal/schema"
)

// pass gives a foreign tool what was sent, and notes what does not fit.
func (f *flight) pass(in *schema.Schema, doc *schema.Doc, lenient bool) ([]byte, []schema.Problem) {
	input, unfit, err := in.Pass(doc, lenient, f.limits.Depth)
	if err != nil {
		return nil, []schema.Problem{{Rule: "type", Message: err.Error()}}
	}
	f.unfit = nil
	for _, p := range unfit {
		f.unfit = append(f.unfit, FieldError(p))
	}
	return input, nil
}

// unfitNote tells who reads the record, or is asked, what does not fit.
func (f *flight) unfitNote() (notes []Verdict) {
	for _, p := range f.unfit {
		notes = append(notes, Verdict{Guard: "schema", Note: true, Rule: p.Rule, Reason: "passed on, though it does not fit the schema of the tool: " + schema.Problem(p).String()})
	}
	return notes[:min(len(notes), 3)]
}

// hint says what of the arguments may be the cause of a foreign tool's failure.
func (f *flight) hint(failed bool) string {
	if !failed || len(f.unfit) == 0 {
		return ""
	}
	return f.entry.in.Hint(f.input, f.limits.Depth)
}

func (f *flight) withHint(r *Result) *Result {
	hint := f.hint(r.Failed)
	if hint == "" {
		return r
	}
	hinted := *r
	hinted.Content = append(slices.Clone(r.Content), Content{Type: "text", Text: hint})
	return &hinted
}
