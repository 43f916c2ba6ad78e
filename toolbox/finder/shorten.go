package finder

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// signature is a tool's arguments in short, required ones first, so that a
// plain call needs no look at the schema: "path: string, limit?: integer".
func signature(input json.RawMessage) string {
	s := readInput(input)
	names := slices.Sorted(maps.Keys(s.Properties))
	required := func(name string) bool { return slices.Contains(s.Required, name) }
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case required(a) == required(b):
			return 0
		case required(a):
			return -1
		}
		return 1
	})
	var parts []string
	for _, name := range names {
		part := name
		if !required(name) {
			part += "?"
		}
		if kind := readProperty(s.Properties[name]).typeName(); kind != "" {
			part += ": " + kind
		}
		parts = append(parts, part)
	}
	return text.ClipSentence(strings.Join(parts, ", "), maxArguments)
}

// typeName is what a property may be, but null.
func (p *property) typeName() string {
	var either []json.RawMessage
	if p.Type != nil || json.Unmarshal(p.AnyOf, &either) != nil {
		return typeName(p.Type)
	}
	var kinds []string
	for _, one := range either {
		kind := typeName(readProperty(one).Type)
		if kind == "" {
			return "" // it may be more than can be said in short
		}
		if kind != "null" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, "|")
}

// typeName is the type word of a schema, or all of them but null.
func typeName(text json.RawMessage) string {
	var one string
	if json.Unmarshal(text, &one) == nil {
		return one
	}
	var many []string
	if json.Unmarshal(text, &many) != nil {
		return ""
	}
	return strings.Join(slices.DeleteFunc(many, func(t string) bool { return t == "null" }), "|")
}
