package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// tree is a JSON value that remembers the order of its members, because the order of properties is part of what a model
// reads.
type tree struct {
	kind    byte // one of { [ " 0 t n: object, array, string, number, boolean, null
	text    string
	members []member
	elems   []*tree
}

type member struct {
	key   string
	value *tree
}

const (
	kindObject = '{'
	kindArray  = '['
	kindString = '"'
	kindNumber = '0'
	kindBool   = 't'
	kindNull   = 'n'
)

// maxNesting bounds how deep a text may be nested: everything here recurses over it.
const maxNesting = 256

var (
	errNesting   = fmt.Errorf("nested deeper than %d levels", maxNesting)
	errDuplicate = errors.New("a key stands twice in one object")
	errTrailing  = errors.New("something follows the value")
)

// parse reads one JSON value. A key that stands twice is refused: two readers could take it differently.
func parse(text []byte) (*tree, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	t, err := parseValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return t, nil
}

func parseValue(dec *json.Decoder, depth int) (*tree, error) {
	if depth > maxNesting {
		return nil, errNesting
	}
	token, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	switch v := token.(type) {
	case string:
		return &tree{kind: kindString, text: v}, nil
	case json.Number:
		return &tree{kind: kindNumber, text: v.String()}, nil
	case bool:
		return &tree{kind: kindBool, text: fmt.Sprint(v)}, nil
	case json.Delim:
		if v == '[' {
			return parseArray(dec, depth)
		}
		return parseObject(dec, depth)
	}
	return &tree{kind: kindNull, text: "null"}, nil
}

func parseArray(dec *json.Decoder, depth int) (*tree, error) {
	t := &tree{kind: kindArray}
	for dec.More() {
		e, err := parseValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		t.elems = append(t.elems, e)
	}
	if _, err := dec.Token(); err != nil { // the closing bracket
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return t, nil
}

func parseObject(dec *json.Decoder, depth int) (*tree, error) {
	t := &tree{kind: kindObject}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		key, ok := token.(string)
		if !ok {
			return nil, errors.New("not JSON: a key is not a string")
		}
		if seen[key] {
			return nil, errDuplicate
		}
		seen[key] = true
		v, err := parseValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		t.members = append(t.members, member{key, v})
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return t, nil
}

// get finds a member, nil if there is none. Only schemas are asked, whose keywords are few.
func (t *tree) get(key string) *tree {
	for i := range t.members {
		if t.members[i].key == key {
			return t.members[i].value
		}
	}
	return nil
}

// set adds a member at the end.
func (t *tree) set(key string, value *tree) { t.members = append(t.members, member{key, value}) }

func (t *tree) is(kind byte) bool { return t != nil && t.kind == kind }

func (t *tree) truth() bool { return t.is(kindBool) && t.text == "true" }

func object() *tree { return &tree{kind: kindObject} }

func text(s string) *tree { return &tree{kind: kindString, text: s} }

func truth(b bool) *tree { return &tree{kind: kindBool, text: fmt.Sprint(b)} }

func list(elems ...*tree) *tree { return &tree{kind: kindArray, elems: elems} }

func texts(list []string) *tree {
	t := &tree{kind: kindArray}
	for _, s := range list {
		t.elems = append(t.elems, text(s))
	}
	return t
}

// append writes the value as compact JSON, with characters as they are where JSON allows it: escapes cost tokens.
func (t *tree) append(dst []byte) []byte {
	switch t.kind {
	case kindObject:
		dst = append(dst, '{')
		for i, m := range t.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsontext.AppendString(dst, m.key)
			dst = append(dst, ':')
			dst = m.value.append(dst)
		}
		return append(dst, '}')
	case kindArray:
		dst = append(dst, '[')
		for i, e := range t.elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.append(dst)
		}
		return append(dst, ']')
	case kindString:
		return jsontext.AppendString(dst, t.text)
	}
	return append(dst, t.text...)
}

func (t *tree) String() string { return string(t.append(nil)) }

// same reports whether two values are equal as JSON values, so that 1 is 1.0. Numbers are compared as machine numbers:
// calling two huge ones equal that are not only ever makes a definition wider.
func same(a, b *tree) bool {
	if a.kind != b.kind || len(a.elems) != len(b.elems) || len(a.members) != len(b.members) {
		return false
	}
	switch a.kind {
	case kindNumber:
		return a.text == b.text || number(a.text) == number(b.text)
	case kindArray:
		return slices.EqualFunc(a.elems, b.elems, same)
	case kindObject:
		others := make(map[string]*tree, len(b.members))
		for _, m := range b.members {
			others[m.key] = m.value
		}
		return !slices.ContainsFunc(a.members, func(m member) bool {
			other, ok := others[m.key]
			return !ok || !same(m.value, other)
		})
	}
	return a.text == b.text
}
