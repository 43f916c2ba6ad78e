package condition

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// pattern is a regular expression and the size of its program, which says how
// long it takes for a text.
type pattern struct {
	*regexp.Regexp
	size int
}

// compilePattern also says how large the program was that it made, even if it
// refuses the pattern.
func compilePattern(text string) (p *pattern, size int, err error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, 0, fmt.Errorf("the pattern is no regular expression of RE2: %w", err)
	}
	if leastSize(tree) > maxPattern {
		return nil, 0, errLargePattern
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, fmt.Errorf("the pattern is no regular expression of RE2: %w", err)
	}
	if size = len(program.Inst); size > maxPattern {
		return nil, size, errLargePattern
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, size, fmt.Errorf("the pattern is no regular expression of RE2: %w", err)
	}
	return &pattern{compiled, size}, size, nil
}

var errLargePattern = errors.New("the pattern is too large: repeat less, or fewer times")

// leastSize is what a program has at the least: repetitions are written out in it,
// so that a short pattern can make a program of millions of instructions.
func leastSize(re *syntax.Regexp) int {
	size := 1 // a class, an anchor, any character
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	for _, sub := range re.Sub {
		size += leastSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max)
	}
	return size
}

// matches takes as long as the text is long and as the program is large.
func (r *run) matches(n *node, s, t string) (any, error) {
	p, known := n.value.(*pattern)
	if !known {
		if len(t) > maxText || !r.spend(len(t)) {
			return nil, n.fault("the pattern is longer than %d bytes", maxText)
		}
		var size int
		var err error
		p, size, err = compilePattern(t)
		r.spend(4 * size) // also for one that is refused: the work is done
		if err != nil {
			return nil, n.fault("the pattern is no regular expression of RE2, or too large") // what it is may be a secret
		}
	}
	each := max(1, p.size/4)
	if p.size > 500 { // the quick ways of the library end there
		each = p.size
	}
	if len(s)/10+1 > r.left/each {
		r.left = -1
		return false, nil
	}
	r.spend((len(s)/10 + 1) * each)
	return p.MatchString(s), nil
}
