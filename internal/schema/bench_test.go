package schema

import (
	"bytes"
	"encoding/json"
	"testing"
)

// nineSchema is the schema of a tool with nine arguments, in the style of those that a Go struct gives.
const nineSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["query", "limit", "mode"],
  "properties": {
    "query":     {"type": "string", "description": "What to look for.", "minLength": 1, "maxLength": 500},
    "limit":     {"type": "integer", "description": "How many results at most.", "minimum": 1, "maximum": 100},
    "offset":    {"type": "integer", "minimum": 0, "default": 0},
    "threshold": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
    "recursive": {"type": "boolean", "default": false},
    "mode":      {"type": "string", "enum": ["exact", "prefix", "fuzzy", "regex"]},
    "path":      {"type": "string", "pattern": "^/[a-z0-9/_.-]*$"},
    "tags":      {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 10},
    "options":   {"type": "object", "additionalProperties": false, "properties": {
        "case_sensitive": {"type": "boolean", "default": true},
        "context_lines":  {"type": "integer", "minimum": 0, "maximum": 50, "default": 2},
        "encoding":       {"type": "string", "enum": ["utf-8", "latin-1"]}
    }}
  }
}`

// nineInput gives all nine, in the order in which a model writes them.
const nineInput = `{"query": "error handling in the parser of the configuration files", "limit": 25, "offset": 50, "threshold": 0.75, "recursive": true, ` +
	`"mode": "fuzzy", "path": "/src/internal/schema/parse.go", "tags": ["parser", "errors", "golang", "review"], ` +
	`"options": {"case_sensitive": false, "context_lines": 4, "encoding": "utf-8"}}`

func nine() []byte { return []byte(nineInput) }

func BenchmarkParse(b *testing.B) {
	text := nine()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		d, err := Parse(text, Limits{})
		if err != nil {
			b.Fatal(err)
		}
		d.Release()
	}
}

func BenchmarkCanonical(b *testing.B) {
	d, err := Parse(nine(), Limits{})
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = d.AppendCanonical(buf[:0])
	}
}

// BenchmarkAdmit measures the way of a tool's input: parse, fill in, validate, write. The last row
// only decodes it, by encoding/json.
func BenchmarkAdmit(b *testing.B) {
	s, err := Compile([]byte(nineSchema))
	if err != nil {
		b.Fatal(err)
	}
	inputs := []struct {
		name string
		text []byte
		opt  Options
	}{
		{"all given", nine(), Options{}},
		{"as the core calls it", nine(), Options{Closed: true, PlainInts: true}},
		{"defaults missing", []byte(`{"query": "error handling in the parser", "limit": 25, "mode": "fuzzy", "options": {}}`), Options{}},
		{"lenient", nine(), Options{Lenient: true, Closed: true}},
		{"lenient converting", bytes.Replace(nine(), []byte(`"limit": 25`), []byte(`"limit": "25"`), 1), Options{Lenient: true, Closed: true}},
	}
	for _, in := range inputs {
		b.Run(in.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d, err := Parse(in.text, Limits{})
				if err != nil {
					b.Fatal(err)
				}
				if _, problems := s.Admit(d, in.opt); problems != nil {
					b.Fatal(problems)
				}
				d.Release()
			}
		})
	}
	b.Run("validate only", func(b *testing.B) {
		d, err := Parse(nine(), Limits{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if s.Validate(d) != nil {
				b.Fatal("refused")
			}
		}
	})
	b.Run("decode only", func(b *testing.B) {
		text := nine()
		b.ReportAllocs()
		for b.Loop() {
			var v any
			if err := json.Unmarshal(text, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	text := []byte(nineSchema)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(text); err != nil {
			b.Fatal(err)
		}
	}
}
