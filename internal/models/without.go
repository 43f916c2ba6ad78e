package models

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

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
	together(known, r.Messages)
	return r
}

// together takes out what stands in texts that follow each other and in none of them as
// a whole: some APIs are sent the parts of a message as one text, and a model reads all of
// them in a row.
func together(known *secrets.Known, messages []model.Message) {
	var all []*string
	var at []int
	var b strings.Builder
	for i := range messages {
		for k := range messages[i].Parts {
			if p := &messages[i].Parts[k]; p.Text != "" && !p.Thought {
				all, at = append(all, &p.Text), append(at, b.Len())
				b.WriteString(p.Text)
			}
		}
		b.WriteByte('\n')
	}
	if len(all) < 2 {
		return
	}
	struck := make([][]secrets.Finding, len(all))
	for _, f := range known.Find(b.String(), 0) {
		for i, text := range all {
			from, to := max(f.Start, at[i]), min(f.End, at[i]+len(*text))
			if from < to {
				struck[i] = append(struck[i], secrets.Finding{Start: from - at[i], End: to - at[i], Rule: f.Rule})
			}
		}
	}
	for i, found := range struck {
		if len(found) > 0 {
			*all[i] = secrets.StrikeOut(*all[i], found)
		}
	}
}

// unsaid takes secrets out of what a service said is wrong, or what it calls itself: it
// knows its key, and people, clients and logs get to see this.
func unsaid(known *secrets.Known, a *model.Answer, err error) {
	if a != nil {
		a.Model = plain(known, a.Model)
	}
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		return
	}
	e.Message = plain(known, e.Message)
	if e.Err != nil && has(known, e.Err.Error()) {
		e.Err = nil
	}
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
