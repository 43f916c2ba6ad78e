package secrets

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// pattern is a regexp of a filter with a quick look before it. Filters have
// many, and nearly none of them matches.
type pattern struct {
	re      *regexp.Regexp
	chain   []step
	first   byteSet
	atStart bool // it matches at the beginning of a text only
	perByte int
}

func newPattern(text string) (*pattern, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	p := &pattern{re: re, chain: steps(tree), perByte: workOf(tree)}
	p.first = firstOf(p.chain)
	first := tree
	for first.Op == syntax.OpConcat {
		first = first.Sub[0]
	}
	p.atStart = first.Op == syntax.OpBeginText
	return p, nil
}

// firstOf gives what a match of the chain can begin with.
func firstOf(chain []step) byteSet {
	var first byteSet
	for _, st := range chain {
		if first.join(st.set); st.min > 0 {
			break
		}
	}
	return first
}

// may is false only if the pattern does not match.
func (p *pattern) may(text string) bool {
	if len(p.chain) == 0 || p.atStart {
		return fits(p.chain, text)
	}
	for i := range len(text) {
		if p.first.has(text[i]) && fits(p.chain, text[i:]) {
			return true
		}
	}
	return fits(p.chain, "")
}

func (p *pattern) matches(text string, left *work) bool {
	if !p.may(text) {
		left.use(workLook)
		return false
	}
	left.use(workMatch + len(text)*p.perByte)
	return p.re.MatchString(text)
}
