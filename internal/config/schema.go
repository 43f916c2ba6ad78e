package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
)

// Schema writes a JSON Schema for editors. It accepts what Load accepts in a file, and more only where a schema cannot say
// it: it does not know the bounds of durations and of sizes with units, nor the spellings of numbers that are refused. The
// same type gives the same bytes.
func Schema[T any](defaults T) ([]byte, error) {
	value := reflect.ValueOf(&defaults).Elem()
	root, err := documented(value)
	if err != nil {
		return nil, err
	}
	schema := schemaOf(root, value)
	schema.Dialect = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = "Toolcrib settings"
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(schema); err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	return out.Bytes(), nil
}

// schemaNode holds the keywords that are used here, in the order they are written.
type schemaNode struct {
	Dialect     string                 `json:"$schema,omitempty"`
	Title       string                 `json:"title,omitempty"`
	Description string                 `json:"description,omitempty"`
	Type        typeWord               `json:"type,omitempty"`
	Enum        []string               `json:"enum,omitempty"`
	Const       json.RawMessage        `json:"const,omitempty"`
	Minimum     json.RawMessage        `json:"minimum,omitempty"`
	Maximum     json.RawMessage        `json:"maximum,omitempty"`
	Pattern     string                 `json:"pattern,omitempty"`
	AnyOf       []*schemaNode          `json:"anyOf,omitempty"`
	Items       *schemaNode            `json:"items,omitempty"`
	Names       *schemaNames           `json:"propertyNames,omitempty"`
	Properties  map[string]*schemaNode `json:"properties,omitempty"`
	Additional  *additional            `json:"additionalProperties,omitempty"`
	Default     any                    `json:"default,omitempty"`
}

// schemaNames bounds the names of map entries.
type schemaNames struct {
	MinLength int `json:"minLength"`
	MaxLength int `json:"maxLength"`
}

// typeWord is one type or several.
type typeWord []string

// MarshalJSON writes a single type without brackets.
func (t typeWord) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// additional is the schema of unnamed properties, or false.
type additional struct{ schema *schemaNode }

// MarshalJSON writes false where there is no schema.
func (a *additional) MarshalJSON() ([]byte, error) {
	if a.schema == nil {
		return []byte("false"), nil
	}
	return json.Marshal(a.schema)
}

// schemaOf describes a field; v is its default, invalid where there is none.
func schemaOf(f *field, v reflect.Value) *schemaNode {
	s := &schemaNode{Description: f.doc}
	if f.name == "" {
		s.Description = "" // an element has the words of its container
	}
	switch f.kind {
	case kindBlock, kindOptional:
		standard := map[*field]reflect.Value{}
		if v.IsValid() { // of an absent block there are no defaults
			standard = maps.Collect(f.settings(v))
		}
		s.Type = typeWord{"object", "null"}
		s.Additional = &additional{}
		s.Properties = map[string]*schemaNode{}
		for _, member := range f.fields {
			s.Properties[member.name] = schemaOf(member, standard[member])
		}
		return s
	case kindMap:
		s.Type = typeWord{"object", "null"}
		s.Names = &schemaNames{MinLength: 1, MaxLength: maxName}
		s.Additional = &additional{schemaOf(f.elem, reflect.Value{})}
	case kindList:
		s.Type = typeWord{"array"}
		s.Items = schemaOf(f.elem, reflect.Value{})
	default:
		scalarSchema(s, f)
	}
	if v.IsValid() && !f.innermost().holdsSecret() {
		s.Default = fileValue(f, v)
	}
	return s
}

// holdsSecret reports whether a field or anything below it must not be printed.
func (f *field) holdsSecret() bool {
	found := f.secret
	f.walk(func(member *field) { found = found || member.secret })
	return found
}

func scalarSchema(s *schemaNode, f *field) {
	switch f.kind {
	case kindBool:
		s.Type = typeWord{"boolean"}
	case kindInt, kindUint:
		s.Type = typeWord{"integer"}
		low, high := widthBounds(f)
		if f.low.IsValid() {
			low = f.low
		}
		if f.high.IsValid() {
			high = f.high
		}
		s.Minimum, s.Maximum = numberBound(f, low), numberBound(f, high)
	case kindFloat:
		s.Type = typeWord{"number"}
		s.Minimum, s.Maximum = numberBound(f, f.low), numberBound(f, f.high)
	case kindText:
		s.Type, s.Enum = typeWord{"string"}, f.enum
	case kindDuration:
		// A plain 0 needs no unit.
		s.AnyOf = []*schemaNode{
			{Type: typeWord{"string"}, Pattern: `^\s*(0|([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h|d))+)\s*$`},
			{Const: json.RawMessage("0")},
		}
	case kindBytes:
		// minimum and maximum bind the plain number, pattern the text.
		s.Type = typeWord{"integer", "string"}
		s.Pattern = `^\s*[0-9][0-9_]*(\.[0-9]+)? *([kKmMgGtTpP]?[bB]|[kKmMgGtTpP][iI][bB])?\s*$`
		s.Minimum, s.Maximum = json.RawMessage("0"), byteBound(f.high)
		if f.low.IsValid() {
			s.Minimum = byteBound(f.low)
		}
	}
}

// widthBounds gives the bounds that follow from the size of an integer type; none where they mean nothing to a person.
func widthBounds(f *field) (low, high reflect.Value) {
	bits := f.typ.Bits()
	if f.kind == kindUint {
		low = reflect.New(f.typ).Elem()
	}
	if bits > 32 {
		return low, high
	}
	high = reflect.New(f.typ).Elem()
	if f.kind == kindUint {
		high.SetUint(1<<bits - 1)
		return low, high
	}
	low = reflect.New(f.typ).Elem()
	low.SetInt(-1 << (bits - 1))
	high.SetInt(1<<(bits-1) - 1)
	return low, high
}

func numberBound(f *field, v reflect.Value) json.RawMessage {
	if !v.IsValid() {
		return nil
	}
	return json.RawMessage(f.format(v))
}

// byteBound writes a size as a plain number, since that is what the bounds of a schema are compared with.
func byteBound(v reflect.Value) json.RawMessage {
	if !v.IsValid() {
		return nil
	}
	return json.RawMessage(fmt.Sprint(v.Int()))
}

// fileValue gives a default as it would stand in a file. An absent optional block is left out, as an empty one would not be
// the same.
func fileValue(f *field, v reflect.Value) any {
	switch f.kind {
	case kindBlock, kindOptional:
		members := map[string]any{}
		for member, value := range f.settings(v) {
			if member.kind != kindOptional || !value.IsNil() {
				members[member.name] = fileValue(member, value)
			}
		}
		return members
	case kindList:
		items := make([]any, v.Len())
		for i := range items {
			items[i] = fileValue(f.elem, v.Index(i))
		}
		return items
	case kindMap:
		entries := map[string]any{}
		for _, name := range entryNames(v) {
			entry, _ := entryOf(f, v, name)
			entries[name] = fileValue(f.elem, entry)
		}
		return entries
	case kindText, kindDuration:
		return f.format(v)
	case kindBytes:
		if text := f.format(v); text[len(text)-1] > '9' {
			return text // it has a unit
		}
	}
	return json.RawMessage(f.format(v)) // bools and numbers are written alike in YAML and JSON
}
