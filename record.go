package toolcrib

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/text"
)

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

// resultText is the result as JSON; the common one needs no encoder.
func resultText(r *Result) ([]byte, error) {
	if r.Value == nil || len(r.Content) > 0 || r.Failed || r.More != nil {
		return json.Marshal(r)
	}
	text := make([]byte, 0, len(r.Value)+len(`{"value":}`))
	return append(append(append(text, `{"value":`...), r.Value...), '}'), nil
}

// cleaned is a refusal without secrets: a tool, a guard or a contract may quote
// what the caller must not see, and no vetter looks at it.
func (c *Crib) cleaned(e *Error) *Error {
	own := *e
	own.Message = c.redactedText(e.Message)
	own.Fields = slices.Clone(e.Fields)
	for i := range own.Fields {
		own.Fields[i].Path, own.Fields[i].Message = c.redactedText(own.Fields[i].Path), c.redactedText(own.Fields[i].Message)
	}
	return &own
}

// told is a refusal as the journal may keep it. What is wrong with a field may
// quote its value, and that may be a secret.
func (f *flight) told(e *Error) string {
	message := e.Message
	if e.Code == CodeInvalid && len(e.Fields) > 0 {
		lines := make([]string, 0, len(e.Fields))
		for _, p := range e.Fields {
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

// digest is how a text is named in the journal, which keeps it without its
// secrets: a plain hash would give them to whoever tries likely ones.
func (c *Crib) digest(text []byte) string {
	if d, ok := c.Journal.(interface{ Digest(text []byte) string }); ok {
		return d.Digest(text)
	}
	c.digests.once.Do(func() {
		k := seal.NewKey()
		c.digests.Digest = seal.NewDigest(k, "run-"+hex.EncodeToString(k.For("name of a run")[:4]))
	})
	return c.digests.Sum(text)
}
