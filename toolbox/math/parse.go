package math

import "strings"

// Bounds on what is read at all: longer or deeper texts are refused at once.
const (
	maxSource = 10_000 // bytes
	maxDepth  = 1_000  // nested constructs of any kind
)

// syntaxError is a text that is no expression.
type syntaxError string

func (e syntaxError) Error() string { return "Syntax error: " + string(e) }

const errSyntax = syntaxError("invalid syntax")

// Limits of ours, not of the language.
const (
	errTooDeep = evalError("expression is nested too deeply (more than 1000 levels)")
	errTooLong = evalError("expression is longer than 10000 bytes")
)

// parser reads arithmetic in Python's syntax, top down with one token of
// look-ahead. What else of Python people write is refused where it begins, by
// the name that the recorded answers have for it. After the first error the
// parser sees only the end.
type parser struct {
	toks  []token
	pos   int
	depth int
	err   error
}

// parse reads one expression.
func parse(src string, caretIsPower bool) (*node, error) {
	if len(src) > maxSource {
		return nil, errTooLong
	}
	toks, err := lex(pyStrip(src), caretIsPower)
	if err != nil {
		return nil, err
	}
	p := &parser{toks: toks}
	n := p.expression()
	if p.op(",") {
		p.refuse("Tuple")
	}
	if p.tok().kind != tokEnd {
		p.fail(errSyntax)
	}
	if p.err != nil {
		return nil, p.err
	}
	return n, nil
}

// pyStrip is str.strip: it knows more spaces than Go does.
func pyStrip(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		switch {
		case '\t' <= r && r <= '\r', 0x1c <= r && r <= ' ', r == 0x85, r == 0xa0, r == 0x1680,
			0x2000 <= r && r <= 0x200a, r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
			return true
		}
		return false
	})
}

// fail records the first error. The node stands in for one that is not there, so
// that rules need not check.
func (p *parser) fail(err error) *node {
	if p.err == nil {
		p.err = err
	}
	return &node{}
}

// refuse fails for a construct that is no arithmetic.
func (p *parser) refuse(class string) *node {
	return p.fail(evalError("Unsupported expression node: " + class))
}

// tok is the token to be read next.
func (p *parser) tok() token {
	if p.err != nil {
		return token{kind: tokEnd}
	}
	return p.toks[p.pos]
}

// op says whether the next token is this operator or bracket.
func (p *parser) op(text string) bool { return p.tok() == token{tokOp, text} }

// accept reads the operator if it is next.
func (p *parser) accept(text string) bool {
	if p.op(text) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail(errSyntax)
	}
}

// nested runs a rule one level deeper, or fails at the limit. Everything
// that recurses goes through here.
func (p *parser) nested(rule func() *node) *node {
	if p.depth >= maxDepth {
		return p.fail(errTooDeep)
	}
	p.depth++
	n := rule()
	p.depth--
	return n
}

// expression reads arithmetic, and refuses what compares or chooses.
func (p *parser) expression() *node {
	n := p.nested(func() *node { return p.binary(0) })
	switch t := p.tok(); t.text {
	case "==", "!=", "<", "<=", ">", ">=", "in", "is", "not":
		return p.refuse("Compare")
	case "and", "or":
		return p.refuse("BoolOp")
	case "if":
		return p.refuse("IfExp")
	}
	return n
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
		return "BitXor", 0
	case "&":
		return "BitAnd", 0
	case "<<":
		return "LShift", 0
	case ">>":
		return "RShift", 0
	case "+":
		return "Add", 1
	case "-":
		return "Sub", 1
	case "*":
		return "Mult", 2
	case "/":
		return "Div", 2
	case "//":
		return "FloorDiv", 2
	case "%":
		return "Mod", 2
	case "@":
		return "MatMult", 2
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
		if binds == 0 || class == "MatMult" {
			return p.fail(evalError("Operator not permitted: " + class))
		}
		p.pos++
		right := p.nested(func() *node { return p.binary(binds + 1) })
		n = &node{class: classBinOp, op: class, kids: []*node{n, right}}
	}
}

func (p *parser) factor() *node {
	class := ""
	switch {
	case p.accept("+"):
		class = "UAdd"
	case p.accept("-"):
		class = "USub"
	case p.op("~"):
		return p.fail(evalError("Unary operator not permitted: Invert"))
	case p.tok() == token{tokName, "not"}:
		return p.fail(evalError("Unary operator not permitted: Not"))
	default:
		return p.power()
	}
	return &node{class: classUnaryOp, op: class, kids: []*node{p.nested(p.factor)}}
}

// power binds tighter than a sign on its left, not than one on its right.
func (p *parser) power() *node {
	n := p.primary()
	if p.accept("**") {
		n = &node{class: classBinOp, op: "Pow", kids: []*node{n, p.nested(p.factor)}}
	}
	return n
}
