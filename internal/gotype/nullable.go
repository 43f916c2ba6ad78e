package gotype

import (
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// nullable writes "this or null" as anyOf of the two, at every depth, as pydantic
// and zod write it. The library writes a list of types, which means the same and
// which some clients cannot read: OpenVoiceOS' adapter for MCP then loads no tool at all.
func nullable(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	for _, p := range s.Properties {
		nullable(p)
	}
	nullable(s.Items)
	nullable(s.AdditionalProperties)
	if len(s.Types) != 2 || !slices.Contains(s.Types, "null") {
		return
	}
	// What says something about the value goes with its type; what is told of the
	// property stays where readers look for it.
	value := *s
	value.Types, value.Description, value.Default = nil, "", nil
	value.Type = s.Types[0]
	if value.Type == "null" {
		value.Type = s.Types[1]
	}
	value.Enum = slices.DeleteFunc(slices.Clone(s.Enum), func(v any) bool { return v == nil })
	if len(value.Enum) == 0 {
		value.Enum = nil
	}
	*s = jsonschema.Schema{
		Description: s.Description, Default: s.Default,
		AnyOf: []*jsonschema.Schema{&value, {Type: "null"}},
	}
}
