package math

// atom reads a name, a literal or something in brackets.
func (p *parser) atom() *node {
	t := p.tok()
	switch t.kind {
	case tokNumber:
		p.pos++
		n, refused := numberNode(t.text)
		if refused != "" {
			p.fail(refused)
			return failed()
		}
		return n
	case tokString:
		return p.stringLiterals()
	case tokName:
		p.pos++
		switch t.text {
		case "True":
			return &node{class: classConstant, name: "bool", num: 1, lit: "1"}
		case "False":
			return &node{class: classConstant, name: "bool", lit: "0"}
		case "None":
			return &node{class: classConstant, name: "NoneType"}
		}
		if !isKeyword(t.text) {
			return &node{class: className, name: identifier(t.text)}
		}
	case tokOp:
		switch {
		case p.take("..."):
			return &node{class: classConstant, name: "ellipsis"}
		case p.take("("):
			return p.nested(p.group)
		case p.take("["):
			return p.nested(p.brackets)
		case p.take("{"):
			return p.nested(p.braces)
		}
	}
	p.fail(plainSyntaxError)
	return failed()
}

// named reads an expression that may bind a name with :=.
func (p *parser) named() *node {
	if isName(p.tok()) && p.peek().kind == tokOp && p.peek().text == ":=" {
		p.pos += 2
		p.expression()
		return &node{class: "NamedExpr"}
	}
	n := p.expression()
	switch {
	case p.op(":="):
		p.fail("cannot use assignment expressions with " + exprName(n))
	case p.op("="):
		p.assigned(n)
	}
	return n
}

// assigned fails for a single = inside brackets.
func (p *parser) assigned(n *node) {
	trial := *p
	trial.quiet = true
	trial.pos++
	trial.binary(0)
	switch {
	case trial.err != nil || trial.op("=") || trial.op(":="):
		p.fail(plainSyntaxError)
	case n.class == className:
		p.fail("invalid syntax. Maybe you meant '==' or ':=' instead of '='?")
	case n.class == "List", n.class == "Tuple", n.class == "GeneratorExp", n.class == classConstant && exprName(n) != "literal" && exprName(n) != "ellipsis":
		p.fail(plainSyntaxError)
	default:
		p.fail("cannot assign to " + exprName(n) + " here. Maybe you meant '==' instead of '='?")
	}
}

// starred reads * and its operand.
func (p *parser) starred() *node {
	p.expect("*")
	return &node{class: "Starred", kids: []*node{p.nested(func() *node { return p.binary(0) })}}
}

// element reads an item of a display.
func (p *parser) element() *node {
	if p.op("*") {
		return p.starred()
	}
	return p.named()
}

// group reads what follows an opening parenthesis.
func (p *parser) group() *node {
	if p.take(")") {
		return &node{class: "Tuple"}
	}
	if p.word("yield") {
		n := p.yield()
		p.expect(")")
		return n
	}
	if p.take("**") {
		p.expression()
		p.expect(")")
		p.fail("cannot use double starred expression here")
	}
	first := p.element()
	switch {
	case p.comprehension():
		p.expect(")")
		if first.class == "Starred" {
			p.fail("iterable unpacking cannot be used in comprehension")
		}
		return &node{class: "GeneratorExp"}
	case p.op(","):
		n := &node{class: "Tuple", kids: p.more(first)}
		p.expect(")")
		return n
	}
	p.expect(")")
	if first.class == "Starred" {
		p.fail("cannot use starred expression here")
	}
	return first
}

func (p *parser) yield() *node {
	p.pos++
	if p.takeWord("from") {
		p.expression()
		return &node{class: "YieldFrom"}
	}
	if startsExpression(p.tok()) || p.op("*") {
		p.list(func() *node {
			if p.op("*") {
				return p.starred()
			}
			return p.expression()
		}, "Tuple")
	}
	return &node{class: "Yield"}
}

// more reads the further elements of a display after the first one.
func (p *parser) more(first *node) []*node {
	kids := []*node{first}
	for p.take(",") {
		if !startsExpression(p.tok()) && !p.op("*") {
			break
		}
		kids = append(kids, p.element())
	}
	return kids
}

// brackets reads what follows an opening square bracket.
func (p *parser) brackets() *node {
	if p.take("]") {
		return &node{class: "List"}
	}
	first := p.element()
	if p.comprehension() {
		p.expect("]")
		if first.class == "Starred" {
			p.fail("iterable unpacking cannot be used in comprehension")
		}
		return &node{class: "ListComp"}
	}
	n := &node{class: "List", kids: p.more(first)}
	p.expect("]")
	return n
}

// braces reads what follows an opening brace: a dict or a set.
func (p *parser) braces() *node {
	if p.take("}") {
		return &node{class: "Dict"}
	}
	if p.op("**") {
		return p.dict()
	}
	first := p.element()
	if first.class != "Starred" && first.class != "NamedExpr" && p.op(":") {
		p.dictValue()
		if p.comprehension() {
			p.expect("}")
			return &node{class: "DictComp"}
		}
		if p.take(",") {
			return p.dict()
		}
		p.expect("}")
		return &node{class: "Dict"}
	}
	if p.comprehension() {
		p.expect("}")
		if first.class == "Starred" {
			p.fail("iterable unpacking cannot be used in comprehension")
		}
		return &node{class: "SetComp"}
	}
	p.more(first)
	p.expect("}")
	return &node{class: "Set"}
}

// dict reads key-value pairs and unpackings up to the closing brace.
func (p *parser) dict() *node {
	for p.err == nil && !p.op("}") {
		if p.take("**") {
			p.binary(0)
			if p.word("for") {
				p.fail("dict unpacking cannot be used in dict comprehension")
			}
		} else {
			p.expression()
			if !p.op(":") {
				p.fail("':' expected after dictionary key")
			}
			p.dictValue()
		}
		if !p.take(",") {
			break
		}
	}
	p.expect("}")
	return &node{class: "Dict"}
}

func (p *parser) dictValue() {
	p.pos++
	switch {
	case p.op("}") || p.op(","):
		p.fail("expression expected after dictionary key and ':'")
	case p.op("*"):
		p.fail("cannot use a starred expression in a dictionary value")
	}
	p.expression()
}
