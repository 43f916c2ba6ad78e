package mcphub

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
)

// visible is what a server says of a tool, with what nobody can see written out.
// A person who approved it saw it so, and a model is to see the same.
func visible(s string) string { return text.ShowForeign(strings.ReplaceAll(s, "\r\n", "\n")) }

// visibleIn does the same to every text of a definition or a schema that only
// tells something, such as a title, a description or a word that no standard
// knows. Names and values of arguments are the server's own and stay as they are.
func visibleIn(value []byte) json.RawMessage {
	escaped := slices.ContainsFunc([]string{`\u`, `\r`, `\b`, `\f`}, func(code string) bool { return bytes.Contains(value, []byte(code)) })
	if !escaped && visible(string(value)) == string(value) || !json.Valid(value) {
		return value
	}
	if out, changed := appendVisible(nil, value, false); changed {
		return out
	}
	return value
}

// appendVisible writes a value anew. The members of names have names that the
// server chose, and are schemas.
func appendVisible(dst, value []byte, names bool) (out []byte, changed bool) {
	switch {
	case len(value) > 0 && value[0] == '{':
		dst = append(dst, '{')
		comma := ""
		err := jsontext.Members(value, func(m jsontext.Member) bool {
			dst = append(append(append(dst, comma...), m.Name...), ':')
			comma = ","
			said, isText := jsontext.Unquote([]byte(m.Value))
			inside := false
			switch {
			case !names && isValue(m.Key), isText && names:
				dst = append(dst, m.Value...)
			case isText:
				if inside = visible(said) != said; inside {
					dst = jsontext.AppendString(dst, visible(said))
				} else {
					dst = append(dst, m.Value...)
				}
			default:
				dst, inside = appendVisible(dst, m.Value, !names && namesArguments(m.Key))
			}
			changed = changed || inside
			return true
		})
		return append(dst, '}'), changed && err == nil
	case len(value) > 0 && value[0] == '[':
		dst = append(dst, '[')
		for i := jsontext.SkipSpace(value, 1); i < len(value) && value[i] != ']'; i = jsontext.SkipSpace(value, i) {
			if value[i] == ',' {
				dst = append(dst, ',')
				i++
				continue
			}
			end := jsontext.ValueEnd(value, i)
			inside := false
			dst, inside = appendVisible(dst, value[i:end], false)
			changed = changed || inside
			i = end
		}
		return append(dst, ']'), changed
	}
	return append(dst, value...), false
}

// isValue reports whether what a keyword says is compared, looked up or handed
// on, and not only read.
func isValue(keyword string) bool {
	switch keyword {
	case "const", "default", "enum", "examples", "pattern", "type", "name", "$ref", "$id", "$schema", "$anchor",
		"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "x-mcp-header", "_meta", "icons":
		return true
	}
	return false
}

// namesArguments reports whether the members of what a keyword says have names
// that the server chose.
func namesArguments(keyword string) bool {
	switch keyword {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return true
	}
	return false
}
