package secrets

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/betterleaks/betterleaks/config"
)

// Finding is a secret in a text: text[Start:End] is what must not be seen.
type Finding struct {
	Start, End int
	Rule       string // never says anything about the value
}

// Scanner finds secrets by rules. It may be used by several goroutines.
type Scanner struct {
	rules  []*rule
	words  *words
	uses   [][]use // by keyword
	count  int     // of uses
	filter *lazyFilter
	base64 step      // a run that may hide something
	spare  sync.Pool // of *hunt
}

// use is a rule that a keyword is of.
type use struct {
	id    int
	rule  int
	index int // of the keyword in the rule
}

// rule is compiled when it is first needed.
type rule struct {
	rawRule
	once      sync.Once
	err       error
	chains    [][]step       // a match fits one of them
	first     byteSet        // what a match can begin with
	run       step           // so many bytes of a set are in every match
	boundary  bool           // a match begins at the edge of a word
	places    []place        // by keyword; nil: anywhere near one
	longest   int            // bytes of a match
	perByte   int            // work of the regexp
	bare      *regexp.Regexp // at the beginning of a text
	behind    *regexp.Regexp // after one byte
	rejection *lazyFilter
}

// New reads the rule set. It compiles none of the rules.
func New() (*Scanner, error) { return newScanner(config.DefaultConfig) }

func newScanner(text string) (*Scanner, error) {
	raw, filter, err := readRules(text)
	if err != nil {
		return nil, fmt.Errorf("reading the rules for secrets: %w", err)
	}
	s := &Scanner{base64: base64Run(), filter: &lazyFilter{text: filter}}
	var list []string
	known := map[string]int{}
	for _, r := range raw {
		if r.regex == "" || len(r.keywords) == 0 || r.unlisted && !secretPart(r.id) {
			continue // a rule on names of files, or on what is public
		}
		for i, word := range r.keywords {
			word = strings.ToLower(word)
			r.keywords[i] = word
			at, ok := known[word]
			if !ok {
				at = len(list)
				known[word] = at
				list = append(list, word)
				s.uses = append(s.uses, nil)
			}
			s.uses[at] = append(s.uses[at], use{id: s.count, rule: len(s.rules), index: i})
			s.count++
		}
		s.rules = append(s.rules, &rule{rawRule: r, rejection: &lazyFilter{text: r.filter}})
	}
	if s.words = newWords(list); s.words == nil || len(s.rules) == 0 {
		return nil, fmt.Errorf("reading the rules for secrets: %d rules with %d keywords are none that can be used", len(s.rules), len(list))
	}
	return s, nil
}

// secretPart tells which parts of a secret in several parts are secret
// themselves: the name of an account beside its key is not.
func secretPart(id string) bool {
	id = strings.TrimRight(id, ".0123456789")
	for _, public := range []string{"-id", "-name", "-url", "-host", "-address", "cloudinary-api-key", "ovh-application-key"} {
		if strings.HasSuffix(id, public) {
			return false
		}
	}
	return true
}

// lazyFilter is parsed when a match has to be judged by it.
type lazyFilter struct {
	text string
	once sync.Once
	is   *filter
	err  error
}

// drops reports whether a match is no secret. A filter that cannot be read
// drops nothing.
func (f *lazyFilter) drops(m match) bool {
	f.once.Do(func() {
		if strings.TrimSpace(f.text) != "" {
			f.is, f.err = parseFilter(f.text)
		}
	})
	return f.is != nil && f.is.drops(m)
}

// ready compiles the rule.
func (r *rule) ready() bool {
	r.once.Do(func() { r.err = r.compile() })
	return r.err == nil
}

func (r *rule) compile() error {
	tree, err := syntax.Parse(r.regex, syntax.Perl)
	if err != nil {
		return fmt.Errorf("rule %s: %w", r.id, err)
	}
	if r.bare, err = regexp.Compile(`\A(?:` + r.regex + `)`); err != nil {
		return fmt.Errorf("rule %s: %w", r.id, err)
	}
	if r.behind, err = regexp.Compile(`\A(?s:.)(?:` + r.regex + `)`); err != nil {
		return fmt.Errorf("rule %s: %w", r.id, err)
	}
	if r.group > r.bare.NumSubexp() {
		return fmt.Errorf("rule %s: it has no group %d", r.id, r.group)
	}
	r.perByte = workOf(tree)
	chain := steps(tree)
	r.longest = widened(chain).max
	for _, st := range chain {
		if st.min > r.run.min {
			r.run = st
		}
	}
	r.first = firstOf(chain)
	r.chains = [][]step{chain}
	if tree.Op == syntax.OpAlternate && len(tree.Sub) <= 4 {
		r.chains = nil
		for _, sub := range tree.Sub {
			r.chains = append(r.chains, steps(sub))
		}
	}
	first := tree
	for first.Op == syntax.OpConcat || first.Op == syntax.OpCapture {
		first = first.Sub[0]
	}
	r.boundary = first.Op == syntax.OpWordBoundary
	if at, ok := places(tree, r.keywords); ok {
		r.places = at
	}
	return nil
}

// Find gives the secrets in a text in the order of their beginning; none
// overlaps another. Known values are secrets by any rule; there may be none.
func (s *Scanner) Find(text string, known *Known) []Finding {
	return merged(s.all(text, known))
}

// all gives what is found in a text as it is, with its escapes resolved and in
// its base64. Each of the three looks has work of its own, so that one that is
// cut short does not cut the others.
func (s *Scanner) all(text string, known *Known) []Finding {
	found, _ := s.find(nil, text, workFor(text))
	found = known.find(found, text)
	found = s.escaped(found, text, known)
	return s.encoded(found, text, known)
}

// find adds what is found by rules and by the form of private keys, and gives
// the work that is left.
func (s *Scanner) find(found []Finding, text string, left work) ([]Finding, work) {
	var h *hunt // most texts need none
	s.words.each(text, func(word, end int) bool {
		if h == nil {
			h = s.hunt(found, text, left)
		}
		h.met(word, end)
		return true
	})
	if h != nil {
		found, left = h.found, h.left
		s.rest(h)
	}
	return findPEM(found, text), left
}

// Errors compiles every rule and gives what is wrong with any of them. A rule
// that cannot be compiled is never met; a filter that cannot drops nothing.
func (s *Scanner) Errors() []error {
	var all []error
	add := func(id string, err error) {
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", id, err))
		}
	}
	s.filter.drops(match{})
	add("all rules", s.filter.err)
	for _, r := range s.rules {
		r.ready()
		r.rejection.drops(match{})
		add(r.id, r.err)
		add(r.id, r.rejection.err)
	}
	return all
}

// secret gives the group that is the secret: the one the rule names, or else
// the first that matched, or else all of it.
func (r *rule) secret(spans []int, from int, m match) (int, int) {
	if r.group > 0 {
		if spans[2*r.group] >= 0 {
			return from + spans[2*r.group], from + spans[2*r.group+1]
		}
		return m.from, m.to
	}
	for g := 2; g+1 < len(spans); g += 2 {
		if spans[g] >= 0 && spans[g+1] > spans[g] {
			return from + spans[g], from + spans[g+1]
		}
	}
	return m.from, m.to
}

func wordByte(c byte) bool {
	return c == '_' || digit(c) || lower(c) >= 'a' && lower(c) <= 'z'
}

// merged sorts findings and makes one of those that overlap; it keeps the name
// of the rule that found the most, and of the general rule only if it is alone.
func merged(found []Finding) []Finding {
	if len(found) < 2 {
		return found
	}
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.weight(), b.weight()), cmp.Compare(a.Rule, b.Rule))
	})
	out := found[:1]
	for _, f := range found[1:] {
		last := &out[len(out)-1]
		if f.Start >= last.End {
			out = append(out, f)
			continue
		}
		if last.weight() > f.weight() {
			last.Rule = f.Rule
		}
		last.End = max(last.End, f.End)
	}
	return out
}

func (f Finding) weight() int {
	if f.Rule == "generic-api-key" {
		return math.MaxInt
	}
	return 0
}
