package condition

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// checker finds out the type of every part of a tree, and makes of it what is
// evaluated: names and functions are looked up once.
type checker struct {
	problem
	inference
	names    map[string]Type
	loops    []loop
	deepest  int
	patterns int // instructions of all
}

type loop struct {
	name string
	elem Type
}

func (c *checker) fail(n *node, format string, args ...any) Type {
	c.report(n.at, format, args...)
	return Any()
}

func (c *checker) check(n *node) Type {
	if c.err != nil {
		return Any()
	}
	switch n.op {
	case opLiteral:
		return Type{kind: kindOf(n.value)}
	case opName:
		return c.checkName(n)
	case opField:
		return c.checkField(n)
	case opList:
		var elem Type
		for _, a := range n.args {
			elem = c.join(elem, c.check(a))
		}
		if len(n.args) == 0 {
			elem = c.unknown()
		}
		c.fold(n)
		return ListOf(elem)
	case opMap:
		return c.checkMap(n)
	case opAnd, opOr:
		return c.checkLogic(n, n.args)
	case opCall:
		return c.checkCall(n)
	}
	types := c.checkAll(n.args)
	if name, plain := namedField(n); plain && types[0].kind == 'M' {
		if field, known := c.known(n, types[0], name); known {
			return field
		}
	}
	return c.apply(n, functionNamed(n.name).global, types)
}

// namedField is the name in args['name'].
func namedField(n *node) (string, bool) {
	if n.op != opIndex || n.args[1].op != opLiteral {
		return "", false
	}
	name, ok := n.args[1].value.(string)
	return name, ok
}

// checkLogic checks halves, as CEL does: what is not known yet is bound by the part
// that comes first.
func (c *checker) checkLogic(n *node, args []*node) Type {
	if len(args) == 1 {
		return c.check(args[0])
	}
	half := (len(args)-1)/2 + 1
	left, right := c.checkLogic(n, args[:half]), c.checkLogic(n, args[half:])
	for i, t := range []Type{left, right} {
		if !c.fits([]Type{t}, []Type{{kind: 'b'}}) {
			return c.fail(args[i*half], "%s is for bools, and this is %s: compare it with something", n.name, c.substitute(t, true))
		}
	}
	return Type{kind: 'b'}
}

func (c *checker) checkAll(args []*node) []Type {
	out := make([]Type, len(args))
	for i, a := range args {
		out[i] = c.check(a)
	}
	return out
}

func (c *checker) checkName(n *node) Type {
	for i, l := range slices.Backward(c.loops) {
		if l.name == n.name {
			n.op, n.slot = opLoopName, i
			return l.elem
		}
	}
	if t, known := c.names[n.name]; known {
		return t
	}
	if why := leftOut(n.name); why != "" {
		return c.fail(n, "%s", why)
	}
	known := slices.Sorted(maps.Keys(c.names))
	if near := text.Nearest(n.name, known); near != "" {
		return c.fail(n, "there is no name %q here: did you mean %s?", n.name, near)
	}
	return c.fail(n, "there is no name %q here: there are %s, and a string stands in quotes", n.name, strings.Join(known, ", "))
}

func (c *checker) checkField(n *node) Type {
	t := c.substitute(c.check(n.args[0]), false)
	switch t.kind {
	case 'M':
		if field, known := c.known(n, t, n.name); known {
			return field
		}
		return c.substitute(t.of[1], false)
	case '?':
		c.fits([]Type{Any()}, []Type{t})
	case '*':
	default:
		return c.fail(n, "%s has no fields, so it has no %q", t, n.name)
	}
	return Any()
}

// known is the type of a field of a map whose fields are known. One that is not there
// is a mistake, if there are no others, or if it looks like one of them.
func (c *checker) known(n *node, t Type, name string) (Type, bool) {
	field, known := t.fields[name]
	if known || t.fields == nil {
		return field, known
	}
	near := text.Nearest(name, slices.Sorted(maps.Keys(t.fields)))
	switch {
	case near != "":
		return c.fail(n, "there is no argument %q: did you mean %s?", name, near), true
	case t.closed:
		return c.fail(n, "there is no argument %q: there are %s", name, strings.Join(slices.Sorted(maps.Keys(t.fields)), ", ")), true
	}
	return field, false
}

func (c *checker) checkMap(n *node) Type {
	var key, value Type
	for i := 0; i < len(n.args); i += 2 {
		t := c.check(n.args[i])
		if kind := c.substitute(t, true).kind; strings.IndexByte("siub", kind) < 0 {
			return c.fail(n.args[i], "keys of other types than string, int, uint and bool are left out: write string(...) around it")
		}
		key, value = c.join(key, t), c.join(value, c.check(n.args[i+1]))
	}
	if len(n.args) == 0 {
		key, value = c.unknown(), c.unknown()
	}
	c.fold(n)
	return Type{kind: 'M', of: []Type{key, value}}
}

// join gives the type of elements of which some are a and some are b.
func (c *checker) join(a, b Type) Type {
	switch {
	case a.kind == 0:
		return b
	case c.fits([]Type{a}, []Type{b}):
		return general(a, b)
	}
	return Any()
}

func (c *checker) checkCall(n *node) Type {
	own := n.args
	if n.member {
		own = n.args[1:]
		if op := loopNamed(n.name, len(own)); op != 0 {
			return c.checkLoop(n, op)
		}
		if loopNamed(n.name, 2) != 0 {
			return c.fail(n, "%s() takes a name and an expression, as in args.list.%s(x, ...)", n.name, n.name)
		}
	} else if n.name == "has" && len(own) == 1 {
		if own[0].op != opField {
			return c.fail(n, "has() asks for a field: write has(args.name), or \"name\" in args")
		}
		field := own[0]
		c.checkField(field)
		n.op, n.name, n.args = opHas, field.name, field.args
		return Type{kind: 'b'}
	}
	types := c.checkAll(own)
	if n.member {
		types = append([]Type{c.check(n.args[0])}, types...)
	}
	if n.name == "matches" && !n.member {
		return c.fail(n, "matches() before a text is left out: write args.name.matches('pattern')")
	}
	f := functionNamed(n.name)
	list := f.global
	if n.member {
		list = f.member
	}
	if c.err != nil {
		return Any()
	}
	if f.op == 0 {
		if why := leftOut(n.name); why != "" {
			return c.fail(n, "%s", why)
		}
		known := []string{"has", "size", "contains", "startsWith", "endsWith", "matches", "bool", "int", "uint", "double", "string", "dyn", "all", "exists", "exists_one", "filter", "map"}
		if near := text.Nearest(n.name, known); near != "" {
			return c.fail(n, "there is no function %s(): did you mean %s()?", n.name, near)
		}
		return c.fail(n, "there is no function %s(): there are %s", n.name, strings.Join(known, ", "))
	}
	n.op = f.op
	return c.apply(n, list, types)
}

// checkLoop checks range.all(name, what) and its like.
func (c *checker) checkLoop(n *node, op op) Type {
	over, name, own := n.args[0], n.args[1], n.args[2:]
	if name.op != opName || name.name == "__result__" {
		return c.fail(name, "the first argument of %s() is a new name for each element, as in args.list.%s(x, ...)", n.name, n.name)
	}
	t := c.substitute(c.check(over), false)
	elem := Any()
	switch t.kind {
	case 'L', 'M':
		elem = t.of[0]
	case '?':
		c.fits([]Type{Any()}, []Type{t})
	case '*':
	default:
		return c.fail(over, "%s() goes over lists and maps, and this is %s", n.name, t)
	}
	var list Type
	if op == opFilter || op == opMapEach {
		list = ListOf(c.unknown())
	}
	c.loops = append(c.loops, loop{name.name, elem})
	c.deepest = max(c.deepest, len(c.loops))
	types := c.checkAll(own)
	c.loops = c.loops[:len(c.loops)-1]
	if c.err != nil {
		return Any()
	}
	n.op, n.slot, n.args = op, len(c.loops), append([]*node{over}, own...)
	bool1 := []Type{{kind: 'b'}}
	if (op != opMapEach || len(own) == 2) && !c.fits(types[:1], bool1) {
		return c.fail(own[0], "%s() needs a bool, and this is %s: compare it with something", n.name, c.substitute(types[0], true))
	}
	if list.kind == 0 {
		return bool1[0]
	}
	if op == opMapEach {
		elem = types[len(types)-1]
	}
	c.fits([]Type{list}, []Type{c.apply(&node{op: opAdd, name: "+", at: n.at}, "LLL", []Type{list, ListOf(elem)})})
	return c.substitute(list, false)
}
