package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// What a record says stands in the columns or in the body, never in both: two
// places could disagree.

// beginBody is the body of a begin entry.
type beginBody struct {
	Parent    string          `json:"parent,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Via       string          `json:"via,omitempty"`
	Dialect   string          `json:"dialect,omitempty"`
	Owner     string          `json:"organisation,omitempty"`
	Token     string          `json:"token,omitempty"`
	Client    string          `json:"client,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	InputHash string          `json:"input_hash,omitempty"`
	Replay    string          `json:"replay,omitempty"`
}

// endBody is the body of an entry that closes a call.
type endBody struct {
	Native     string             `json:"native,omitempty"`
	Definition string             `json:"definition,omitempty"`
	Verdicts   []toolcrib.Verdict `json:"verdicts,omitempty"`
	ApprovedBy string             `json:"approved_by,omitempty"`
	Edited     json.RawMessage    `json:"edited,omitempty"`
	Message    string             `json:"message,omitempty"`
	Result     json.RawMessage    `json:"result,omitempty"`
	ResultHash string             `json:"result_hash,omitempty"`
	Cut        bool               `json:"cut,omitempty"`
	Attempts   int                `json:"attempts,omitempty"`
}

// beginEntry fills e from the first part of a record.
func beginEntry(e *entry, r *toolcrib.Record, w *bodyWriter) error {
	if err := usable(r); err != nil {
		return err
	}
	*e = entry{
		kind: kindBegin, at: r.Start.UnixNano(),
		call: r.ID, subject: r.Caller.Subject, session: clean(r.Caller.Session), tool: clean(r.Tool),
	}
	body := beginBody{
		Parent: r.Parent, Agent: r.Caller.Agent, Via: r.Caller.Frontend, Dialect: r.Caller.Dialect,
		Owner: r.Caller.Organisation, Token: r.Caller.Token, Client: r.Caller.Client,
		Input: r.Input, InputHash: r.InputHash, Replay: r.Replay,
	}
	return w.write(e, &body, &body.Input)
}

// endEntry fills e from the second part of a record.
func endEntry(e *entry, r *toolcrib.Record, at time.Time, w *bodyWriter) error {
	if err := usable(r); err != nil {
		return err
	}
	if r.Outcome == "" {
		return fmt.Errorf("ending call %s: it has no outcome", r.ID)
	}
	*e = entry{
		kind: kindEnd, at: at.UnixNano(), duration: int64(r.Duration),
		call: r.ID, subject: r.Caller.Subject, session: clean(r.Caller.Session), tool: clean(r.Tool),
		box: clean(r.Box), outcome: clean(string(r.Outcome)),
	}
	body := endBody{
		Native: r.Native, Definition: r.Definition, Verdicts: r.Verdicts, ApprovedBy: r.ApprovedBy, Edited: r.Edited,
		Message: r.Message, Result: r.Result, ResultHash: r.ResultHash, Cut: r.Cut,
		Attempts: r.Attempts,
	}
	return w.write(e, &body, &body.Edited, &body.Result)
}

// usable refuses a record that could not be found again. The names that make
// up the key are never mended: mended, two of them might become one.
func usable(r *toolcrib.Record) error {
	if r.ID == "" {
		return errors.New("a record needs a call ID")
	}
	for _, s := range [...]struct{ what, text string }{{"call ID", r.ID}, {"subject", r.Caller.Subject}} {
		if !utf8.ValidString(s.text) || strings.IndexByte(s.text, 0) >= 0 {
			return &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: fmt.Sprintf("the %s %q cannot be recorded: it must be UTF-8 text without NUL", s.what, s.text)}
		}
	}
	return nil
}

// clean makes a text fit for JSON, so that an export can be checked: what
// would be changed on the way out is changed on the way in.
func clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// bodyWriter writes bodies into one buffer that is used again and again.
type bodyWriter struct {
	buf bytes.Buffer
	enc *json.Encoder
}

// maxNesting is far below what encoding/json reads back (10,000), so that what
// is around it in a body and in a spill file has room.
const maxNesting = 4000

// tooDeep reports whether JSON is nested deeper than could be read back. Most
// has so few brackets that their number alone, which is quick to find, says no.
func tooDeep(raw []byte) bool {
	return bytes.Count(raw, []byte("["))+bytes.Count(raw, []byte("{")) > maxNesting && jsontext.Depth(raw) > maxNesting
}

// write encodes body into e.body, which is valid until the next write. raws
// are the foreign JSON in it; what is not JSON, or could not be read back, is
// kept as a JSON string instead: a record must not fail for what it records.
func (w *bodyWriter) write(e *entry, body any, raws ...*json.RawMessage) error {
	if w.enc == nil {
		w.enc = json.NewEncoder(&w.buf)
		w.enc.SetEscapeHTML(false)
	}
	for _, raw := range raws {
		if tooDeep(*raw) || !utf8.Valid(*raw) {
			*raw = asString(*raw)
		}
	}
	w.buf.Reset()
	if err := w.enc.Encode(body); err != nil {
		for _, raw := range raws {
			if !json.Valid(*raw) {
				*raw = asString(*raw)
			}
		}
		w.buf.Reset()
		if err := w.enc.Encode(body); err != nil {
			return fmt.Errorf("writing the record of call %s: %w", e.call, err)
		}
	}
	e.body = bytes.TrimSuffix(w.buf.Bytes(), []byte("\n"))
	return nil
}

func asString(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	text, err := json.Marshal(string(raw))
	if err != nil { // a string always encodes
		return json.RawMessage(`""`)
	}
	return text
}

// record gives the record of a call: its begin, and what closed it if it is
// closed.
func record(begin *entry, end *entry) (toolcrib.Record, error) {
	var b beginBody
	if err := json.Unmarshal(begin.body, &b); err != nil {
		return toolcrib.Record{}, fmt.Errorf("reading entry %d: %w; verify the journal", begin.seq, err)
	}
	r := toolcrib.Record{
		Seq: begin.seq, ID: begin.call, Parent: b.Parent, Tool: begin.tool,
		Caller: toolcrib.Caller{Subject: begin.subject, Agent: b.Agent, Session: begin.session, Frontend: b.Via, Dialect: b.Dialect, Organisation: b.Owner, Token: b.Token, Client: b.Client},
		Input:  b.Input, InputHash: b.InputHash, Replay: b.Replay, Start: time.Unix(0, begin.at).UTC(),
	}
	if end == nil {
		return r, nil
	}
	var e endBody
	if err := json.Unmarshal(end.body, &e); err != nil {
		return toolcrib.Record{}, fmt.Errorf("reading entry %d: %w; verify the journal", end.seq, err)
	}
	r.Box, r.Native, r.Definition = end.box, e.Native, e.Definition
	r.Verdicts, r.ApprovedBy, r.Edited = e.Verdicts, e.ApprovedBy, e.Edited
	r.Duration, r.Outcome, r.Message = time.Duration(end.duration), toolcrib.Outcome(end.outcome), e.Message
	r.Result, r.ResultHash, r.Cut, r.Attempts = e.Result, e.ResultHash, e.Cut, e.Attempts
	return r, nil
}
