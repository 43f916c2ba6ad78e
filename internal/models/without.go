package models

import (
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/model"
)

// without takes what is known as secret out of a request. What is not changed is shared
// with the one it was made from.
func without(known *secrets.Known, r model.Request) model.Request {
	if known == nil {
		return r
	}
	r.System = plain(known, r.System)
	r.Stop = texts(known, r.Stop)
	r.Tools = slices.Clone(r.Tools)
	for i := range r.Tools {
		r.Tools[i] = raw(known, r.Tools[i])
	}
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i] = cleaned(known, r.Messages[i])
	}
	return r
}

func cleaned(known *secrets.Known, m model.Message) model.Message {
	m.CallID, m.Name = plain(known, m.CallID), plain(known, m.Name)
	if len(m.Own) > 0 && has(known, string(m.Own)) {
		// It is signed as it is: with a piece taken out the service would refuse it.
		m.Own, m.By = nil, ""
	}
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Text, p.MIME = plain(known, p.Text), plain(known, p.MIME)
		if len(p.Data) > 0 && has(known, string(p.Data)) {
			*p = model.Part{Text: "[an image was left out, because a secret stands in its file]"}
		}
	}
	m.Calls = slices.Clone(m.Calls)
	for i := range m.Calls {
		c := &m.Calls[i]
		c.ID, c.Name = plain(known, c.ID), plain(known, c.Name)
		c.Arguments = raw(known, c.Arguments)
	}
	return m
}

func has(known *secrets.Known, s string) bool { return len(known.Find(s, 0)) > 0 }

func plain(known *secrets.Known, s string) string {
	if s == "" {
		return s
	}
	found := known.Find(s, 0)
	if len(found) == 0 {
		return s
	}
	return secrets.StrikeOut(s, found)
}

func texts(known *secrets.Known, list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = plain(known, list[i])
	}
	return list
}

// raw takes secrets out of JSON, or of what should have been it.
func raw(known *secrets.Known, text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return text
	}
	if json.Valid(text) {
		return known.Redact(text)
	}
	return json.RawMessage(plain(known, string(text)))
}
