package toolcrib

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/text"
)

// read parses the input once, for the record and for admission. An input that
// is not JSON is kept as it came: it is recorded first and refused afterwards.
func (c *Crib) read(f *flight) {
	raw := f.call.Input
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	f.doc, f.docErr = schema.Parse(raw, schema.Limits{Bytes: f.limits.Input, Depth: f.limits.Depth})
	if f.docErr != nil {
		f.text = raw
		return
	}
	f.text = f.doc.AppendCanonical(make([]byte, 0, len(raw)))
}

// end closes the record, whatever happened, even if the caller has gone.
func (c *Crib) end(ctx context.Context, b begun, result *Result, failure error) (*Result, error) {
	f := b.flight
	f.over.Store(true)
	f.doc.Release()
	if f.env != nil {
		f.env.doc.Swap(nil).Release() // unless the tool has taken it
	}
	if f.files != nil {
		if err := f.files.Close(); err != nil {
			c.log().Warn("granted directories cannot be closed", "call", f.call.ID, "err", err)
		}
	}
	if f.gate != nil {
		f.gate.Close()
	}
	f.rec.Duration = c.now().Sub(f.rec.Start)
	if failure != nil {
		e, ok := AsError(failure)
		if !ok {
			e = refuse(Internal, f.call.Tool, "the call broke down", failure)
		}
		if !slices.Contains(Codes(), e.Code) { // a tool made it up
			e = &Error{Code: Internal, Tool: e.Tool, Message: e.Message, Err: e}
		}
		e = c.cleaned(e)
		failure = e
		f.rec.Outcome, f.rec.Message = Outcome(e.Code), f.told(e)
	} else {
		f.rec.Outcome = Done
		if result.Failed || f.broke {
			f.rec.Outcome = Broke
		}
		c.keep(f, result)
	}
	for i := range f.rec.Verdicts {
		if v := &f.rec.Verdicts[i]; v.Decision != Allow || v.Note {
			v.Reason = c.redactedText(v.Reason) // it may quote the input
		}
	}
	if err := c.Journal.End(context.WithoutCancel(ctx), &f.rec); err != nil {
		// The effect has happened: hiding the result would only make the
		// caller do it again. The journal has the begin, and says what it lost.
		c.log().Error("journal cannot close a record", "call", f.call.ID, "tool", f.call.Tool, "err", err)
	}
	c.after(context.WithoutCancel(ctx), &f.rec)
	if failure != nil {
		return nil, failure
	}
	return result, nil
}

// keep puts the result into the record, redacted and bounded.
func (c *Crib) keep(f *flight, result *Result) {
	text, err := resultText(result)
	if err != nil { // a Value that is not JSON was refused by vet
		f.rec.Message = "the result could not be written down: " + err.Error()
		f.rec.Cut = true
		return
	}
	f.rec.ResultHash = c.digest(text)
	if f.rec.Cut = len(text) > f.limits.Record; f.rec.Cut {
		return
	}
	if f.rec.Result = text; !f.clean || c.Redact != nil {
		f.rec.Result = c.redacted(text)
	}
}

// cleaned is a refusal without secrets: a tool, a guard or a contract may quote
// what the caller must not see, and no vetter looks at it.
func (c *Crib) cleaned(e *Error) *Error {
	own := *e
	own.Message = c.redactedText(e.Message)
	own.Bad = slices.Clone(e.Bad)
	for i := range own.Bad {
		own.Bad[i].Path, own.Bad[i].Message = c.redactedText(own.Bad[i].Path), c.redactedText(own.Bad[i].Message)
	}
	return &own
}

// redactedText takes secrets out of a text. A redactor that breaks down must
// not let them through.
func (c *Crib) redactedText(text string) (out string) {
	if text == "" {
		return text
	}
	if c.RedactText == nil {
		return redact.Text(text)
	}
	defer func() {
		if p := recover(); p != nil {
			c.log().Error("redactor broke down", "err", p)
			out = "[redacted]"
		}
	}()
	return c.RedactText(text)
}

// told is a refusal as the journal may keep it. What is wrong with a field may
// quote its value, and that may be a secret.
func (f *flight) told(e *Error) string {
	message := e.Message
	if e.Code == Invalid && len(e.Bad) > 0 {
		lines := make([]string, 0, len(e.Bad))
		for _, p := range e.Bad {
			line := schema.Problem(p).String()
			if redact.SecretPath(p.Path) {
				line = p.Path + ": breaks the rule " + p.Rule
			}
			lines = append(lines, line)
		}
		message = strings.Join(lines, "; ")
	}
	return text.Clip(redact.Text(message), f.limits.Record)
}

// resultText is the result as JSON; the common one needs no encoder.
func resultText(r *Result) ([]byte, error) {
	if r.Value == nil || len(r.Content) > 0 || r.Failed || r.More != nil {
		return json.Marshal(r)
	}
	text := make([]byte, 0, len(r.Value)+len(`{"value":}`))
	return append(append(append(text, `{"value":`...), r.Value...), '}'), nil
}

// recordedInput is the input as the journal may keep it: JSON, without
// secrets, bounded. Of a text that is too long, or no JSON at all, only the
// size is told: an excerpt of unparsed text could carry half a secret.
func (c *Crib) recordedInput(f *flight) json.RawMessage {
	if f.docErr != nil {
		return unrecorded(f.text)
	}
	if c.Redact == nil && len(f.text) <= f.limits.Record && !redact.Finds(f.doc) {
		return f.text
	}
	return c.bounded(f, f.text)
}

// bounded is JSON as the journal may keep it.
func (c *Crib) bounded(f *flight, text []byte) json.RawMessage {
	if len(text) > f.limits.Record {
		return unrecorded(text)
	}
	return c.redacted(text)
}

func unrecorded(text []byte) json.RawMessage {
	return fmt.Appendf(nil, `{"unrecorded":{"bytes":%d}}`, len(text))
}

// redacted takes the secrets out. A redactor that breaks down must neither let
// them through nor leave a record open.
func (c *Crib) redacted(text []byte) (out json.RawMessage) {
	if c.Redact == nil {
		return redact.JSON(text)
	}
	defer func() {
		if p := recover(); p != nil {
			c.log().Error("redactor broke down", "err", p)
			out = unrecorded(text)
		}
	}()
	return c.Redact(text)
}

// noSuchTool names the nearest tool this caller has, if one is near.
func (c *Crib) noSuchTool(call Call) string {
	if why := c.Catalog.absent(call.Tool); why != "" {
		return "there is no such tool here: " + why
	}
	var names []string
	for spec := range c.Tools(call.Caller) {
		names = append(names, spec.Name)
	}
	if near := text.Nearest(call.Tool, names); near != "" {
		return fmt.Sprintf("there is no such tool; did you mean %s?", near)
	}
	return "there is no such tool"
}
