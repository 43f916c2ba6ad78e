package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// Bounds on one document, whatever it says.
const (
	maxText   = 32 << 20  // bytes of one file
	maxDepth  = 256       // nesting
	maxValues = 4_000_000 // values of one file
)

var (
	errDepth  = fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	errValues = fmt.Errorf("it has more than %d values", maxValues)
)

// parseJSON reads a JSON text into a tree. Examples are left out while reading: they
// are up to half of a document, and no tool needs them. The strings of the tree are
// parts of one copy of the text.
func parseJSON(text []byte) (any, error) {
	p := parser{text: string(text)}
	p.space()
	v, err := p.value(0, "")
	if err == nil {
		p.space()
		if p.at < len(p.text) {
			err = errors.New("there is more behind the end of the document")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("at byte %d: %w", p.at, err)
	}
	return v, nil
}

type parser struct {
	text   string
	at     int
	values int
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

var (
	errJSON = errors.New("this is not JSON")
	errEnds = errors.New("the document ends too early")
)

// value reads the value of a member named under.
func (p *parser) value(depth int, under string) (any, error) {
	if p.values++; p.values > maxValues {
		return nil, errValues
	}
	if depth > maxDepth {
		return nil, errDepth
	}
	if p.at >= len(p.text) {
		return nil, errEnds
	}
	switch c := p.text[p.at]; c {
	case '{':
		return p.object(depth, under)
	case '[':
		return p.array(depth)
	case '"':
		return p.string()
	case 't':
		return true, p.word("true")
	case 'f':
		return false, p.word("false")
	case 'n':
		return nil, p.word("null")
	default:
		return p.number()
	}
}

func (p *parser) word(w string) error {
	if len(p.text)-p.at < len(w) || p.text[p.at:p.at+len(w)] != w {
		return errJSON
	}
	p.at += len(w)
	return nil
}

func (p *parser) number() (any, error) {
	from := p.at
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			p.at++
			continue
		}
		break
	}
	if n := p.text[from:p.at]; n != "" && json.Valid([]byte(n)) {
		return json.Number(n), nil
	}
	p.at = from
	return nil, errJSON
}

func (p *parser) string() (string, error) {
	end, escaped, closed := jsontext.ScanString(p.text, p.at)
	if !closed {
		return "", errors.New("a string is not closed")
	}
	s := p.text[p.at+1 : end-1]
	if escaped || !utf8.ValidString(s) {
		s, _ = jsontext.Unescape(s) // an escape that means nothing stays as it is written
	}
	p.at = end
	return s, nil
}

func (p *parser) array(depth int) (any, error) {
	list := []any{}
	p.at++
	for {
		p.space()
		if p.at < len(p.text) && p.text[p.at] == ']' && len(list) == 0 {
			p.at++
			return list, nil
		}
		v, err := p.value(depth+1, "")
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if done, err := p.next(']'); done || err != nil {
			return list, err
		}
	}
}

// next is behind the comma, or behind the end.
func (p *parser) next(end byte) (done bool, err error) {
	p.space()
	if p.at >= len(p.text) {
		return false, errEnds
	}
	switch p.text[p.at] {
	case ',':
		p.at++
		p.space()
		return false, nil
	case end:
		p.at++
		return true, nil
	}
	return false, errJSON
}

func (p *parser) object(depth int, under string) (any, error) {
	o := &Object{}
	p.at++
	p.space()
	if p.at < len(p.text) && p.text[p.at] == '}' {
		p.at++
		return o, nil
	}
	names := hasNames(under)
	for {
		if p.at >= len(p.text) {
			return nil, errEnds
		}
		if p.text[p.at] != '"' {
			return nil, errJSON
		}
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		p.space()
		if p.at >= len(p.text) || p.text[p.at] != ':' {
			return nil, errJSON
		}
		p.at++
		p.space()
		v, err := p.value(depth+1, key)
		if err != nil {
			return nil, err
		}
		if names || key != "example" && key != "examples" {
			o.Members = append(o.Members, Member{key, v})
		}
		if done, err := p.next('}'); done || err != nil {
			if cap(o.Members) > len(o.Members)+2 {
				o.Members = append(make([]Member, 0, len(o.Members)), o.Members...)
			}
			return o, err
		}
	}
}

// hasNames reports whether the members below a key are names that an author chose, or
// values: an "example" there is not a keyword.
func hasNames(key string) bool {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "schemas", "parameters", "responses", "requestBodies", "headers",
		"securitySchemes", "securityDefinitions", "paths", "pathItems", "variables", "encoding", "content", "default", "const", "enum",
		"dependentSchemas", "dependentRequired", "callbacks", "links", "scopes":
		return true
	}
	return false
}
