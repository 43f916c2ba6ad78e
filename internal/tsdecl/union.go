package tsdecl

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// union is one of several types. Of any and another one any is left.
func union(list []typed) typed {
	var out []typed
	for _, t := range list {
		if t.text == "any" {
			return t
		}
		if t.text != "never" && !slices.ContainsFunc(out, func(o typed) bool { return o.text == t.text }) {
			out = append(out, t)
		}
	}
	return join(out, " | ", "never")
}

// meet is all of several types at once.
func meet(list []typed) typed {
	var out []typed
	for _, t := range list {
		if t.text == "any" || slices.ContainsFunc(out, func(o typed) bool { return o.text == t.text }) {
			continue
		}
		if t.text == "never" {
			return t
		}
		out = append(out, t)
	}
	return join(out, " & ", "any")
}

func join(list []typed, sign, none string) typed {
	switch len(list) {
	case 0:
		return plain(none)
	case 1:
		return list[0]
	}
	var texts, names []string
	lines := false
	for _, t := range list {
		lines = lines || t.lines
		names = append(names, t.names...)
		if sign == " & " {
			texts = append(texts, t.tight())
		} else {
			texts = append(texts, t.text)
		}
	}
	return typed{text: strings.Join(texts, sign), loose: true, lines: lines, names: names}
}

// enum lists values, or says only what they are if they are many.
func (w *writer) enum(n node, list []json.RawMessage) typed {
	if len(list) <= maxEnum && (w.d.depth > 1 || len(list) <= 12) {
		return w.values(list)
	}
	var kinds []typed
	for _, v := range list {
		switch v[0] {
		case '"':
			kinds = append(kinds, plain("string"))
		case 't', 'f':
			kinds = append(kinds, plain("boolean"))
		case 'n':
			kinds = append(kinds, plain("null"))
		case '{', '[':
			kinds = append(kinds, plain("any"))
		default:
			kinds = append(kinds, plain("number"))
		}
	}
	return union(kinds)
}

func (w *writer) values(list []json.RawMessage) typed {
	var either []typed
	for _, v := range list {
		t := w.value(v)
		w.spent += len(t.text)
		either = append(either, t)
	}
	return union(either)
}

// value is the type of one value.
func (w *writer) value(v json.RawMessage) typed {
	switch v[0] {
	case '"':
		s, ok := jsontext.Unquote(string(v))
		if !ok || len(s) > 200 {
			return plain("string")
		}
		return plain(quote(s))
	case 't', 'f', 'n':
		return plain(string(v))
	case '{':
		return plain("Record<string, any>")
	case '[':
		return plain("any[]")
	}
	if f, err := strconv.ParseFloat(string(v), 64); err != nil || len(v) > 20 || f == 0 { // -0 and 0e9 are no literal types
		if string(v) != "0" {
			return plain("number")
		}
	}
	return plain(string(v))
}
