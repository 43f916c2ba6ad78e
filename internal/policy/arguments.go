package policy

import (
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/condition"
)

// Conditional reports whether it is a rule with a condition.
func (m *Mention) Conditional() bool { return m.when != "" }

// CheckCondition holds the condition of a rule against the schema of a tool that it
// means: an argument that the tool does not have makes it fail for every call, and a
// rule that takes away then takes everything.
func (m *Mention) CheckCondition(spec *toolcrib.Entry) error {
	if !m.Conditional() {
		return nil
	}
	names := conditionNames()
	names["args"] = argumentsOf(spec.Input)
	if _, err := condition.Compile(m.when, names); err != nil {
		return fmt.Errorf("does not fit the arguments of %s: %w", spec.Name, err)
	}
	return nil
}

// schemaPart is what a schema says of the type of a value, as far as it is plain.
type schemaPart struct {
	Type       json.RawMessage       `json:"type"`
	Properties map[string]schemaPart `json:"properties"`
	Items      json.RawMessage       `json:"items"`
	More       json.RawMessage       `json:"additionalProperties"`

	// Any of these may say more: then nothing is known.
	Ref      json.RawMessage `json:"$ref"`
	AllOf    json.RawMessage `json:"allOf"`
	AnyOf    json.RawMessage `json:"anyOf"`
	OneOf    json.RawMessage `json:"oneOf"`
	If       json.RawMessage `json:"if"`
	Patterns json.RawMessage `json:"patternProperties"`
}

// argumentsOf is the type of the arguments that a schema describes.
func argumentsOf(schema json.RawMessage) condition.Type {
	var part schemaPart
	if json.Unmarshal(schema, &part) != nil || part.Properties == nil {
		return condition.MapOf(condition.Any())
	}
	if !part.plain() {
		return condition.MapOf(condition.Any())
	}
	part.Type = json.RawMessage(`"object"`) // as arguments are, whether it says so or not
	return part.typed()
}

// plain: it says all by itself.
func (p *schemaPart) plain() bool {
	for _, more := range []json.RawMessage{p.Ref, p.AllOf, p.AnyOf, p.OneOf, p.If, p.Patterns} {
		if more != nil {
			return false
		}
	}
	return true
}

// typed is the type that values have. Numbers are of any: those of JSON are whole or
// not as they come.
func (p *schemaPart) typed() condition.Type {
	var name string
	if !p.plain() || json.Unmarshal(p.Type, &name) != nil {
		return condition.Any()
	}
	switch name {
	case "string":
		return condition.Text()
	case "boolean":
		return condition.Truth()
	case "array":
		var items schemaPart
		if json.Unmarshal(p.Items, &items) != nil {
			return condition.ListOf(condition.Any())
		}
		return condition.ListOf(items.typed())
	case "object":
		if len(p.Properties) == 0 {
			return condition.MapOf(condition.Any())
		}
		fields := map[string]condition.Type{}
		for name, part := range p.Properties {
			fields[name] = part.typed()
		}
		return condition.ObjectOf(fields, string(p.More) == "false")
	}
	return condition.Any()
}
