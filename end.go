package toolcrib

import (
	"context"
	"slices"

	"github.com/toolcrib/toolcrib/internal/refusal"
	"github.com/toolcrib/toolcrib/internal/text"
)

// end closes the record, whatever happened, even if the caller has gone.
func (c *Crib) end(ctx context.Context, b begun, result *Result, failure error) (*Result, error) {
	f := b.flight
	f.over.Store(true)
	for _, changes := range f.takeLayers() { // of a call that failed
		c.dropLayer(f, changes)
	}
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
			e = refuse(CodeInternal, f.call.Tool, "the call broke down", failure)
		}
		if !slices.Contains(refusal.Codes(), string(e.Code)) { // a tool made it up
			e = &Error{Code: CodeInternal, Tool: e.Tool, Message: e.Message, Err: e}
		}
		e = c.cleaned(e)
		failure, f.rec.Outcome, f.rec.Message = e, Outcome(e.Code), f.told(e)
	} else {
		switch f.rec.Outcome = Done; {
		case f.ended.outcome != "":
			f.rec.Outcome, f.rec.Message = f.ended.outcome, text.Clip(c.redactedText(f.ended.why), f.limits.Record)
		case result.Failed:
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

// reworded gives a refusal, which is recorded by now, the form of a dialect.
func (c *Crib) reworded(b begun, refusal error) (result *Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log().Error("an adapter broke down", "tool", b.call.Tool, "call", b.call.ID, "err", p)
			result, err = nil, refusal
		}
	}()
	e, ok := AsError(refusal)
	if !ok {
		return nil, refusal
	}
	if result = b.entry.adapter.Refused(b.given, e); result == nil {
		return nil, refusal
	}
	return c.vetted(b.flight, result, nil)
}
