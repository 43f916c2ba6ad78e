package finder

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// clip cuts a text to at most limit characters, at the end of a sentence or
// word where there is one in the last part.
func clip(text string, limit int) string {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	end := 0
	for range limit - 1 { // one for the sign that something is missing
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	head := text[:end]
	if i := strings.LastIndexAny(head, ".!?\n"); i > len(head)*2/3 {
		head = head[:i+1]
	} else if i := strings.LastIndexByte(head, ' '); i > len(head)*2/3 {
		head = head[:i]
	}
	return strings.TrimSpace(head) + "…"
}

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
		if kind := typeName(readProperty(s.Properties[name]).Type); kind != "" {
			part += ": " + kind
		}
		parts = append(parts, part)
	}
	return clip(strings.Join(parts, ", "), maxArguments)
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
