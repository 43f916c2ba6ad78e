package schema

import (
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Foreign reads the schema of a tool that somebody else checks the calls of. It is always one, whatever the text: what
// breaks the rules of its draft, leads out of the text or unfolds without measure is left out, and told. Its defaults
// are never filled in. Patterns of JavaScript are understood, and what takes too long to match counts as fitting.
func Foreign(source []byte) (*Schema, []*SchemaError) {
	d, err := Parse(source, Limits{Bytes: maxSchema})
	if err != nil {
		return anything(), []*SchemaError{{Message: "not a JSON text: " + err.Error()}}
	}
	defer d.Release()
	s := &Schema{doc: d.keep()}
	b := &builder{s: s, d: s.doc, rules: make([]*rule, len(d.nodes)), foreign: true}
	if err := b.compile(); err != nil {
		b.leave(err)
		return anything(), b.left
	}
	return s, b.left
}

// anything is the schema that accepts every value.
func anything() *Schema {
	s, err := Compile([]byte("{}"))
	if err != nil {
		panic(err) // it is a constant
	}
	return s
}

// maxLeft bounds what is told of one schema.
const maxLeft = 16

// leave notes an error as something that is not checked; false: it has to be one.
func (b *builder) leave(err error) bool {
	e, ok := errors.AsType[*SchemaError](err)
	if !b.foreign || !ok {
		return false
	}
	if len(b.left) < maxLeft {
		b.left = append(b.left, e)
	}
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
		r.arr.items, r.arr.prefix = nil, nil
	case "minLength", "minItems", "minProperties", "minContains":
		// The count is zero.
	case "maxLength":
		r.str.max = -1
	case "maxItems":
		r.arr.max = -1
	case "maxProperties":
		r.obj.max = -1
	case "maxContains":
		r.arr.contains.max = -1
	case "pattern":
		r.str.pattern = nil
	case "properties", "patternProperties", "additionalProperties":
		// Which members are further ones is not known any more.
		r.obj.props, r.obj.patterns, r.obj.partial = nil, nil, true
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

// Pass gives the arguments of a tool whose calls somebody else checks as they were sent, in canonical form, and what of
// them does not fit. With lenient they are converted where that makes them fit: callers count on it. What is no object is
// refused: no protocol has a form for it.
func (s *Schema) Pass(d *Doc, lenient bool, depth int) (text []byte, unfit []Problem, err error) {
	if d.Root().Kind() != Object {
		return nil, nil, errors.New("the arguments of a tool must be an object")
	}
	if lenient {
		if better, bad := s.Admit(d, Options{Lenient: true, Apart: true}); len(bad) == 0 {
			if again, err := Parse(better, Limits{Depth: depth}); err == nil {
				defer again.Release()
				d = again
			}
		}
	}
	_, unfit = s.Admit(d, Options{Closed: true, Apart: true})
	return d.AppendCanonical(nil), unfit, nil
}

// Hint says why such a tool may have failed, clipped; empty: not because of its arguments. What most tools take as well
// ("1" for 1, a name too many) is no reason.
func (s *Schema) Hint(arguments []byte, depth int) string {
	d, err := Parse(arguments, Limits{Depth: depth})
	if err != nil {
		return ""
	}
	defer d.Release()
	_, bad := s.Admit(d, Options{Lenient: true})
	if len(bad) == 0 {
		return ""
	}
	list := make([]string, len(bad))
	for i := range bad {
		list[i] = bad[i].String()
	}
	return text.Clip("The arguments do not fit the schema of the tool: "+strings.Join(list, "; "), maxMessage/2)
}
