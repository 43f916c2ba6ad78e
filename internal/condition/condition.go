// Package condition reads, checks and evaluates the conditions of rules: a part
// of CEL, the Common Expression Language, that means exactly what CEL means.
//
// Rules (internal/policy) compile their conditions with it; every package may
// import it. It knows names and types that its caller declares, and no tools.
// cel-go is a judge in its tests: what is accepted here is accepted there and
// gives the same value, and what is refused here is refused there too or is on
// the list of what is left out.
//
// Its one invariant: an expression costs what it is charged for. Whatever the text
// and the values are, reading, checking and evaluating stay within their bounds,
// and end in a value or an error.
//
//	scan             text into tokens
//	parse, tree      tokens into a tree
//	types            types, and which fits where
//	check, apply     names, functions and types of a tree
//	functions        operators and functions: what they take, and what is left out
//	eval, loop       a tree and values into a value
//	values, compute  comparing, computing and converting
//	pattern          regular expressions, and how large they are
package condition

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds on expressions.
const (
	maxText    = 4 << 10
	maxDepth   = 48
	maxPattern = 10_000 // instructions of a regular expression
)

// Program is an expression that was read and checked. Many may use it at once.
type Program struct {
	text  string
	tree  *node
	loops int
}

// Compile reads and checks an expression over names of known types. It has to give
// a bool.
func Compile(text string, names map[string]Type) (*Program, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the expression has %d bytes; at most %d are allowed", len(text), maxText)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("text that is not valid UTF-8 is left out: write the file anew as UTF-8")
	}
	p := &parser{scanner: scanner{text: text}}
	tree := p.whole()
	c := &checker{problem: p.problem, names: names}
	if c.err == nil {
		result := c.substitute(c.check(tree), true)
		if c.err == nil && result.kind != 'b' {
			return nil, fmt.Errorf("the expression gives %s and not a bool: compare it with something", result)
		}
	}
	if c.err != nil {
		return nil, fmt.Errorf("%s: %w", place(text, c.at), c.err)
	}
	return &Program{text: text, tree: tree, loops: c.deepest}, nil
}

// Holds evaluates the expression. Values are those of JSON as Go has them, whole
// numbers as int64 or uint64. A unit of cost is about one operation, or ten bytes
// that are looked at; when it is used up, that is an error, whatever else the
// expression would give.
func (p *Program) Holds(values map[string]any, cost int) (bool, error) {
	r := &run{values: values, left: cost}
	if p.loops > 0 {
		r.loops = make([]any, p.loops)
	}
	got, err := r.eval(p.tree)
	var at *fault
	switch {
	case r.left < 0:
		return false, fmt.Errorf("it costs more than %d", cost)
	case errors.As(err, &at):
		return false, fmt.Errorf("%s: %w", place(p.text, at.node.at), err)
	}
	return got == true, err
}

// problem is the first thing that is wrong with an expression, and where.
type problem struct {
	err error
	at  int
}

func (p *problem) report(at int, format string, args ...any) {
	if p.err == nil {
		p.err, p.at = fmt.Errorf(format, args...), at
	}
}

// place says where something is as a person counts.
func place(text string, at int) string {
	before := text[:min(at, len(text))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	column := fmt.Sprintf("column %d", utf8.RuneCountInString(line)+1)
	if n := strings.Count(before, "\n"); n > 0 || strings.Contains(strings.TrimRight(text, "\n"), "\n") {
		return fmt.Sprintf("line %d, %s", n+1, column)
	}
	return column
}
