package toolcrib

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/text"
)

// begin writes the record: what cannot be recorded is not done.
// A call whose ID was used before has a record of its own, which says so.
func (c *Crib) begin(ctx context.Context, call Call) (begun, error) {
	f := &flight{call: call, limits: c.Limits.filled()}
	if c.Journal == nil {
		return begun{}, refuse(CodeUnavailable, call.Tool, "no journal is set up, so nothing can be done", nil)
	}
	start := c.now()
	c.read(f)
	err := callid.Check(call.ID)
	if err == nil && call.ID != "" && c.redactedText(call.ID) != call.ID {
		err = errors.New("the call ID has a secret in it, which must not be recorded; use another ID")
	}
	if err != nil {
		f.docErr, f.call.ID = err, "" // recorded under a name of ours, then refused
	}
	if f.call.ID == "" {
		f.call.ID = callid.New(start)
	}
	name := text.Clip(call.Tool, maxWord)
	if c.Catalog.find(call.Caller.Dialect, call.Tool) == nil { // it can be anything
		name = c.redactedText(name)
	}
	f.rec = Record{
		ID: f.call.ID, Parent: text.Clip(call.Parent, maxWord), Caller: call.Caller.clipped(), Tool: name, Start: start,
		Input: c.recordedInput(f), InputHash: c.digest(f.text),
	}
	old, err := c.Journal.Begin(context.WithoutCancel(ctx), &f.rec)
	if err == nil && old != nil {
		f.old, f.rec.Replay, f.rec.ID = old, f.rec.ID, callid.New(start)
		if old, err = c.Journal.Begin(context.WithoutCancel(ctx), &f.rec); err == nil && old != nil {
			err = errors.New("the journal knows a call ID that was just made")
		}
	}
	if err != nil {
		f.doc.Release()
		if e, ok := AsError(err); ok { // it says itself what to do
			own := *e
			own.Tool = name
			return begun{}, &own
		}
		c.log().Error("journal refuses to begin", "call", f.call.ID, "tool", name, "err", err)
		return begun{}, refuse(CodeUnavailable, call.Tool, "the journal cannot record this call, so it was not made", err)
	}
	return begun{f}, nil
}

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
