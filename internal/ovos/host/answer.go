package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/spoken"
	"github.com/toolcrib/toolcrib/internal/text"
)

// errBigInteger: a result has a number that Python hosts cannot send either.
var errBigInteger = errors.New("the result has an integer beyond 64 bits")

// contentAnswer is the result of a tool that answers with contents instead of a value.
type contentAnswer struct {
	Content string             `json:"content"`
	Parts   []toolcrib.Content `json:"parts,omitempty"` // if not all of it is text
}

// object is a result as it goes over the bus: a JSON object that poisons no
// frame. The schema is that of the result's value, and says which numbers are
// floats.
func object(r *toolcrib.Result, schema json.RawMessage) (json.RawMessage, error) {
	out, err := sendable(r)
	if errors.Is(err, errBigInteger) {
		if floats := withFloats(r.Value, schema); !bytes.Equal(floats, r.Value) {
			mended := *r
			mended.Value = floats
			return sendable(&mended)
		}
	}
	return out, err
}

func sendable(r *toolcrib.Result) (json.RawMessage, error) {
	var v any
	switch {
	case r.Value == nil:
		out := contentAnswer{Content: r.String()}
		if slices.ContainsFunc(r.Content, func(c toolcrib.Content) bool { return c.Type != "text" }) {
			out.Parts = r.Content
		}
		v = out
	case bytes.HasPrefix(bytes.TrimSpace(r.Value), []byte("{")):
		v = r.Value
	default:
		v = map[string]json.RawMessage{"result": r.Value}
	}
	out, err := sound(v)
	if poison, ok := errors.AsType[*bus.PoisonError](err); ok && poison.Reason == bus.BigInteger {
		return nil, errBigInteger
	}
	if err != nil {
		return nil, fmt.Errorf("the result cannot be sent: %w", err)
	}
	return out, nil
}

// sound is a value as an object that may be sent. Half a surrogate pair, which
// a tool took from elsewhere, is no reason to lose all of it: reading it as a
// client does mends that.
func sound(v any) (json.RawMessage, error) {
	out, err := bus.Object(v)
	if _, poison := errors.AsType[*bus.PoisonError](err); err == nil || !poison {
		return out, err
	}
	text, err := json.Marshal(map[string]any{"type": "x", "data": v})
	if err != nil {
		return nil, err
	}
	m, err := bus.Decode(text)
	if err != nil {
		return nil, err
	}
	return bus.Object(m.Data)
}

// answer sends the answer to a request, once.
func (h *Host) answer(r request, data any) {
	raw, err := bus.Object(data)
	if err != nil { // a contract from elsewhere, such as a default of 30 digits
		h.cfg.Log.Error("an answer cannot be sent as it is", "type", r.Type, "err", err)
		raw = unsendable(err)
	}
	err = h.send(r.Response(h.cfg.ID, raw))
	if errors.Is(err, bus.ErrTooLarge) {
		err = h.send(r.Response(h.cfg.ID, h.shortened(r, data, err)))
	}
	if err != nil {
		// It is not sent again: if it arrived after all, the second would be
		// taken for the answer to something else.
		h.cfg.Log.Warn("an answer may not have arrived", "type", r.Type, "err", err)
	}
}

// shortened is what is answered in place of too much.
func (h *Host) shortened(r request, data any, cause error) json.RawMessage {
	o := outcome{error: "RuntimeError: the answer is larger than the bus takes", detail: text.Clip(cause.Error(), maxDetail)}
	o = h.only(r.Message, spoken.TooLarge, o)
	var short any = failure{o.error, o.detail}
	switch a := data.(type) {
	case personaAnswer:
		short = personaAnswer{Error: o.error, ToolboxID: a.ToolboxID, Detail: o.detail, Spoken: o.spoken}
	case invokeAnswer:
		short = invokeAnswer{Name: a.Name, Error: o.error, Detail: o.detail, Spoken: o.spoken}
	}
	raw, err := bus.Object(short)
	if err != nil {
		return unsendable(err)
	}
	return raw
}

// unsendable is the answer in place of one that would poison the bus.
func unsendable(cause error) json.RawMessage {
	raw, err := bus.Object(failure{"RuntimeError: the answer cannot be sent over the bus", text.Clip(cause.Error(), maxDetail)})
	if err != nil {
		return nil // cannot be: it is two texts
	}
	return raw
}

func (h *Host) send(m bus.Message) error { return h.bus.Send(h.sending, m) }
