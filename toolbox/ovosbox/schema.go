package ovosbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
)

// inputSchema is the claim about a tool's arguments. A host that says nothing
// takes anything; whether the rest is a schema is for the catalog to judge.
func (c Config) inputSchema(raw json.RawMessage) (json.RawMessage, error) {
	if isNull(raw) {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	schema, err := c.object(raw)
	if err != nil {
		return nil, err
	}
	if kind, ok := schema["type"]; ok && kind != "object" {
		return nil, errors.New("the schema is not that of an object")
	}
	return c.rewritten(raw, schema, false)
}

// outputSchema is the claim about a tool's output; nil if there is none. Hosts
// write null for a number that is none (NaN, or too large), whatever they claim.
func (c Config) outputSchema(raw json.RawMessage) (json.RawMessage, error) {
	if isNull(raw) {
		return nil, nil
	}
	schema, err := c.object(raw)
	if err != nil {
		return nil, err
	}
	return c.rewritten(raw, schema, true)
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

func (c Config) object(raw json.RawMessage) (map[string]any, error) {
	if len(raw) > c.MaxSchema {
		return nil, fmt.Errorf("the schema has %d bytes; the limit is %d", len(raw), c.MaxSchema)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var schema map[string]any
	if err := dec.Decode(&schema); err != nil {
		return nil, errors.New("the schema is not an object")
	}
	return schema, nil
}

// rewritten is a schema with its words cleaned, and mild about numbers if that
// is wanted. One that needs neither stays as it came, in its order.
func (c Config) rewritten(raw json.RawMessage, schema map[string]any, mild bool) (json.RawMessage, error) {
	if !rewrite(schema, mild) {
		return raw, nil
	}
	return jsontext.Marshal(schema)
}

// rewrite changes a schema in place and reports whether it did. Values that a
// schema only compares with are no schemas.
func rewrite(node any, mild bool) (changed bool) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			changed = rewrite(item, mild) || changed
		}
	case map[string]any:
		for key, value := range node {
			switch given, isText := value.(string); {
			case key == "const" || key == "enum" || key == "default" || key == "examples":
			case isText && (key == "description" || key == "title" || key == "$comment"):
				if clean := text.Clip(visible(given), maxDoc); clean != given {
					node[key], changed = clean, true
				}
			case isText && key == "type" && given == "number" && mild:
				node[key], changed = []any{"number", "null"}, true
			default:
				changed = rewrite(value, mild) || changed
			}
		}
	}
	return changed
}

// takesTimeout reports whether a tool has an argument by which it is told how
// long it may take.
func takesTimeout(input json.RawMessage) bool {
	var schema struct {
		Properties map[string]struct {
			Type  any                  `json:"type"`
			AnyOf []struct{ Type any } `json:"anyOf"`
		} `json:"properties"`
	}
	if json.Unmarshal(input, &schema) != nil {
		return false
	}
	property, ok := schema.Properties["timeout"]
	number := func(kind any) bool { return kind == "integer" || kind == "number" }
	if !ok || number(property.Type) {
		return ok
	}
	return slices.ContainsFunc(property.AnyOf, func(option struct{ Type any }) bool { return number(option.Type) })
}
