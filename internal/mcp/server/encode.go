package server

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// object is a JSON object that is written member by member. What is text in it
// already goes in byte for byte.
type object struct{ buf []byte }

func (o *object) key(name string) {
	if o.buf == nil {
		o.buf = make([]byte, 0, 256)
	}
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
	o.buf = append(jsontext.AppendString(o.buf, name), ':')
}

func (o *object) raw(name string, value []byte) {
	o.key(name)
	o.buf = append(o.buf, value...)
}

func (o *object) text(name, value string) {
	o.key(name)
	o.buf = jsontext.AppendString(o.buf, value)
}

func (o *object) flag(name string, value bool) {
	o.key(name)
	if value {
		o.buf = append(o.buf, "true"...)
	} else {
		o.buf = append(o.buf, "false"...)
	}
}

// rest writes the members of another object that are not left out, in the order
// of their names.
func (o *object) rest(members map[string]json.RawMessage, but ...string) {
	if len(members) == 0 { // nearly always
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(but, name) {
			o.raw(name, members[name])
		}
	}
}

func (o *object) end() []byte {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	}
	return append(o.buf, '}')
}

// objectMembers reads an object; nil if it is none.
func objectMembers(text json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	if len(text) == 0 || json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

// oneLine takes the space out that stands between the parts of a JSON text, if there
// are line ends among it: what is one line stays as it was written.
func oneLine(text json.RawMessage) json.RawMessage {
	if !bytes.ContainsAny(text, "\r\n") {
		return text
	}
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return text
	}
	return out.Bytes()
}

// jsonText reads a string out of valid JSON; ok is false if it is something else.
func jsonText(text json.RawMessage) (s string, ok bool) {
	if len(text) < 2 || text[0] != '"' {
		return "", false
	}
	return jsontext.Unquote([]byte(text))
}
