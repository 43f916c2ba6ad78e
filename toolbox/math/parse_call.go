package math

// call reads the arguments after an opening parenthesis. Keyword arguments
// are checked and dropped: nothing here takes any.
func (p *parser) call(fn *node) *node {
	n := &node{class: classCall, fn: fn}
	keyword, unpacked := false, false
	for p.err == nil && !p.op(")") {
		switch {
		case p.op("*"):
			p.pos++
			if unpacked {
				p.fail("iterable argument unpacking follows keyword argument unpacking")
			}
			n.kids = append(n.kids, &node{class: "Starred", kids: []*node{p.expression()}})
		case p.take("**"):
			unpacked = true
			p.expression()
		case p.keywordNext():
			keyword = true
			p.pos += 2
			p.expression()
			if p.word("for") {
				p.fail("invalid syntax. Maybe you meant '==' or ':=' instead of '='?")
			}
		default:
			arg := p.argument(len(n.kids) == 0 && !keyword && !unpacked)
			switch {
			case unpacked:
				p.fail("positional argument follows keyword argument unpacking")
			case keyword:
				p.fail("positional argument follows keyword argument")
			}
			n.kids = append(n.kids, arg)
		}
		if !p.take(",") {
			break
		}
	}
	p.expect(")")
	return n
}

// keywordNext says whether the next argument is written name=.
func (p *parser) keywordNext() bool {
	next := p.peek()
	if next.kind != tokOp || next.text != "=" {
		return false
	}
	t := p.tok()
	switch t.text {
	case "True", "False", "None":
		p.fail("cannot assign to " + t.text)
		return false
	}
	return isName(t)
}

// argument reads a positional argument. A bare generator may only be the
// whole list.
func (p *parser) argument(alone bool) *node {
	var n *node
	if isName(p.tok()) && p.peek().kind == tokOp && p.peek().text == ":=" {
		n = p.named()
	} else {
		n = p.expression()
		if p.op("=") {
			p.fail(`expression cannot contain assignment, perhaps you meant "=="?`)
		}
	}
	if p.comprehension() {
		if !alone || p.op(",") {
			p.fail("Generator expression must be parenthesized")
		}
		return &node{class: "GeneratorExp"}
	}
	return n
}

// comprehension reads for and if clauses and says whether there were any.
func (p *parser) comprehension() bool {
	found := false
	for p.word("for") || p.word("async") {
		found = true
		p.takeWord("async")
		if !p.takeWord("for") {
			p.fail(plainSyntaxError)
		}
		p.targets()
		if !p.takeWord("in") {
			p.fail(plainSyntaxError)
		}
		p.disjunction()
		for p.takeWord("if") {
			p.disjunction()
		}
	}
	return found
}

// targets reads what a for clause assigns to.
func (p *parser) targets() {
	n := p.list(func() *node {
		if p.op("*") {
			return p.starred()
		}
		return p.binary(0)
	}, "Tuple")
	if bad := notTarget(n); bad != nil && p.err == nil {
		p.fail("cannot assign to " + exprName(bad))
	}
}

// notTarget finds the part of n that cannot be assigned to.
func notTarget(n *node) *node {
	switch n.class {
	case className, "Attribute", "Subscript", "Failed":
		return nil
	case "Starred", "Tuple", "List":
		for _, k := range n.kids {
			if bad := notTarget(k); bad != nil {
				return bad
			}
		}
		return nil
	}
	return n
}

// lambda reads an anonymous function.
func (p *parser) lambda() *node {
	p.pos++
	p.parameters()
	p.expect(":")
	p.expression()
	return &node{class: "Lambda"}
}

// parameters reads the parameter list of a lambda up to its colon.
func (p *parser) parameters() {
	seenDefault, seenSlash, seenStar, nameDue := false, false, false, false
	for first := true; p.err == nil && !p.op(":"); first = false {
		if !first {
			p.expect(",")
			if p.op(":") {
				break
			}
		}
		switch {
		case p.take("/"):
			switch {
			case first:
				p.fail("at least one argument must precede /")
			case seenSlash:
				p.fail("/ may appear only once")
			case seenStar:
				p.fail("/ must be ahead of *")
			}
			seenSlash = true
		case p.take("**"):
			p.parameter()
			if p.op("=") {
				p.fail("var-keyword argument cannot have default value")
			}
			if nameDue {
				p.fail("named arguments must follow bare *")
			}
			if p.take(",") && !p.op(":") {
				p.fail("arguments cannot follow var-keyword argument")
			}
			return
		case p.take("*"):
			if seenStar {
				p.fail("* argument may appear only once")
			}
			seenStar = true
			if isName(p.tok()) {
				p.pos++
				if p.op("=") {
					p.fail("var-positional argument cannot have default value")
				}
			} else {
				nameDue = true
			}
		default:
			p.parameter()
			nameDue = false
			if p.take("=") {
				seenDefault = true
				p.expression()
			} else if seenDefault && !seenStar {
				p.fail("non-default argument follows default argument")
			}
		}
	}
	if nameDue {
		p.fail("named arguments must follow bare *")
	}
}

func (p *parser) parameter() {
	if !isName(p.tok()) {
		p.fail(plainSyntaxError)
	}
	p.pos++
}
