package spec

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// Object is a JSON object with its members in the order of the document: models read
// properties in the order in which an author wrote them. It is a list and no map
// because a large document has hundreds of thousands of small objects.
type Object struct {
	Members []Member
	places  map[string]int // of the members of a large object, made when one is looked for
}

// large is from how many members on an object is looked up by a map: a document can have
// hundreds of thousands of schemas, and as many references to them.
const large = 32

// Member is one name and value. A value is an *Object, a []any, a string, a
// json.Number, a bool or nil.
type Member struct {
	Key   string
	Value any
}

// Get finds a member; of several with one name the last, as encoding/json does.
func (o *Object) Get(key string) (any, bool) {
	if o == nil {
		return nil, false
	}
	if i := o.place(key); i >= 0 {
		return o.Members[i].Value, true
	}
	return nil, false
}

// place is where a member stands, -1 if there is none.
func (o *Object) place(key string) int {
	if len(o.Members) < large {
		for i, m := range slices.Backward(o.Members) {
			if m.Key == key {
				return i
			}
		}
		return -1
	}
	if o.places == nil {
		o.places = make(map[string]int, len(o.Members))
		for i, m := range o.Members {
			o.places[m.Key] = i
		}
	}
	if i, ok := o.places[key]; ok {
		return i
	}
	return -1
}

// Set puts a member at the end, or replaces it where it stands.
func (o *Object) Set(key string, value any) {
	if i := o.place(key); i >= 0 {
		o.Members[i].Value = value
		return
	}
	o.add(key, value)
}

// add puts a member at the end.
func (o *Object) add(key string, value any) {
	o.Members = append(o.Members, Member{key, value})
	if o.places != nil {
		o.places[key] = len(o.Members) - 1
	}
}

// Len counts the members.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.Members)
}

// last puts a member at the end, wherever it was.
func (o *Object) last(key string, value any) {
	o.Members = slices.DeleteFunc(o.Members, func(m Member) bool { return m.Key == key })
	o.places = nil
	o.add(key, value)
}

// without is a copy that lacks a member.
func (o *Object) without(key string) *Object {
	out := &Object{}
	for _, m := range o.Members {
		if m.Key != key {
			out.Members = append(out.Members, m)
		}
	}
	return out
}

// object is a member that is an object, or nil.
func (o *Object) object(key string) *Object {
	v, _ := o.Get(key)
	child, _ := v.(*Object)
	return child
}

func (o *Object) list(key string) []any {
	v, _ := o.Get(key)
	l, _ := v.([]any)
	return l
}

// text is a member that is a string, or a number or bool in its place.
func (o *Object) text(key string) string {
	v, _ := o.Get(key)
	return textOf(v)
}

func (o *Object) flag(key string) bool {
	v, _ := o.Get(key)
	b, ok := v.(bool)
	return ok && b || v == "true"
}

func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// obj makes an object of names and values in turn.
func obj(pairs ...any) *Object {
	o := &Object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Members = append(o.Members, Member{pairs[i].(string), pairs[i+1]})
	}
	return o
}

// written is a value as JSON, in as much room as it takes.
func (d *Document) written(v any) []byte {
	d.scratch = AppendJSON(d.scratch[:0], v)
	return bytes.Clone(d.scratch)
}

// AppendJSON writes a tree as JSON.
func AppendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case *Object:
		dst = append(dst, '{')
		for i, m := range v.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsontext.AppendString(dst, m.Key), ':')
			dst = AppendJSON(dst, m.Value)
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, e)
		}
		return append(dst, ']')
	case string:
		return jsontext.AppendString(dst, v)
	case json.Number:
		return append(dst, v...)
	case bool:
		return strconv.AppendBool(dst, v)
	}
	return append(dst, "null"...)
}
