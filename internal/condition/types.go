package condition

import (
	"slices"
	"strings"
)

// Type is what values an expression has. Its kind is the letter by which the
// table of functions knows it: bool, int, uint, double, string, null, byteY,
// timestamp, rduration, * for any, List, Map, and ? for a type that is not known
// yet, as that of the elements of [].
type Type struct {
	kind byte
	id   int    // of a ?
	of   []Type // of a list or a map
	// fields are those of a map of which they are known; nil: they are not. If it is
	// closed, it has no others.
	fields map[string]Type
	closed bool
}

// Text is the type of strings.
func Text() Type { return Type{kind: 's'} }

// Any is the type of values that are only known when they are there.
func Any() Type { return Type{kind: '*'} }

// ListOf is the type of lists.
func ListOf(elem Type) Type { return Type{kind: 'L', of: []Type{elem}} }

// MapOf is the type of maps from strings.
func MapOf(value Type) Type { return Type{kind: 'M', of: []Type{Text(), value}} }

// Truth is the type of bools.
func Truth() Type { return Type{kind: 'b'} }

// ObjectOf is the type of maps from strings whose fields are known; closed: it has no
// others. It serves for finding mistakes: what is evaluated is a map.
func ObjectOf(fields map[string]Type, closed bool) Type {
	t := MapOf(Any())
	t.fields, t.closed = fields, closed
	return t
}

func (t Type) String() string {
	name := map[byte]string{'b': "bool", 'i': "int", 'u': "uint", 'd': "double", 's': "string", 'n': "null", 'y': "bytes", 't': "timestamp", 'r': "duration", 'L': "list", 'M': "map", '*': "dyn", '?': "dyn"}[t.kind]
	if t.of == nil {
		return name
	}
	var of []string
	for _, p := range t.of {
		of = append(of, p.String())
	}
	return name + "(" + strings.Join(of, ", ") + ")"
}

// open: it may be any type.
func (t Type) open() bool { return t.kind == '*' || t.kind == '?' }

func same(a, b Type) bool {
	return a.kind == b.kind && a.id == b.id && slices.EqualFunc(a.of, b.of, same)
}

// inference finds out the types that are not known yet, in the way of cel-go:
// each is bound by the first use that says what it is.
type inference struct {
	bound []Type // by id; a kind of 0 if it is not bound
	trail []bind // to take back what did not fit
}

type bind struct {
	id  int
	was Type
}

func (c *inference) unknown() Type {
	c.bound = append(c.bound, Type{})
	return Type{kind: '?', id: len(c.bound) - 1}
}

func (c *inference) binding(t Type) (Type, bool) {
	if t.kind != '?' || c.bound[t.id].kind == 0 {
		return Type{}, false
	}
	return c.bound[t.id], true
}

func (c *inference) bind(id int, to Type) {
	c.trail = append(c.trail, bind{id, c.bound[id]})
	c.bound[id] = to
}

// fits reports whether values of types a can stand where b are wanted, and binds
// what has to be bound for it.
func (c *inference) fits(a, b []Type) bool {
	mark := len(c.trail)
	if c.fitAll(a, b) {
		return true
	}
	for _, t := range slices.Backward(c.trail[mark:]) {
		c.bound[t.id] = t.was
	}
	c.trail = c.trail[:mark]
	return false
}

func (c *inference) fitAll(a, b []Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !c.fit(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (c *inference) fit(a, b Type) bool {
	if b.kind == '?' {
		if ok, known := c.bindTo(a, b); ok || known {
			return ok
		}
	}
	if a.kind == '?' {
		ok, _ := c.bindTo(b, a)
		return ok
	}
	if a.kind == '*' || b.kind == '*' {
		return true
	}
	if a.kind == 'n' || b.kind == 'n' { // null stands for a time too
		other := max(a.kind, b.kind)
		return a.kind == b.kind || other == 't' || other == 'r'
	}
	return a.kind == b.kind && c.fitAll(a.of, b.of)
}

// bindTo lets the unknown type be t, or something that t fits. It also says
// whether the type was known before.
func (c *inference) bindTo(t, unknown Type) (ok, known bool) {
	if same(t, unknown) {
		return true, true
	}
	if was, found := c.binding(unknown); found {
		if same(t, was) {
			return true, true
		}
		if !c.fit(t, was) {
			return false, true
		}
		if wider := general(t, was); c.free(unknown, wider) {
			c.bind(unknown.id, wider)
		}
		return true, true
	}
	if !c.free(unknown, t) {
		return false, false
	}
	c.bind(unknown.id, t)
	return true, false
}

// free: the unknown type is no part of t.
func (c *inference) free(unknown, t Type) bool {
	if same(unknown, t) {
		return false
	}
	if was, found := c.binding(t); found {
		return c.free(unknown, was)
	}
	return !slices.ContainsFunc(t.of, func(p Type) bool { return !c.free(unknown, p) })
}

// general gives the wider of two types that fit.
func general(a, b Type) Type {
	if wider(a, b) {
		return a
	}
	return b
}

func wider(a, b Type) bool {
	if a.open() || b.open() {
		return a.open()
	}
	return a.kind == b.kind && slices.EqualFunc(a.of, b.of, wider)
}

// substitute puts in what unknown types were found to be. At last those that are
// still unknown may be any.
func (c *inference) substitute(t Type, last bool) Type {
	if was, found := c.binding(t); found {
		return c.substitute(was, last)
	}
	if last && t.kind == '?' {
		return Any()
	}
	if t.of == nil {
		return t
	}
	out := Type{kind: t.kind, of: make([]Type, len(t.of)), fields: t.fields, closed: t.closed}
	for i := range t.of {
		out.of[i] = c.substitute(t.of[i], last)
	}
	return out
}
