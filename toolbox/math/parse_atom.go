package math

import "strings"

// primary reads a value or a call.
func (p *parser) primary() *node {
	n := p.atom()
	for p.err == nil {
		switch {
		case p.op("(") && n.class != className:
			return p.fail(errNoAttribute)
		case p.op("(") && !isFunction(n.name):
			return p.fail(evalError("Function not permitted: '" + n.name + "'"))
		case p.accept("("):
			n = p.call(n.name)
		case p.accept("."):
			p.pos++
			if p.pos < len(p.toks) && p.op("(") {
				return p.fail(errNoAttribute)
			}
			return p.refuse("Attribute")
		case p.op("["):
			return p.refuse("Subscript")
		default:
			return n
		}
	}
	return n
}

const errNoAttribute = evalError("Attribute access not permitted")

// atom reads a name, a number or something in parentheses.
func (p *parser) atom() *node {
	t := p.tok()
	p.pos++
	switch t.kind {
	case tokNumber:
		return numberNode(t.text)
	case tokString:
		return p.fail(evalError("Unsupported constant type: <class 'str'>"))
	case tokName:
		switch t.text {
		case "True":
			return &node{class: classConstant, name: "bool", num: 1, lit: "1"}
		case "False":
			return &node{class: classConstant, name: "bool", lit: "0"}
		case "None":
			return p.fail(evalError("Unsupported constant type: <class 'NoneType'>"))
		case "lambda":
			return p.refuse("Lambda")
		}
		if !isKeyword(t.text) {
			return &node{class: className, name: identifier(t.text)}
		}
	case tokOp:
		switch t.text {
		case "(":
			return p.group()
		case "[":
			return p.refuse("List")
		case "{":
			return p.refuse("Dict")
		}
	case tokEnd:
	}
	return p.fail(errSyntax)
}

// group reads what follows an opening parenthesis.
func (p *parser) group() *node {
	if p.op(")") {
		return p.refuse("Tuple")
	}
	n := p.expression()
	if p.op(",") {
		return p.refuse("Tuple")
	}
	p.expect(")")
	return n
}

// identifier gives a name the form in which Python compares names, as far as
// full-width letters and digits go: those are typed by accident.
func identifier(text string) string {
	return strings.Map(func(r rune) rune {
		if 0xff01 <= r && r <= 0xff5e {
			return r - 0xfee0
		}
		return r
	}, text)
}

// call reads the arguments after an opening parenthesis. Keyword arguments
// are dropped: nothing here takes any.
func (p *parser) call(name string) *node {
	n := &node{class: classCall, name: name}
	for p.err == nil && !p.op(")") {
		named := p.tok().kind == tokName && p.toks[p.pos+1] == token{tokOp, "="}
		switch {
		case named:
			p.pos += 2
			p.expression()
		case p.accept("**"):
			p.expression()
		case p.op("*"):
			return p.refuse("Starred")
		default:
			n.kids = append(n.kids, p.expression())
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return n
}

func isKeyword(s string) bool {
	switch s {
	case "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
		"global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield":
		return true
	}
	return false
}
