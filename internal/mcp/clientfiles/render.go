package clientfiles

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// style is how a text is laid out.
type style struct {
	unit string // one step of indentation
	eol  string
	flat bool // everything on one line
}

// quote writes a text as JSON does, which TOML and YAML read as well. Letters
// stay letters; what cannot be seen is escaped.
func quote(text string) string {
	var out strings.Builder
	for _, r := range string(jsontext.Quote(text)) {
		// JSON takes these as they are; YAML and TOML do not take them all.
		if r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// json writes a value, whose first line begins where the writing stands and
// whose other lines begin with indent.
func (s style) json(v value, indent string) string {
	switch v.kind {
	case kindNull:
		return "null"
	case kindText, kindDate:
		return quote(v.text)
	case kindList:
		return s.list(v, indent)
	case kindTable:
		return s.object(v, indent)
	case kindBool, kindNumber:
	}
	return v.text
}

func (s style) list(v value, indent string) string {
	flat := style{flat: true}
	simple := true
	var parts []string
	for _, e := range v.list {
		simple = simple && e.kind != kindTable && e.kind != kindList
		parts = append(parts, flat.json(e, ""))
	}
	if s.flat || simple {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	inner := indent + s.unit
	var b strings.Builder
	b.WriteString("[")
	for i, e := range v.list {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(s.eol + inner + s.json(e, inner))
	}
	b.WriteString(s.eol + indent + "]")
	return b.String()
}

func (s style) object(v value, indent string) string {
	if len(v.fields) == 0 {
		return "{}"
	}
	inner := indent + s.unit
	var b strings.Builder
	b.WriteString("{")
	for i, f := range v.fields {
		if i > 0 {
			b.WriteString(",")
		}
		switch {
		case !s.flat:
			b.WriteString(s.eol + inner)
		case i > 0:
			b.WriteString(" ")
		}
		b.WriteString(quote(f.name) + ": " + s.json(f.value, inner))
	}
	if !s.flat {
		b.WriteString(s.eol + indent)
	}
	b.WriteString("}")
	return b.String()
}

// tomlTableText writes a table with its header, its tables below it inline.
func tomlTableText(path []string, v value, eol string) string {
	var names []string
	for _, p := range path {
		names = append(names, tomlKeyText(p))
	}
	var b strings.Builder
	b.WriteString("[" + strings.Join(names, ".") + "]")
	for _, f := range v.fields {
		b.WriteString(eol + tomlKeyText(f.name) + " = " + tomlText(f.value))
	}
	return b.String()
}

func tomlText(v value) string {
	switch v.kind {
	case kindText:
		return quote(v.text)
	case kindList:
		var parts []string
		for _, e := range v.list {
			parts = append(parts, tomlText(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case kindTable:
		if len(v.fields) == 0 {
			return "{}"
		}
		var parts []string
		for _, f := range v.fields {
			parts = append(parts, tomlKeyText(f.name)+" = "+tomlText(f.value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case kindNull, kindBool, kindNumber, kindDate:
	}
	return v.text
}

func tomlKeyText(name string) string {
	bare := name != ""
	for i := range len(name) {
		c := name[i]
		bare = bare && (c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-')
	}
	if bare {
		return name
	}
	return quote(name)
}

// yamlLines writes the fields of a table, one a line; what is deeper stands in
// the flow style, which is JSON.
func yamlLines(v value, indent, unit string) []string {
	flat := style{flat: true}
	var lines []string
	for _, f := range v.fields {
		switch {
		case f.value.kind == kindTable && len(f.value.fields) > 0:
			lines = append(lines, indent+yamlKeyText(f.name)+":")
			lines = append(lines, yamlLines(f.value, indent+unit, unit)...)
		case f.value.kind == kindList && len(f.value.list) > 0:
			lines = append(lines, indent+yamlKeyText(f.name)+":")
			for _, e := range f.value.list {
				lines = append(lines, indent+unit+"- "+flat.json(e, ""))
			}
		default:
			lines = append(lines, indent+yamlKeyText(f.name)+": "+flat.json(f.value, ""))
		}
	}
	return lines
}

// yamlKeyText quotes whatever YAML could read as something else than a text.
func yamlKeyText(name string) string {
	plain := name != ""
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		plain = plain && (letter || i > 0 && (c >= '0' && c <= '9' || c == '-'))
	}
	switch strings.ToLower(name) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		plain = false
	}
	if plain {
		return name
	}
	return quote(name)
}
