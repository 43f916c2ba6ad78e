package dialect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// field is one field of a pydantic model.
type field struct {
	name string
	typ  string // string, number, integer, boolean, strings for an object of them; [] before it for a list, ? after it for an optional
	doc  string
	def  string // JSON default; empty: required
	lax  bool   // a float as arguments are admitted; see laxFloats
}

// model writes a class the way pydantic v2 writes its schema: keys in
// alphabetical order at every level, properties in order of declaration.
func model(title, doc string, fields []field) json.RawMessage {
	var required []string
	var props ordered
	for _, f := range fields {
		props = append(props, pair{f.name, f.property()})
		if f.def == "" {
			required = append(required, f.name)
		}
	}
	o := ordered{{"description", doc}, {"properties", props}}
	if required != nil {
		o = append(o, pair{"required", required})
	}
	return mustJSON(append(o, pair{"title", title}, pair{"type", "object"}))
}

func (f field) property() ordered {
	var o ordered
	base, optional := strings.CutSuffix(f.typ, "?")
	if optional {
		o = append(o, pair{"anyOf", []ordered{{{"type", base}}, {{"type", "null"}}}})
	}
	if f.def != "" {
		o = append(o, pair{"default", json.RawMessage(f.def)})
	}
	o = append(o, pair{"description", f.doc})
	item, list := strings.CutPrefix(base, "[]")
	if f.lax && !list {
		return append(ordered{{"anyOf", laxNumber()}}, append(o, pair{"title", fieldTitle(f.name)})...)
	}
	if list {
		items := ordered{{"type", item}}
		if f.lax {
			items = ordered{{"anyOf", laxNumber()}}
		}
		if item == "strings" {
			items = ordered{{"additionalProperties", ordered{{"type", "string"}}}, {"type", "object"}}
		}
		o = append(o, pair{"items", items})
		base = "array"
	}
	o = append(o, pair{"title", fieldTitle(f.name)})
	if !optional {
		o = append(o, pair{"type", base})
	}
	return o
}

// fieldTitle is pydantic's: from_unit becomes From Unit.
func fieldTitle(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		r := []rune(w)
		r[0] = unicode.ToUpper(r[0])
		words[i] = string(r)
	}
	return strings.Join(words, " ")
}

// className is the model's: evaluate_expression becomes EvaluateExpression.
func className(tool string) string {
	return strings.ReplaceAll(fieldTitle(tool), " ", "")
}

// ordered is a JSON object that keeps the order of its keys.
type ordered []pair

type pair struct {
	key   string
	value any
}

// MarshalJSON writes the pairs in order, without escaping what is not HTML here.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range slices.All(o) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(mustJSON(p.key))
		b.WriteByte(':')
		b.Write(mustJSON(p.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// mustJSON writes values made of strings, lists and ordered objects only,
// which cannot fail.
func mustJSON(v any) json.RawMessage {
	text, err := jsontext.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
