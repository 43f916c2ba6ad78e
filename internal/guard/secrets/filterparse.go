package secrets

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parseFilter reads the part of the filter language that the rules use:
// let, ||, &&, !, comparisons, + and -, slices of texts, lists and calls.
func parseFilter(text string) (*filter, error) {
	p := &filterParser{rest: text}
	f := &filter{}
	for p.take("let ") {
		name := p.name()
		if name == "" || !p.take("=") {
			return nil, errors.New("let wants a name, = and a value")
		}
		e, err := p.or()
		if err != nil {
			return nil, err
		}
		if !p.take(";") {
			return nil, fmt.Errorf("let %s is not closed by a semicolon", name)
		}
		f.lets = append(f.lets, e)
		p.names = append(p.names, name)
	}
	e, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.space(); p.rest != "" {
		return nil, fmt.Errorf("%q is not understood", cut(p.rest))
	}
	f.is = e
	return f, nil
}

func cut(s string) string { return s[:min(len(s), 20)] }

type filterParser struct {
	rest  string
	names []string
	depth int
}

const maxNesting = 50

func (p *filterParser) space() {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n")
		if !strings.HasPrefix(p.rest, "//") {
			return
		}
		_, p.rest, _ = strings.Cut(p.rest, "\n")
	}
}

func (p *filterParser) take(sign string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, sign)
	if ok {
		p.rest = rest
	}
	return ok
}

// name takes a word; the dots of a namespace are part of it.
func (p *filterParser) name() string {
	p.space()
	n := 0
	for n < len(p.rest) && (p.rest[n] == '_' || p.rest[n] == '.' || lower(p.rest[n]) >= 'a' && lower(p.rest[n]) <= 'z' || n > 0 && digit(p.rest[n])) {
		n++
	}
	name := p.rest[:n]
	p.rest = p.rest[n:]
	return name
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (p *filterParser) or() (expression, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, errors.New("it nests too deeply")
	}
	defer func() { p.depth-- }()
	left, err := p.and()
	for err == nil && p.take("||") {
		var right expression
		if right, err = p.and(); err == nil {
			a := left
			left = func(s *scope) value { return value{truth: a(s).truth || right(s).truth} }
		}
	}
	return left, err
}

func (p *filterParser) and() (expression, error) {
	left, err := p.compare()
	for err == nil && p.take("&&") {
		var right expression
		if right, err = p.compare(); err == nil {
			a := left
			left = func(s *scope) value { return value{truth: a(s).truth && right(s).truth} }
		}
	}
	return left, err
}

func (p *filterParser) compare() (expression, error) {
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	for _, sign := range []string{"<=", ">=", "==", "!=", "<", ">"} {
		if !p.take(sign) {
			continue
		}
		right, err := p.sum()
		if err != nil {
			return nil, err
		}
		return func(s *scope) value { return value{truth: holds(sign, left(s), right(s))} }, nil
	}
	return left, nil
}

func holds(sign string, a, b value) bool {
	switch sign {
	case "<=":
		return a.num <= b.num
	case ">=":
		return a.num >= b.num
	case "<":
		return a.num < b.num
	case ">":
		return a.num > b.num
	}
	same := a.num == b.num && a.text == b.text && a.truth == b.truth
	return same == (sign == "==")
}

func (p *filterParser) sum() (expression, error) {
	left, err := p.unary()
	for err == nil {
		a, sign := left, 1.0
		if !p.take("+") {
			if !p.take("-") {
				return left, nil
			}
			sign = -1
		}
		var right expression
		if right, err = p.unary(); err == nil {
			left = func(s *scope) value {
				x, y := a(s), right(s)
				return value{text: x.text + y.text, num: x.num + sign*y.num}
			}
		}
	}
	return left, err
}

func (p *filterParser) unary() (expression, error) {
	if p.take("!") {
		e, err := p.unary()
		if err != nil {
			return nil, err
		}
		return func(s *scope) value { return value{truth: !e(s).truth} }, nil
	}
	e, err := p.primary()
	for err == nil && p.take("[") {
		e, err = p.slice(e)
	}
	return e, err
}

// slice reads [from:to]; both are clamped to the text.
func (p *filterParser) slice(of expression) (expression, error) {
	from, err := p.or()
	if err != nil {
		return nil, err
	}
	if !p.take(":") {
		return nil, errors.New("want a slice [from:to]")
	}
	to, err := p.or()
	if err != nil {
		return nil, err
	}
	if !p.take("]") {
		return nil, errors.New("a slice is not closed")
	}
	return func(s *scope) value {
		text := of(s).text
		j := max(0, min(int(to(s).num), len(text)))
		i := max(0, min(int(from(s).num), j))
		return value{text: text[i:j]}
	}, nil
}

func (p *filterParser) primary() (expression, error) {
	if p.take("(") {
		e, err := p.or()
		if err == nil && !p.take(")") {
			err = errors.New("a parenthesis is not closed")
		}
		return e, err
	}
	if p.take("[") {
		list, err := p.list()
		return func(*scope) value { return value{list: list} }, err
	}
	if p.space(); p.rest != "" && strings.IndexByte("\"'`", p.rest[0]) >= 0 {
		text, err := p.text()
		return func(*scope) value { return value{text: text} }, err
	}
	if p.rest != "" && digit(p.rest[0]) {
		n := 0
		for n < len(p.rest) && (digit(p.rest[n]) || p.rest[n] == '.') {
			n++
		}
		num, err := strconv.ParseFloat(p.rest[:n], 64)
		p.rest = p.rest[n:]
		return func(*scope) value { return value{num: num} }, err
	}
	return p.named()
}

// named reads a field, a call, true, false or a name that let gave.
func (p *filterParser) named() (expression, error) {
	name := p.name()
	if at := slices.Index(p.names, name); at >= 0 {
		return func(s *scope) value { return s.named(at) }, nil
	}
	switch name {
	case "":
		return nil, fmt.Errorf("%q is not understood", cut(p.rest))
	case "true", "false":
		return func(*scope) value { return value{truth: name == "true"} }, nil
	case "finding", "attributes":
		if !p.take("[") {
			return nil, fmt.Errorf("%s wants a field", name)
		}
		of, err := p.text()
		if err != nil || !p.take("]") {
			return nil, fmt.Errorf("%s wants a field in brackets", name)
		}
		if name == "finding" {
			return field(of)
		}
		// What is looked over here comes from a tool, not from a file.
		return func(*scope) value { return value{} }, nil
	}
	if !p.take("(") {
		return nil, fmt.Errorf("the name %q is not known", cut(name))
	}
	var args []expression
	for !p.take(")") {
		e, err := p.or()
		if err != nil {
			return nil, err
		}
		args = append(args, e)
		if !p.take(",") && !strings.HasPrefix(p.rest, ")") {
			return nil, fmt.Errorf("the call of %s is not closed", cut(name))
		}
	}
	return call(strings.TrimPrefix(name, "filter."), args)
}

func (p *filterParser) list() ([]string, error) {
	var list []string
	for !p.take("]") {
		text, err := p.text()
		if err != nil {
			return nil, err
		}
		list = append(list, text)
		if !p.take(",") && !strings.HasPrefix(p.rest, "]") {
			return nil, errors.New("a list is not closed")
		}
	}
	return list, nil
}

func (p *filterParser) text() (string, error) {
	if p.space(); p.rest == "" {
		return "", errors.New("want a text")
	}
	quote := p.rest[0]
	if quote != '"' && quote != '\'' && quote != '`' {
		return "", errors.New("want a text")
	}
	for n := 1; n < len(p.rest); n++ {
		switch {
		case p.rest[n] == '\\' && quote != '`':
			n++
		case p.rest[n] == quote:
			text := p.rest[1:n]
			p.rest = p.rest[n+1:]
			if quote == '`' {
				return text, nil
			}
			return unescape(strings.ReplaceAll(text, `\'`, `'`))
		}
	}
	return "", errors.New("a text is not closed")
}
