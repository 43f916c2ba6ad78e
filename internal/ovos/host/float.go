package host

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// maxFloats is the size of a value up to which its numbers are looked at.
const maxFloats = 1 << 20

// shape is as much of an output schema as says where a number is a float.
type shape struct {
	Type                 any                        `json:"type"`
	Properties           map[string]json.RawMessage `json:"properties"`
	AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	Items                json.RawMessage            `json:"items"`
	PrefixItems          []json.RawMessage          `json:"prefixItems"`
	AnyOf                []json.RawMessage          `json:"anyOf"`
	OneOf                []json.RawMessage          `json:"oneOf"`
	AllOf                []json.RawMessage          `json:"allOf"`
	Ref                  string                     `json:"$ref"`
	Defs                 map[string]json.RawMessage `json:"$defs"`
}

// withFloats writes the numbers as floats that the contract says are such. JSON
// does not tell 18446744073709551616 from 1.8446744073709552e+19; a Python host
// does, and can send only the latter. An integer stays one, however large.
func withFloats(value, schema json.RawMessage) json.RawMessage {
	if len(value) > maxFloats || len(schema) == 0 {
		return value
	}
	var root shape
	if json.Unmarshal(schema, &root) != nil {
		return value
	}
	f := floats{defs: root.Defs, read: map[string]shape{}}
	return f.write(bytes.TrimSpace(value), []json.RawMessage{schema}, 0)
}

type floats struct {
	defs map[string]json.RawMessage
	read map[string]shape // by their text
}

// write gives a value as it goes out, where any of the schemas may be its own.
func (f floats) write(value json.RawMessage, schemas []json.RawMessage, depth int) json.RawMessage {
	shapes := f.shapes(schemas)
	if len(value) == 0 || len(shapes) == 0 || depth > 64 {
		return value
	}
	switch c := value[0]; {
	case c == '{' || c == '[':
		return f.inside(value, shapes, depth)
	case c == '-' || c >= '0' && c <= '9':
		if slices.ContainsFunc(shapes, shape.float) {
			return asFloat(value)
		}
	}
	return value
}

// inside writes the members of an object or a list, in their order.
func (f floats) inside(value json.RawMessage, shapes []shape, depth int) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(value))
	open, err := dec.Token()
	if err != nil {
		return value
	}
	out := append(make([]byte, 0, len(value)+16), value[0])
	for i := 0; dec.More(); i++ {
		if i > 0 {
			out = append(out, ',')
		}
		var of []json.RawMessage
		if open == json.Delim('{') {
			key, err := dec.Token()
			name, ok := key.(string)
			if err != nil || !ok {
				return value
			}
			quoted, err := json.Marshal(name)
			if err != nil {
				return value
			}
			out = append(append(out, quoted...), ':')
			of = members(shapes, name)
		} else {
			of = items(shapes, i)
		}
		var member json.RawMessage
		if dec.Decode(&member) != nil {
			return value // what is no JSON is refused elsewhere
		}
		out = append(out, f.write(member, of, depth+1)...)
	}
	return append(out, value[len(value)-1])
}

// shapes reads schemas, with those that they are made of, each once: a schema
// may name itself, or the same one very often.
func (f floats) shapes(schemas []json.RawMessage) []shape {
	var list []shape
	seen := map[string]bool{}
	for todo := slices.Clone(schemas); len(todo) > 0; todo = todo[1:] {
		text := string(todo[0])
		if seen[text] {
			continue
		}
		seen[text] = true
		s, known := f.read[text]
		if !known {
			if json.Unmarshal(todo[0], &s) != nil { // true and false are schemas too
				s = shape{}
			}
			f.read[text] = s
		}
		list = append(list, s)
		todo = slices.Concat(todo, s.AnyOf, s.OneOf, s.AllOf)
		if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok && f.defs[name] != nil {
			todo = append(todo, f.defs[name])
		}
	}
	return list
}

func members(shapes []shape, name string) []json.RawMessage {
	var of []json.RawMessage
	for _, s := range shapes {
		if text, ok := s.Properties[name]; ok {
			of = append(of, text)
		} else if s.AdditionalProperties != nil {
			of = append(of, s.AdditionalProperties)
		}
	}
	return of
}

func items(shapes []shape, i int) []json.RawMessage {
	var of []json.RawMessage
	for _, s := range shapes {
		if i < len(s.PrefixItems) {
			of = append(of, s.PrefixItems[i])
		} else if s.Items != nil {
			of = append(of, s.Items)
		}
	}
	return of
}

// float reports whether numbers of this shape are floats.
func (s shape) float() bool {
	if list, ok := s.Type.([]any); ok {
		return slices.Contains(list, any("number"))
	}
	return s.Type == "number"
}

// asFloat writes an integer that 64 bits do not hold as Python writes floats
// of that size.
func asFloat(number json.RawMessage) json.RawMessage {
	text := string(number)
	if strings.ContainsAny(text, ".eE") || len(text) < 19 {
		return number
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return number
	}
	if _, err := strconv.ParseUint(text, 10, 64); err == nil {
		return number
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return number
	}
	return strconv.AppendFloat(nil, f, 'e', -1, 64)
}
