package secrets

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// Mark is what stands in the place of a secret.
const Mark = "[redacted]"

// Redact takes the secrets out of a valid JSON text: strings keep what is not
// secret in them, a number that is one becomes a string. It gives the text
// itself if there are none.
func (s *Scanner) Redact(raw json.RawMessage, known *Known) json.RawMessage {
	out, _ := s.RedactFound(raw, known)
	return out
}

// RedactFound is Redact that says by which rules as well. The places are those
// in the text with its escapes resolved.
func (s *Scanner) RedactFound(raw json.RawMessage, known *Known) (json.RawMessage, []Finding) {
	return redactFound(raw, func(flat string) []Finding { return s.Find(flat, known) })
}

// RedactBy takes out of a valid JSON text what find gives for its text with the
// escapes resolved: in order, and none over another.
func RedactBy(raw json.RawMessage, find func(flat string) []Finding) json.RawMessage {
	out, _ := redactFound(raw, find)
	return out
}

// Redact takes the values out of a valid JSON text, and leaves everything alone
// that only looks like a secret: what names and describes things, such as a
// schema, must stay what it is.
func (k *Known) Redact(raw json.RawMessage) json.RawMessage {
	out, _ := redactFound(raw, func(flat string) []Finding { return k.Find(flat, 0) })
	return out
}

func redactFound(raw json.RawMessage, find func(flat string) []Finding) (json.RawMessage, []Finding) {
	flat := flatten(raw)
	all := find(flat)
	if len(all) == 0 {
		return raw, nil
	}
	var names *keyNames // of keys, once one is struck
	out := make([]byte, 0, len(raw))
	found, kept := all, 0 // what is behind, and what of raw is in out
	parts(raw, func(t part) {
		for len(found) > 0 && found[0].End <= t.flatFrom {
			found = found[1:]
		}
		if len(found) == 0 || found[0].Start >= t.flatTo {
			return
		}
		out = append(out, raw[kept:t.from]...)
		kept = t.to
		switch text := flat[t.flatFrom:t.flatTo]; {
		case !t.isString:
			out = literals(out, text, t.flatFrom, found)
		case t.isKey:
			if names == nil {
				names = marked(raw, flat, all)
			}
			out = append(out, jsontext.Quote(names.unique(strike(text, t.flatFrom, found)))...)
		default:
			out = append(out, jsontext.Quote(strike(text, t.flatFrom, found))...)
		}
	})
	return append(out, raw[kept:]...), all
}

// keyNames keeps keys apart that are struck: two of an object must not become one.
type keyNames struct {
	taken map[string]bool
	last  int
}

// marked gives the keys that look as if they were struck, and stay.
func marked(raw []byte, flat string, found []Finding) *keyNames {
	n := &keyNames{taken: map[string]bool{}, last: 1}
	parts(raw, func(t part) {
		for len(found) > 0 && found[0].End <= t.flatFrom {
			found = found[1:]
		}
		touched := len(found) > 0 && found[0].Start < t.flatTo
		if text := flat[t.flatFrom:t.flatTo]; t.isKey && !touched && strings.Contains(text, Mark) {
			n.taken[text] = true
		}
	})
	return n
}

// unique gives a key a name of its own. The number never goes back, so that each
// name that is taken is met once.
func (n *keyNames) unique(text string) string {
	name := text
	for n.taken[name] {
		n.last++
		name = fmt.Sprintf("%s (%d)", text, n.last)
	}
	n.taken[name] = true
	return name
}

// Strike takes the secrets out of a plain text.
func (s *Scanner) Strike(text string, known *Known) string {
	return StrikeOut(text, s.Find(text, known))
}

// StrikeOut takes what was found out of a text.
func StrikeOut(text string, found []Finding) string {
	if len(found) == 0 {
		return text
	}
	return strike(text, 0, found)
}

// strike puts the mark in the place of what was found in a text that begins at
// offset.
func strike(text string, offset int, found []Finding) string {
	var b strings.Builder
	kept := 0
	for _, f := range found {
		from, to := max(f.Start-offset, 0), min(f.End-offset, len(text))
		if from >= len(text) {
			break
		}
		if from < to {
			b.WriteString(text[kept:from])
			b.WriteString(Mark)
			kept = to
		}
	}
	return b.String() + text[kept:]
}

// literals does the same with numbers and names between strings: a touched one
// is replaced as a whole, signs of structure stay.
func literals(out []byte, text string, offset int, found []Finding) []byte {
	for i := 0; i < len(text); {
		from := endOf(text, i, len(text), structure)
		out = append(out, text[i:from]...)
		i = endOf(text, from, len(text), func(c byte) bool { return !structure(c) })
		for len(found) > 0 && found[0].End-offset <= from {
			found = found[1:]
		}
		if from < i && len(found) > 0 && found[0].Start-offset < i {
			out = append(out, `"`+Mark+`"`...)
			continue
		}
		out = append(out, text[from:i]...)
	}
	return out
}

func structure(c byte) bool {
	return strings.IndexByte("{}[]:,", c) >= 0 || space(c)
}
