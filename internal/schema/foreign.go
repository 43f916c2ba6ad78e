package schema

import (
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Foreign reads the schema of a tool that somebody else checks the calls of. It is always one, whatever the text: what
// breaks the rules of its draft, leads out of the text or unfolds without measure is left out, and told. Patterns of
// JavaScript are understood; a text that one of them takes too long for counts as fitting, or as too complex.
func Foreign(source []byte) (s *Schema, left []*SchemaError) {
	defer func() {
		if p := recover(); p != nil { // whoever wrote it must not end the program
			s, left = anything(), append(left, &SchemaError{Message: "it cannot be read"})
		}
	}()
	d, err := Parse(source, Limits{Bytes: maxSchema})
	if err != nil {
		return anything(), []*SchemaError{{Message: "not a JSON text: " + err.Error()}}
	}
	defer d.Release()
	s = &Schema{doc: d.keep()}
	b := &builder{s: s, d: s.doc, rules: make([]*rule, len(d.nodes)), foreign: true}
	if err := b.compile(); err != nil {
		return anything(), append(b.left, asSchemaError(err))
	}
	for _, e := range b.left {
		s.unsure = s.unsure || concernsAll(e.Pointer)
	}
	return s, b.left
}

func asSchemaError(err error) *SchemaError {
	if e, ok := errors.AsType[*SchemaError](err); ok {
		return e
	}
	return &SchemaError{Message: err.Error()}
}

// concernsAll reports whether what stands at a pointer says which arguments there are, and not only something about one
// of them.
func concernsAll(pointer string) bool {
	keyword, rest, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	switch keyword {
	case "properties":
		return rest == ""
	case "required", "title", "description", "$comment", "default", "examples", "minProperties", "maxProperties":
		return false
	}
	return true
}

// anything is the schema that accepts every value.
func anything() *Schema {
	s, err := Compile([]byte("{}"))
	if err != nil {
		panic(err) // it is a constant
	}
	s.unsure = true
	return s
}

// maxLeft bounds what is told of one schema.
const maxLeft = 16

// leave notes an error as something that is not checked; false: it has to be one.
func (b *builder) leave(err error) bool {
	e, ok := errors.AsType[*SchemaError](err)
	// To say where something stands takes the longer the later it stands, and a schema of nothing but mistakes is none.
	if !b.foreign || !ok || len(b.left) >= maxLeft {
		return false
	}
	b.left = append(b.left, e)
	return true
}

// forget takes back what a keyword that is left out may have said in part.
func (r *rule) forget(key string) {
	switch key {
	case "type":
		r.types, r.order = 0, nil
	case "enum", "const":
		r.enum = nil
	case "items":
		r.array().items, r.array().prefix = nil, nil
	case "maxLength":
		r.text().max = -1
	case "maxItems":
		r.array().max = -1
	case "maxProperties":
		r.object().max = -1
	case "maxContains":
		r.contained().max = -1
	case "pattern":
		r.text().pattern = nil
	case "$ref":
		r.refAt = 0
	case "$dynamicRef", "$recursiveRef":
		r.all = nil
	case "properties", "patternProperties", "additionalProperties":
		// Which members are further ones is not known any more.
		o := r.object()
		o.props, o.patterns, o.partial = nil, nil, true
	}
}

// loosen takes out what could refuse a value because of what was left out. A part that accepts too much makes its
// opposite accept too little.
func (b *builder) loosen() {
	if len(b.left) == 0 {
		return
	}
	for _, r := range b.all {
		r.not, r.one, r.cond = nil, nil, nil
		if r.arr != nil {
			r.arr.contains, r.arr.rest = nil, nil
		}
		if o := r.obj; o != nil {
			o.rest = nil
			if o.partial {
				o.closed, o.extra = false, nil
			}
		}
	}
}

// Passed is the input of a tool whose calls somebody else checks.
type Passed struct {
	Sent  []byte // as it was sent, in canonical form
	Seen  []byte // as a guard is to see it: with the defaults that the tool will take, and whole numbers as such
	Unfit []Problem
}

// Pass gives the arguments of such a tool. With lenient they are converted where that makes them fit: callers count on
// it. What is no object is refused: no protocol has a form for it.
func (s *Schema) Pass(d *Doc, lenient bool, depth int) (Passed, error) {
	if d.Root().Kind() != Object {
		return Passed{}, errors.New("the arguments of a tool must be an object")
	}
	if lenient {
		if better, bad := s.Admit(d, Options{Lenient: true, Apart: true, NoDefaults: true}); len(bad) == 0 {
			if again, err := Parse(better, Limits{Depth: depth}); err == nil {
				defer again.Release()
				d = again
			}
		}
	}
	p := Passed{Sent: d.AppendCanonical(nil)}
	if p.Seen, p.Unfit = s.Admit(d, Options{Closed: true, Apart: true, PlainInts: true}); p.Unfit != nil {
		p.Seen = p.Sent
	}
	if s.unsure {
		p.Unfit = append(p.Unfit, Problem{Rule: "schema", Message: "cannot be checked: the schema of the tool is not one that can be read as a whole"})
	}
	return p, nil
}

// HintStart begins every Hint.
const HintStart = "The arguments do not fit the schema of the tool: "

// Hint says why such a tool may have failed; empty: not because of its arguments. What most tools take as well ("1" for
// 1, a name too many) is no reason. It quotes no value: what failed may be a password.
func (s *Schema) Hint(arguments []byte, depth int) string {
	d, err := Parse(arguments, Limits{Depth: depth})
	if err != nil {
		return ""
	}
	defer d.Release()
	_, bad := s.Admit(d, Options{Lenient: true, NoDefaults: true})
	if len(bad) == 0 {
		return ""
	}
	list := make([]string, len(bad))
	for i := range bad {
		list[i] = bad[i].Unquoted()
	}
	return text.Clip(HintStart+strings.Join(list, "; "), maxMessage/2)
}

// Unquoted says what is wrong without a word of the value.
func (p Problem) Unquoted() string {
	what := map[string]string{
		"required": "is missing", "type": "has another type", "pattern": "does not match its pattern", "additionalProperties": "is not known",
		"enum": "is none of the values it can have", "const": "is not the value it has to be",
		"schema": "cannot be checked by the schema of the tool",
	}[p.Rule]
	if what == "" {
		what = "breaks the rule " + p.Rule
	}
	return strings.TrimSpace(p.Path + " " + what)
}
