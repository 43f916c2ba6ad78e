package secrets

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// match is a possible finding as a rule's filter sees it.
type match struct {
	text                 string // all of the text
	from, to             int    // the match
	secretFrom, secretTo int    // the part that is the secret
	left                 *work
}

func (m match) secret() string { return m.text[m.secretFrom:m.secretTo] }

// lineReach is how much of a line is seen before and after a match: a text may
// be a single line, and every match in it is judged.
const lineReach = 512

// line gives the bounds of the line or lines the match is on.
func (m match) line() (from, to int) {
	from = max(0, m.from-lineReach)
	from += strings.LastIndexByte(m.text[from:m.from], '\n') + 1
	to = min(len(m.text), m.to+lineReach)
	if n := strings.IndexByte(m.text[m.to:to], '\n'); n >= 0 {
		to = m.to + n
	}
	return from, to
}

// value is what an expression gives: one of the four.
type value struct {
	text  string
	num   float64
	truth bool
	list  []string
}

// scope is where an expression is evaluated.
type scope struct {
	match
	lets  []expression
	names []*value // what the lets gave, once they were asked
}

type expression func(*scope) value

// filter says whether a match is no secret after all.
type filter struct {
	lets []expression // evaluated when they are used
	is   expression
}

func (f *filter) drops(m match) bool {
	s := &scope{match: m, lets: f.lets}
	return f.is(s).truth
}

// named gives what the let of this index stands for.
func (s *scope) named(index int) value {
	if s.names == nil {
		s.names = make([]*value, len(s.lets))
	}
	if s.names[index] == nil {
		v := s.lets[index](s)
		s.names[index] = &v
	}
	return *s.names[index]
}

// field gives what finding["name"] stands for.
func field(name string) (expression, error) {
	switch name {
	case "secret":
		return func(s *scope) value { return value{text: s.secret()} }, nil
	case "match":
		return func(s *scope) value { return value{text: s.text[s.from:s.to]} }, nil
	case "fragment_raw":
		return func(s *scope) value { return value{text: s.text} }, nil
	case "match_start_idx":
		return func(s *scope) value { return value{num: float64(s.from)} }, nil
	case "match_end_idx":
		return func(s *scope) value { return value{num: float64(s.to)} }, nil
	case "match_line_start_idx":
		return func(s *scope) value { from, _ := s.line(); return value{num: float64(from)} }, nil
	case "match_line_end_idx":
		return func(s *scope) value { _, to := s.line(); return value{num: float64(to)} }, nil
	case "line":
		return func(s *scope) value { from, to := s.line(); return value{text: s.text[from:to]} }, nil
	}
	return nil, fmt.Errorf("a finding has no %q", name)
}

// call gives what a function of the filter language stands for. The lists are
// constants, so that what is made of them is made once.
func call(name string, args []expression) (expression, error) {
	want := map[string]int{"entropy": 1, "failsTokenEfficiency": 1, "matchesAny": 2, "containsAny": 2, "findMatch": 2, "len": 1, "max": 2, "min": 2}
	if n, ok := want[name]; !ok || n != len(args) {
		return nil, fmt.Errorf("no function %s of %d arguments is known", name, len(args))
	}
	switch name {
	case "entropy":
		return func(s *scope) value { return value{num: entropy(args[0](s).text)} }, nil
	case "failsTokenEfficiency":
		return func(s *scope) value { return value{truth: wordy(args[0](s).text)} }, nil
	case "len":
		return func(s *scope) value { return value{num: float64(len(args[0](s).text))} }, nil
	case "max":
		return func(s *scope) value { return value{num: max(args[0](s).num, args[1](s).num)} }, nil
	case "min":
		return func(s *scope) value { return value{num: min(args[0](s).num, args[1](s).num)} }, nil
	}
	fixed := args[1](&scope{})
	switch name {
	case "containsAny":
		if list := newWords(fixed.list); list != nil {
			return func(s *scope) value { return value{truth: list.in(args[0](s).text)} }, nil
		}
		return nil, fmt.Errorf("%s: the list is too long", name)
	case "findMatch":
		re, err := regexp.Compile(fixed.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return func(s *scope) value {
			text := args[0](s).text
			s.left.use(workMatch + len(text)*workThreads)
			return value{text: re.FindString(text)}
		}, nil
	default: // matchesAny
		var list []*pattern
		for _, text := range fixed.list {
			p, err := newPattern(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			list = append(list, p)
		}
		return func(s *scope) value {
			text := args[0](s).text
			return value{truth: slices.ContainsFunc(list, func(p *pattern) bool { return p.matches(text, s.left) })}
		}, nil
	}
}

// entropy is Shannon's, in bits per byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	h, n := 0.0, float64(len(s))
	for _, c := range count {
		if c > 0 {
			p := float64(c) / n
			h -= p * math.Log2(p)
		}
	}
	return h
}
