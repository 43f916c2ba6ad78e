package toolcrib

import (
	"slices"

	"github.com/toolcrib/toolcrib/internal/schema"
)

// pass keeps what a foreign tool is sent, notes what does not fit, and gives what
// guards see: with the defaults that the tool will take.
func (f *flight) pass(in *schema.Schema, doc *schema.Doc, lenient bool) ([]byte, []schema.Problem) {
	p, err := in.Pass(doc, lenient, f.limits.Depth)
	if err != nil {
		return nil, []schema.Problem{{Rule: "type", Message: err.Error()}}
	}
	f.sent, f.unfit = p.Sent, nil
	for _, u := range p.Unfit { // without a word of the value, which may be a password
		f.unfit = append(f.unfit, FieldError{Path: u.Path, Rule: u.Rule, Message: u.Unquoted()})
	}
	return p.Seen, nil
}

// unfitNote tells who reads the record, or is asked, what does not fit.
func (f *flight) unfitNote() (notes []Verdict) {
	for _, p := range f.unfit {
		notes = append(notes, Verdict{Decision: Allow, Guard: "schema", Note: true, Rule: p.Rule, Reason: "passed on as it is, though of the arguments " + p.Message})
	}
	return notes[:min(len(notes), 3)]
}

// hint says what of the arguments may be the cause of a foreign tool's failure.
func (f *flight) hint(failed bool) string {
	if !failed || len(f.unfit) == 0 {
		return ""
	}
	return f.entry.in.Hint(f.sent, f.limits.Depth)
}

// withHint adds what whoever called should know about the arguments.
func (f *flight) withHint(r *Result) *Result {
	hint := f.hint(r.Failed)
	if f.rec.Edited != nil { // not to what: a person may have typed what the model is not to know
		hint = "A person changed the arguments of this call before it ran: the result is that of other arguments than yours."
	}
	if hint == "" {
		return r
	}
	hinted, texts := *r, r.Content
	if r.Value != nil && len(texts) == 0 { // where there are texts, many read nothing else
		texts = []Content{{Type: "text", Text: string(r.Value)}}
	}
	hinted.Content = slices.Concat(texts, []Content{{Type: "text", Text: hint}})
	return &hinted
}
