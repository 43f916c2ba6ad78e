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

const (
	plainSyntaxError = "invalid syntax"
	lineContinuation = "unexpected character after line continuation character"
)

// Limits of ours, not of the language.
const (
	errTooDeep = evalError("expression is nested too deeply (more than 1000 levels)")
	errTooLong = evalError("expression is longer than 10000 bytes")
)

// parser reads the expression part of the Python 3.11 grammar, top down with
// one token of look-ahead. After the first error it sees only the end.
type parser struct {
	toks  []token
	pos   int
	depth int
	quiet bool // a trial: no search for a better message
	err   error
}

// parse reads one expression, as Python's eval mode does.
func parse(src string, caretIsPower bool) (*node, error) {
	if len(src) > maxSource {
		return nil, errTooLong
	}
	p := &parser{toks: lex(pyStrip(src), caretIsPower)}
	n := p.list(p.expression, "Tuple")
	for p.tok().kind == tokNewline {
		p.pos++
	}
	switch p.tok().kind {
	case tokEnd:
	case tokIndent:
		p.fail("unexpected indent")
	default:
		p.fail(plainSyntaxError)
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

// fail records the first error. An error of the lexer further on is what
// CPython reports instead of its own.
func (p *parser) fail(msg string) {
	if p.err != nil {
		return
	}
	if last := p.toks[len(p.toks)-1]; last.kind == tokError && last.text != lineContinuation {
		msg = last.text
	}
	p.err = syntaxError(msg)
}

// tok is the token to be read next. Meeting an error token fails.
func (p *parser) tok() token {
	if p.err == nil {
		t := p.toks[p.pos]
		if t.kind != tokError && t.kind != tokUnclosed {
			return t
		}
		p.err = syntaxError(t.text)
	}
	return token{kind: tokEnd}
}

// peek is the token after tok; error tokens are left for tok to meet.
func (p *parser) peek() token {
	if p.err != nil || p.pos+1 >= len(p.toks) {
		return token{kind: tokEnd}
	}
	return p.toks[p.pos+1]
}

// op says whether the next token is this operator or bracket.
func (p *parser) op(text string) bool {
	t := p.tok()
	return t.kind == tokOp && t.text == text
}

// word says whether the next token is this keyword.
func (p *parser) word(text string) bool {
	t := p.tok()
	return t.kind == tokName && t.text == text
}

// take reads the operator if it is next.
func (p *parser) take(text string) bool {
	if p.op(text) {
		p.pos++
		return true
	}
	return false
}

// takeWord reads the keyword if it is next.
func (p *parser) takeWord(text string) bool {
	if p.word(text) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.take(text) {
		p.fail(plainSyntaxError)
	}
}

// nested runs a rule one level deeper, or fails at the limit. Everything
// that recurses goes through here.
func (p *parser) nested(rule func() *node) *node {
	if p.depth >= maxDepth {
		if p.err == nil {
			p.err = errTooDeep
		}
		return failed()
	}
	p.depth++
	n := rule()
	p.depth--
	return n
}

// failed stands in for a node after an error, so that rules need not check.
func failed() *node { return &node{class: "Failed"} }

func isKeyword(s string) bool {
	switch s {
	case "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
		"elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
		"not", "or", "pass", "raise", "return", "try", "while", "with", "yield":
		return true
	}
	return false
}

// isName says whether t is an identifier.
func isName(t token) bool { return t.kind == tokName && !isKeyword(t.text) }

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

// startsExpression says whether an expression can begin with t.
func startsExpression(t token) bool {
	switch t.kind {
	case tokNumber, tokString:
		return true
	case tokName:
		switch t.text {
		case "None", "True", "False", "not", "lambda", "await":
			return true
		}
		return !isKeyword(t.text)
	case tokOp:
		switch t.text {
		case "(", "[", "{", "+", "-", "~", "...":
			return true
		}
	}
	return false
}

// list reads one item, or several with commas as one node of the class.
func (p *parser) list(item func() *node, class string) *node {
	first := item()
	if !p.op(",") {
		return first
	}
	kids := []*node{first}
	for p.take(",") {
		t := p.tok()
		if !startsExpression(t) && !p.op("*") {
			break
		}
		kids = append(kids, item())
	}
	return &node{class: class, kids: kids}
}
