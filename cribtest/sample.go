package cribtest

import (
	"encoding/json"
	"regexp/syntax"
	"strings"
)

// schemaNode is as much of a JSON Schema as making an input takes.
type schemaNode struct {
	Type        any // a word or a list of words
	Description string
	Properties  map[string]schemaNode
	Required    []string
	Items       *schemaNode
	Enum        []json.RawMessage
	Const       json.RawMessage
	Default     json.RawMessage
	Examples    []json.RawMessage
	Minimum     *float64
	Maximum     *float64
	Above       *float64 `json:"exclusiveMinimum"`
	MinLength   int
	MinItems    int
	Pattern     string
	AnyOf       []schemaNode
	OneOf       []schemaNode
	AllOf       []schemaNode
	Ref         string                `json:"$ref"`
	Defs        map[string]schemaNode `json:"$defs"`
}

// readSchema reads what it can; a schema that cannot be read at all is a
// fault that loading the catalog reports.
func readSchema(text json.RawMessage) schemaNode {
	var s schemaNode
	if json.Unmarshal(text, &s) != nil {
		return schemaNode{}
	}
	return s
}

func (s schemaNode) types() []string {
	switch t := s.Type.(type) {
	case string:
		return []string{t}
	case []any:
		var words []string
		for _, w := range t {
			if word, ok := w.(string); ok && word != "null" {
				words = append(words, word)
			}
		}
		return words
	}
	return nil
}

// sampleInput makes an input that fits the schema, as far as one can without
// solving it: the required properties, each with the plainest value.
func sampleInput(schema json.RawMessage) json.RawMessage {
	if len(schema) == 0 {
		return json.RawMessage("{}")
	}
	root := readSchema(schema)
	return sampleValue(root, root, 0)
}

func sampleValue(root, s schemaNode, depth int) json.RawMessage {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok && depth < 8 {
		return sampleValue(root, root.Defs[name], depth+1)
	}
	for _, given := range [][]json.RawMessage{s.Examples, {s.Default}, {s.Const}, s.Enum} {
		if len(given) > 0 && given[0] != nil {
			return given[0]
		}
	}
	types := s.types()
	if len(types) == 0 {
		for _, options := range [][]schemaNode{s.AnyOf, s.OneOf, s.AllOf} {
			if len(options) > 0 && depth < 8 {
				return sampleValue(root, options[0], depth+1)
			}
		}
		if s.Properties == nil {
			return json.RawMessage(`"a"`)
		}
		types = []string{"object"}
	}
	switch types[0] {
	case "string":
		return sampleString(s)
	case "integer", "number":
		return sampleNumber(s)
	case "boolean":
		return json.RawMessage("true")
	case "array":
		items := make([]json.RawMessage, s.MinItems)
		for i := range items {
			items[i] = json.RawMessage(`"a"`)
			if s.Items != nil {
				items[i] = sampleValue(root, *s.Items, depth+1)
			}
		}
		return mustJSON(items)
	case "object":
		object := map[string]json.RawMessage{}
		for _, name := range s.Required {
			if depth < 8 {
				object[name] = sampleValue(root, s.Properties[name], depth+1)
			}
		}
		return mustJSON(object)
	}
	return json.RawMessage("null")
}

func sampleNumber(s schemaNode) json.RawMessage {
	n := 1.0
	switch {
	case s.Minimum != nil && n < *s.Minimum:
		n = *s.Minimum
	case s.Above != nil && n <= *s.Above:
		n = *s.Above + 1
	case s.Maximum != nil && n > *s.Maximum:
		n = *s.Maximum
	}
	return mustJSON(n)
}

func sampleString(s schemaNode) json.RawMessage {
	text := "a"
	if s.Pattern != "" {
		if re, err := syntax.Parse(s.Pattern, syntax.Perl); err == nil {
			text = matching(re.Simplify())
		}
	}
	for text != "" && len(text) < s.MinLength {
		text += text[:min(len(text), s.MinLength-len(text))]
	}
	return mustJSON(text)
}

// matching gives a short text that matches a simplified pattern.
func matching(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		for _, want := range "a0A" { // a plain letter or digit if the class has one
			for i := 0; i+1 < len(re.Rune); i += 2 {
				if re.Rune[i] <= want && want <= re.Rune[i+1] {
					return string(want)
				}
			}
		}
		if len(re.Rune) > 0 {
			return string(re.Rune[0])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpPlus, syntax.OpCapture, syntax.OpAlternate:
		return matching(re.Sub[0])
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(matching(sub))
		}
		return b.String()
	}
	return "" // star, quest, anchors
}

// mustJSON writes values that are JSON by construction.
func mustJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
