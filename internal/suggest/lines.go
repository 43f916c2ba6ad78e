package suggest

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// bareWord is a subcommand, a target, a script.
var bareWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]*$`)

// lines is what the approved command lines have in common.
type lines struct {
	s *search
	// forms are the different commands that a rule with a * was seen with: one that
	// was always the same needs no *.
	forms map[string]map[string]bool
}

func (s *search) lines() *lines {
	l := &lines{s: s, forms: map[string]map[string]bool{}}
	for _, one := range s.approved {
		if one.review.Spec.Box != "shell" {
			continue
		}
		line := s.Line(one.review)
		if line == nil {
			continue
		}
		for i := range line.Programs {
			open, exact, _ := rulesFor(&line.Programs[i])
			if open == "" {
				continue
			}
			if l.forms[open] == nil {
				l.forms[open] = map[string]bool{}
			}
			l.forms[open][exact] = true
		}
	}
	return l
}

// ways are the rules for every program of a line: of those that do more than read
// first, and of all of them next, since beside others some that read need one too. A
// rule with a * comes before the exact words.
func (l *lines) ways(one *asked) (ways []way, why string) {
	line := l.s.Line(one.review)
	if line == nil || len(line.Programs) == 0 {
		return nil, one.why
	}
	if len(line.Unknown) > 0 {
		return nil, "the line is not understood in full: " + line.Unknown[0]
	}
	for _, all := range []bool{false, true} {
		for _, wide := range []bool{true, false} {
			var w way
			for i := range line.Programs {
				p := &line.Programs[i]
				if p.Builtin || !all && p.Class == shellguard.ReadOnly {
					continue
				}
				open, exact, no := rulesFor(p)
				if no != "" && p.Class != shellguard.ReadOnly {
					return nil, no
				}
				text := exact
				if wide && open != "" && len(l.forms[open]) > 1 {
					text = open
				}
				if text == "" {
					w = nil
					break
				}
				if rule := "run_command(" + text + ")"; !slices.Contains(w, rule) {
					w = append(w, rule)
				}
			}
			if len(w) > 0 && !slices.ContainsFunc(ways, func(v way) bool { return v.key() == w.key() }) {
				ways = append(ways, w)
			}
		}
	}
	if len(ways) == 0 {
		return nil, one.why
	}
	return ways, one.why
}

// rulesFor are the rules that mean a program: one with a *, if that is sensible, and
// the exact words. no says why there is none at all.
func rulesFor(p *shellguard.Program) (open, exact, no string) {
	words := []string{path.Base(p.Name)}
	if strings.Contains(p.Name, "/") {
		words[0] = p.Name
	}
	if no := never(p); no != "" {
		return "", "", no
	}
	for _, a := range p.Args {
		if !a.Literal {
			return openOf(p, words), "", "" // what it gets is decided while the line runs
		}
		words = append(words, a.Text)
	}
	return openOf(p, words), written(shellguard.Rule{Words: words}, p), ""
}

// openOf is the rule with a * for the words of a program; empty: there is none.
func openOf(p *shellguard.Program, words []string) string {
	n := openWords(words)
	if n == 0 {
		return ""
	}
	return written(shellguard.Rule{Words: words[:n], Open: true}, p)
}

// written is the text of a rule, if it means the program as it is read again.
func written(r shellguard.Rule, p *shellguard.Program) string {
	text := r.String()
	if len(text) > maxRuleText {
		return ""
	}
	again, err := shellguard.ParseRule(text)
	if err != nil || !slices.Equal(again.Words, r.Words) || again.Open != r.Open || !again.Match(p) {
		return ""
	}
	return text
}

// maxRuleText bounds what a person is shown as a rule: nobody reads more.
const maxRuleText = 160

// mayMean reports whether a rule may mean a declined call of which not everything is
// known. For commands the words that it begins with are enough.
func (s *search) mayMean(rule string, one *asked) bool {
	name, spec, scoped := strings.Cut(rule, "(")
	own := s.ruleName(&one.review.Spec)
	if own == "" {
		own = one.Tool // what it is now called nobody knows
	}
	if own != name {
		return false
	}
	line := s.Line(one.review)
	if !scoped || line == nil {
		return true
	}
	r, err := shellguard.ParseRule(strings.TrimSuffix(spec, ")"))
	if err != nil {
		return true
	}
	return len(line.Unknown) > 0 || slices.ContainsFunc(line.Programs, func(p shellguard.Program) bool {
		if path.Base(p.Name) != path.Base(r.Words[0]) || len(p.Args) < len(r.Words)-1 {
			return false
		}
		for i, w := range r.Words[1:] {
			if a := p.Args[i]; a.Literal && a.Text != w && !strings.Contains(a.Text, "[redacted]") {
				return false
			}
		}
		return true
	})
}
