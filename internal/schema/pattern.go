package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"time"

	"github.com/toolcrib/toolcrib/internal/backtrack"
)

// matcher is a compiled pattern. Most patterns of tool schemas are a row of character sets between ^ and $, such as
// ^[a-z]+-[0-9]{4}$. These are matched by walking the bytes once, which is some ten times faster than a general engine;
// all others go to package regexp, and a test holds the two against each other.
type matcher struct {
	source string
	re     *regexp.Regexp     // nil when the runs say it all
	js     *backtrack.Pattern // instead of both: only JavaScript has such patterns
	runs   []run
	weight int // how many steps of an automaton it unfolds into
}

// run asks for min to max characters out of a set of ASCII characters.
type run struct {
	set      asciiSet
	min, max int // max: -1 means any number
}

type asciiSet [2]uint64

func (s *asciiSet) add(lo, hi rune) {
	for c := lo; c <= hi; c++ {
		s[c>>6] |= 1 << (c & 63)
	}
}

func (s *asciiSet) has(c byte) bool { return c < 128 && s[c>>6]>>(c&63)&1 != 0 }

func (s *asciiSet) meets(t *asciiSet) bool { return s[0]&t[0] != 0 || s[1]&t[1] != 0 }

func newMatcher(pattern string) (*matcher, error) {
	m := &matcher{source: pattern}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if m.weight = weightOf(tree); m.weight > maxPatterns {
		return nil, fmt.Errorf("it is too large: it unfolds into more than %d steps", maxPatterns)
	}
	if m.runs = runsOf(tree); m.runs == nil {
		m.re, err = regexp.Compile(pattern)
	}
	return m, err
}

// The bounds of patterns that only an engine which goes back and forth can match. What they do not suffice for counts as
// fitting: they are of schemas that others obey, see [Foreign].
const (
	jsTime = 50 * time.Millisecond
	jsText = 64 << 10
)

// newJSMatcher is newMatcher for what package regexp does not understand: look-around, back references.
func newJSMatcher(pattern string) (*matcher, error) {
	js, err := backtrack.JavaScript(pattern, jsTime)
	if err != nil {
		return nil, errors.New("no engine here understands it")
	}
	return &matcher{source: pattern, js: js, weight: len(pattern)}, nil
}

// matches says whether the pattern matches somewhere in s, and spends what that takes. Once nothing is left to be spent, the
// answer means nothing.
func (p *stepBudget) matches(m *matcher, s []byte) bool {
	if m.js == nil {
		p.steps -= 1 + m.cost(len(s))
		return p.steps >= 0 && m.match(s)
	}
	if p.steps -= 1 + len(s)>>3; p.steps < 0 || len(s) > jsText {
		return true
	}
	began := time.Now()
	ok, err := m.js.Match(s)
	p.steps -= int(time.Since(began) / (20 * time.Nanosecond))
	return ok || err != nil
}

// weightOf counts the steps that a pattern unfolds into: x{1000} is a thousand.
func weightOf(tree *syntax.Regexp) int {
	n := 0
	for _, sub := range tree.Sub {
		n += weightOf(sub)
	}
	switch tree.Op {
	case syntax.OpLiteral:
		n = len(tree.Rune)
	case syntax.OpRepeat:
		n *= max(tree.Min, tree.Max, 1)
	default:
		n++
	}
	return min(n, 2*maxPatterns)
}

// cost says in steps of the budget what matching n bytes takes at most. Package regexp goes back and forth in short texts,
// and follows all possibilities at once in long ones, which takes less for each.
func (m *matcher) cost(n int) int {
	if m.re == nil {
		return n >> 6
	}
	const short = 1 << 18
	if n *= m.weight; n <= short {
		return n >> 3
	}
	return max(short>>3, n>>5)
}

// match says whether the pattern matches somewhere in s.
func (m *matcher) match(s []byte) bool {
	if m.re != nil {
		return m.re.Match(s)
	}
	at := 0
	for j := range m.runs {
		r := &m.runs[j]
		end := len(s)
		if r.max >= 0 && r.max < end-at {
			end = at + r.max
		}
		from := at
		for at < end && r.set.has(s[at]) {
			at++
		}
		if at-from < r.min {
			return false
		}
	}
	return at == len(s)
}

// runsOf gives the runs of a pattern, nil if it is not one of the simple kind: anchored at both ends, ASCII, and such that
// taking as many characters as possible at every run is the only way to match. That holds when a run of variable length
// shares no character with whatever can follow it.
func runsOf(tree *syntax.Regexp) []run {
	subs := tree.Sub
	if tree.Op != syntax.OpConcat || len(subs) < 2 || subs[0].Op != syntax.OpBeginText || subs[len(subs)-1].Op != syntax.OpEndText {
		return nil
	}
	runs := []run{}
	for _, sub := range subs[1 : len(subs)-1] {
		if sub.Op == syntax.OpLiteral && sub.Flags&syntax.FoldCase == 0 {
			for _, c := range sub.Rune {
				if c > 127 {
					return nil
				}
				r := run{min: 1, max: 1}
				r.set.add(c, c)
				runs = append(runs, r)
			}
			continue
		}
		r, ok := runOf(sub)
		if !ok {
			return nil
		}
		runs = append(runs, r)
	}
	for j := range runs {
		for k := j + 1; k < len(runs) && runs[j].min != runs[j].max; k++ {
			if runs[j].set.meets(&runs[k].set) {
				return nil
			}
			if runs[k].min > 0 {
				break
			}
		}
	}
	return runs
}

func runOf(sub *syntax.Regexp) (run, bool) {
	r := run{min: 1, max: 1}
	switch sub.Op {
	case syntax.OpStar:
		r.min, r.max = 0, -1
	case syntax.OpPlus:
		r.max = -1
	case syntax.OpQuest:
		r.min = 0
	case syntax.OpRepeat:
		r.min, r.max = sub.Min, sub.Max
	case syntax.OpCharClass:
		for j := 0; j < len(sub.Rune); j += 2 {
			if sub.Rune[j+1] > 127 {
				return r, false
			}
			r.set.add(sub.Rune[j], sub.Rune[j+1])
		}
		return r, true
	case syntax.OpLiteral:
		if len(sub.Rune) != 1 || sub.Rune[0] > 127 || sub.Flags&syntax.FoldCase != 0 {
			return r, false
		}
		r.set.add(sub.Rune[0], sub.Rune[0])
		return r, true
	default:
		return r, false
	}
	switch inner := sub.Sub[0]; inner.Op {
	case syntax.OpCharClass, syntax.OpLiteral:
		one, ok := runOf(inner)
		r.set = one.set
		return r, ok
	}
	return r, false
}
