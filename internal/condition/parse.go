package condition

import (
	"math"
	"slices"
	"strings"
)

// operator gives what stands between two values, and how tightly it binds.
func operator(t token) (what op, rank int) {
	signs := [...]string{"==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%"}
	i := slices.Index(signs[:], t.text)
	if t.kind != symbol || i < 0 {
		return 0, 0
	}
	what = opEqual + op(i)
	switch {
	case what >= opMultiply:
		return what, 3
	case what >= opAdd:
		return what, 2
	}
	return what, 1
}

type parser struct {
	scanner
	token token
	depth int
}

func (p *parser) whole() *node {
	p.advance()
	tree := p.expression()
	if p.token.kind != atEnd {
		p.report(p.token.at, "%s is too much: the expression ends before it", p.shown())
	}
	return tree
}

func (p *parser) advance() { p.token = p.next() }

// fail reports what is wrong at the token, and ends reading.
func (p *parser) fail(format string, args ...any) *node {
	p.report(p.token.at, format, args...)
	p.token = token{at: len(p.text)}
	return &node{}
}

// shown is the token as it stands in the text.
func (p *parser) shown() string {
	if p.token.kind == atEnd {
		return "the end"
	}
	return "\"" + strings.TrimSpace(p.text[p.token.at:p.pos]) + "\""
}

func (p *parser) take(text string) bool {
	if !p.token.is(text) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) want(text string) {
	if !p.take(text) {
		p.fail("there should be %q and not %s", text, p.shown())
	}
}

func (p *parser) make(op op, at int, name string, args ...*node) *node {
	n := &node{op: op, at: at, name: name, args: args}
	for _, a := range args {
		n.depth = max(n.depth, a.depth)
	}
	if op != opAnd && op != opOr {
		n.depth++
	}
	if n.depth > maxDepth {
		return p.fail("the expression nests too deep: write two rules, or less in one another")
	}
	return n
}

func (p *parser) expression() *node {
	if p.depth++; p.depth > maxDepth {
		return p.fail("the expression nests too deep: write two rules, or less in one another")
	}
	defer func() { p.depth-- }()
	n := p.either()
	if at := p.token.at; p.take("?") {
		yes := p.either()
		if p.token.is("?") {
			return p.fail("put a choice within a choice into parentheses")
		}
		p.want(":")
		n = p.make(opIf, at, "?:", n, yes, p.expression())
	}
	return n
}

func (p *parser) either() *node   { return p.chain(opOr, "||", p.both) }
func (p *parser) both() *node     { return p.chain(opAnd, "&&", p.relation) }
func (p *parser) relation() *node { return p.binary(1) }

func (p *parser) chain(op op, sign string, part func() *node) *node {
	at := p.token.at
	parts := []*node{part()}
	for p.take(sign) {
		parts = append(parts, part())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return p.make(op, at, sign, parts...)
}

// binary reads operators that bind at least so tightly, the left ones first.
func (p *parser) binary(least int) *node {
	n := p.unary()
	for {
		t := p.token
		what, rank := operator(t)
		if what == 0 || rank < least {
			return n
		}
		p.advance()
		n = p.make(what, t.at, t.text, n, p.binary(rank+1))
	}
}

// unary reads signs before a value. Two of a kind are none, and a minus is a part
// of the number behind it.
func (p *parser) unary() *node {
	t, signs := p.token, 0
	for ; (t.is("!") || t.is("-")) && p.token.is(t.text); signs++ {
		p.advance()
	}
	if t.is("-") && signs == 1 && p.negative() {
		signs = 0
	} else if t.is("!") && p.take("-") && !p.negative() {
		return p.fail("put the - and what it stands before into parentheses")
	}
	n := p.member()
	switch {
	case signs%2 == 0:
		return n
	case t.is("!"):
		return p.make(opNot, t.at, "!", n)
	}
	return p.make(opNegate, t.at, "-", n)
}

// negative turns the number that comes next round, if one does.
func (p *parser) negative() bool {
	switch v := p.token.value.(type) {
	case wholeNumber:
		if v > -math.MinInt64 {
			return false
		}
		p.token.value = -int64(v)
	case float64:
		p.token.value = -v
	default:
		return false
	}
	return true
}

// member reads a value, and what is taken from it or called on it.
func (p *parser) member() *node {
	n := p.primary()
	for {
		at := p.token.at
		switch {
		case p.take("["):
			if p.token.is("?") {
				return p.fail("optional values are left out: ask with has() or in first")
			}
			n = p.make(opIndex, at, "[]", n, p.expression())
			p.want("]")
		case p.take("."):
			t := p.token
			if t.is("?") {
				return p.fail("optional values are left out: ask with has() first")
			}
			if t.kind != word && t.kind != quotedWord {
				return p.fail("there should be a name behind the dot and not %s; what is no name is written [\"...\"]", p.shown())
			}
			if p.advance(); t.kind == word && p.token.is("(") {
				n = p.call(t, n)
			} else {
				n = p.make(opField, t.at, t.text, n)
			}
		case p.token.is("{") && (n.op == opName || n.op == opField):
			return p.fail("messages are left out: a map is written {\"key\": value}")
		default:
			return n
		}
	}
}

func (p *parser) call(t token, target *node) *node {
	var args []*node
	if target != nil {
		args = append(args, target)
	}
	p.want("(")
	for p.token.kind != atEnd && !p.token.is(")") {
		if args = append(args, p.expression()); p.token.is(")") {
			break
		}
		if p.want(","); p.token.is(")") {
			p.fail("there should be a value behind the comma")
		}
	}
	p.want(")")
	n := p.make(opCall, t.at, t.text, args...)
	n.member = target != nil
	return n
}

func (p *parser) primary() *node {
	t := p.token
	switch {
	case t.kind == literal:
		if w, ok := t.value.(wholeNumber); ok {
			if w > math.MaxInt64 {
				return p.fail("the number %d is too large for an int: write %du", w, w)
			}
			t.value = int64(w)
		}
		p.advance()
		n := p.make(opLiteral, t.at, "")
		n.value = t.value
		return n
	case t.kind == word:
		p.advance()
		if strings.Contains(" as break const continue else for function if import let loop package namespace return var void while ", " "+t.text+" ") {
			p.token = t
			return p.fail("%q is a reserved word and cannot be a name here", t.text)
		}
		if p.token.is("(") {
			return p.call(t, nil)
		}
		return p.make(opName, t.at, t.text)
	case p.take("("):
		n := p.expression()
		p.want(")")
		return n
	case p.take("["):
		return p.make(opList, t.at, "list", p.items("]", false)...)
	case p.take("{"):
		return p.make(opMap, t.at, "map", p.items("}", true)...)
	case t.is("."):
		return p.fail("a dot before a name is left out: write the name without it")
	}
	return p.fail("there should be a value and not %s", p.shown())
}

// items reads the elements of a list, or keys and values. A comma may end them.
func (p *parser) items(end string, pairs bool) []*node {
	var out []*node
	for p.token.kind != atEnd && !p.token.is(end) && !p.token.is(",") {
		if p.token.is("?") {
			p.fail("optional values are left out: use a choice, as in has(args.x) ? [args.x] : []")
			return out
		}
		if out = append(out, p.expression()); pairs {
			p.want(":")
			out = append(out, p.expression())
		}
		if !p.take(",") {
			p.want(end)
			return out
		}
	}
	if len(out) == 0 {
		p.take(",")
	}
	p.want(end)
	return out
}
