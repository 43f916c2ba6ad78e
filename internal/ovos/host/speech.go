package host

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/spoken"
)

// Speech has what went wrong told so that it can be said aloud. Every answer about
// something that was not done has a key "spoken" then, with one short sentence in the
// language of the message. Of what only we refuse, that sentence stands as well where the
// contract of the tool has a place for it, or else in "error", and the long text in
// "detail". The zero value says nothing.
type Speech struct {
	// Lang is the language for messages that name none that is known; empty: English.
	Lang string
	// Refusal is the sentence for a refusal. Ours says that the hosts of the field have
	// no words for it.
	Refusal func(e *toolcrib.Error) (s spoken.Sentence, ours bool)
	// Placed is the answer of a tool in which the sentence has its place; nil: there is
	// none in its contract.
	Placed func(tool toolcrib.Entry, input json.RawMessage, say func(spoken.Sentence) string, s spoken.Sentence) json.RawMessage
	// Failure is the sentence for an answer that tells of a failure.
	Failure func(tool toolcrib.Entry, answer json.RawMessage) (s spoken.Sentence, failed bool)
}

func (s Speech) on() bool { return s.Refusal != nil && s.Placed != nil && s.Failure != nil }

// lang is the language in which the sender of a message is answered.
func (s Speech) lang(m bus.Message) string { return spoken.Language(append(m.Langs(), s.Lang)...) }

// told adds the sentence to an outcome in words of the field.
func (h *Host) told(m bus.Message, key spoken.Key, o outcome) outcome {
	if h.cfg.Speech.on() {
		o.spoken = spoken.Say(h.cfg.Speech.lang(m), key)
	}
	return o
}

// only makes the sentence the whole answer: the field has no words for it.
func (h *Host) only(m bus.Message, key spoken.Key, o outcome) outcome {
	if o = h.told(m, key, o); o.spoken != "" {
		o.error = o.spoken
	}
	return o
}

// refused is the outcome of a call that the crib refused.
func (h *Host) refused(u hostCall, spec toolcrib.Entry, err error) outcome {
	e, ok := toolcrib.AsError(err)
	if !ok {
		e = &toolcrib.Error{Code: toolcrib.CodeInternal}
	}
	o := outcome{error: h.cfg.ErrorText(&toolcrib.Error{Code: e.Code, Tool: u.name.text}, spec.Box), detail: detailOf(err)}
	speech := h.cfg.Speech
	if !speech.on() {
		return o
	}
	lang := speech.lang(u.Message)
	say := func(s spoken.Sentence) string { return s.In(lang) }
	sentence, ours := speech.Refusal(e)
	o.spoken = say(sentence)
	if !ours {
		return o
	}
	o.error = o.spoken
	if placed := speech.Placed(spec, u.input, say, sentence); placed != nil {
		if out, err := sound(placed); err == nil {
			o.result, o.error = out, ""
		}
	}
	return o
}

// done is the outcome of a tool that answered, which may be that it failed.
func (h *Host) done(u hostCall, spec toolcrib.Entry, out json.RawMessage) outcome {
	o := outcome{result: out}
	if speech := h.cfg.Speech; speech.on() {
		if s, failed := speech.Failure(spec, out); failed {
			o.spoken = s.In(speech.lang(u.Message))
		}
	}
	return o
}
