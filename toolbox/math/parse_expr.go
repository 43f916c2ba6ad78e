package math

// expression: a conditional, a lambda or a plain value.
func (p *parser) expression() *node { return p.nested(p.expression1) }

func (p *parser) expression1() *node {
	if p.word("lambda") {
		return p.lambda()
	}
	first := p.tok()
	softly := isName(first) && (first.text == "_" || first.text == "match" || first.text == "case")
	n := p.disjunction()
	if p.takeWord("if") {
		p.disjunction()
		if !p.takeWord("else") {
			if p.op(":") {
				p.fail(plainSyntaxError)
			}
			p.fail("expected 'else' after 'if' expression")
		}
		p.expression()
		return &node{class: "IfExp"}
	}
	if p.err == nil && !p.quiet && startsExpression(p.tok()) {
		p.juxtaposed(n, softly)
	}
	return n
}

// juxtaposed fails for two values side by side. What CPython says depends on
// whether a second one can be read at all, and on brackets around them.
func (p *parser) juxtaposed(first *node, softly bool) {
	second := p.tok()
	trial := *p
	trial.quiet = true
	trial.expression()
	last := second
	if trial.err == nil {
		last = p.toks[trial.pos-1]
	}
	switch {
	case trial.pos < len(p.toks) && p.toks[trial.pos].kind == tokUnclosed:
		p.fail(p.toks[trial.pos].text)
	case trial.err != nil && (second.kind == tokOp || second.text == "not" || second.text == "lambda" || second.text == "await"):
		p.fail(plainSyntaxError)
	case first.class == className && (first.name == "print" || first.name == "exec"):
		p.fail("Missing parentheses in call to '" + first.name + "'. Did you mean " + first.name + "(...)?")
	case softly || first.class == className && second.kind == tokString || last.level == 0:
		p.fail(plainSyntaxError)
	default:
		p.fail("invalid syntax. Perhaps you forgot a comma?")
	}
}

// chain reads operands with a keyword between them.
func (p *parser) chain(operand func() *node, word string) *node {
	n := operand()
	if !p.word(word) {
		return n
	}
	for p.takeWord(word) {
		operand()
	}
	return &node{class: "BoolOp"}
}

func (p *parser) disjunction() *node { return p.chain(p.conjunction, "or") }
func (p *parser) conjunction() *node { return p.chain(p.inversion, "and") }

func (p *parser) inversion() *node {
	if p.takeWord("not") {
		return &node{class: classUnaryOp, op: "Not", kids: []*node{p.nested(p.inversion)}}
	}
	return p.comparison()
}

func (p *parser) comparison() *node {
	n := p.binary(0)
	compared := false
	for p.comparator() {
		p.binary(0)
		compared = true
	}
	if compared {
		return &node{class: "Compare"}
	}
	return n
}

// comparator reads one comparison operator.
func (p *parser) comparator() bool {
	t := p.tok()
	switch {
	case t.kind == tokOp:
		switch t.text {
		case "==", "!=", "<", "<=", ">", ">=":
			p.pos++
			return true
		}
	case p.word("not"):
		if next := p.peek(); next.kind == tokName && next.text == "in" {
			p.pos += 2
			return true
		}
	case p.takeWord("in"):
		return true
	case p.takeWord("is"):
		p.takeWord("not")
		return true
	}
	return false
}

// binaryOp gives the class name of an operator and how tightly it binds,
// from 0; -1 for none.
func binaryOp(t token) (class string, binds int) {
	if t.kind != tokOp {
		return "", -1
	}
	switch t.text {
	case "|":
		return "BitOr", 0
	case "^":
		return "BitXor", 1
	case "&":
		return "BitAnd", 2
	case "<<":
		return "LShift", 3
	case ">>":
		return "RShift", 3
	case "+":
		return "Add", 4
	case "-":
		return "Sub", 4
	case "*":
		return "Mult", 5
	case "/":
		return "Div", 5
	case "//":
		return "FloorDiv", 5
	case "%":
		return "Mod", 5
	case "@":
		return "MatMult", 5
	}
	return "", -1
}

// binary reads left-associative operators that bind at least so tightly.
func (p *parser) binary(least int) *node {
	n := p.factor()
	for {
		class, binds := binaryOp(p.tok())
		if binds < least {
			return n
		}
		p.pos++
		right := p.nested(func() *node { return p.binary(binds + 1) })
		n = &node{class: classBinOp, op: class, kids: []*node{n, right}}
	}
}

func (p *parser) factor() *node {
	class := ""
	switch {
	case p.take("+"):
		class = "UAdd"
	case p.take("-"):
		class = "USub"
	case p.take("~"):
		class = "Invert"
	default:
		return p.power()
	}
	return &node{class: classUnaryOp, op: class, kids: []*node{p.nested(p.factor)}}
}

// power binds tighter than a sign on its left, not than one on its right.
func (p *parser) power() *node {
	var n *node
	if p.takeWord("await") {
		p.primary()
		n = &node{class: "Await"}
	} else {
		n = p.primary()
	}
	if p.take("**") {
		n = &node{class: classBinOp, op: "Pow", kids: []*node{n, p.nested(p.factor)}}
	}
	return n
}

// primary reads a value and what is attached to it: attributes, calls,
// subscripts.
func (p *parser) primary() *node {
	n := p.atom()
	for p.err == nil {
		switch {
		case p.take("."):
			if !isName(p.tok()) {
				p.fail(plainSyntaxError)
			}
			p.pos++
			n = &node{class: "Attribute"}
		case p.take("("):
			n = p.call(n)
		case p.take("["):
			p.list(p.slice, "Tuple")
			p.expect("]")
			n = &node{class: "Subscript"}
		default:
			return n
		}
	}
	return n
}

func (p *parser) slice() *node {
	if p.op("*") {
		return p.starred()
	}
	if !p.op(":") {
		n := p.named()
		if !p.op(":") {
			return n
		}
	}
	p.expect(":")
	for range 2 {
		if startsExpression(p.tok()) {
			p.expression()
		}
		if !p.take(":") {
			break
		}
	}
	return &node{class: "Slice"}
}
