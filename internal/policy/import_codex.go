package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// ImportCodex reads a .rules file of Codex. Such a file is a program; of it the
// plain calls of prefix_rule are read, and everything else is told.
func ImportCodex(data []byte) (Imported, error) {
	im, err := newImporter(data)
	if err != nil {
		return Imported{}, err
	}
	s := &starlark{text: string(data), line: 1}
	for {
		s.space(true)
		if s.at >= len(s.text) {
			return im.Imported, nil
		}
		line, begin := s.line, s.at
		name, args, err := s.call()
		at := fmt.Sprintf("line %d", line)
		switch {
		case err != nil:
			s.skipStatement(begin)
			im.leaveOut(at, s.text[begin:s.at], "only plain calls are read: "+err.Error())
		case name != "prefix_rule":
			im.leaveOut(at, s.text[begin:s.at], "nothing is known about "+shellguard.Quote(name))
		default:
			im.codexRule(at, s.text[begin:s.at], args)
		}
	}
}

func (im *importer) codexRule(at, text string, args []starArg) {
	var pattern []starValue
	d := toolcrib.Allow
	var c Condition
	var match, notMatch []string
	for _, a := range args {
		var err error
		switch a.name {
		case "pattern":
			pattern = a.value.list
		case "decision":
			switch a.value.text {
			case "allow":
			case "prompt":
				d = toolcrib.Ask
			case "forbidden":
				d = toolcrib.Deny
			default:
				err = fmt.Errorf("the decision %s is not known", shellguard.Quote(a.value.text))
			}
		case "justification":
			c.Message = a.value.text
		case "match":
			match, err = codexExamples(a.value)
		case "not_match":
			notMatch, err = codexExamples(a.value)
		default:
			err = fmt.Errorf("nothing is known about the argument %s", shellguard.Quote(a.name))
		}
		if err != nil {
			im.leaveOut(at, text, err.Error())
			return
		}
	}
	words, err := codexWords(pattern)
	if err != nil {
		im.leaveOut(at, text, err.Error())
		return
	}
	used := make([]bool, len(match))
	for _, prefix := range words {
		one := c
		one.Tool = "run_command(" + exactly(d, prefix+" *") + ")"
		one.NotMatch = notMatch
		for i, m := range match { // an example is of one of the alternatives
			if m == prefix || strings.HasPrefix(m, prefix+" ") {
				one.Match, used[i] = append(one.Match, m), true
			}
		}
		im.addRule(d, at, text, one)
	}
	for i, m := range match {
		if !used[i] {
			im.partly(at, m, "this example is of none of the rules")
		}
	}
}

// codexWords writes out the prefixes that a pattern stands for.
func codexWords(pattern []starValue) ([]string, error) {
	if len(pattern) == 0 {
		return nil, errors.New("it has no pattern")
	}
	out := []string{""}
	for _, v := range pattern {
		either := v.list
		if v.list == nil {
			either = []starValue{v}
		}
		var next []string
		for _, before := range out {
			for _, e := range either {
				w, err := quoteWord(e.text)
				if err != nil || e.list != nil {
					return nil, errors.New("a word of it is no plain text")
				}
				if next = append(next, strings.TrimSpace(before+" "+w)); len(next) > pathglob.MaxBraces {
					return nil, fmt.Errorf("it stands for more than %d rules", pathglob.MaxBraces)
				}
			}
		}
		out = next
	}
	if len(out) == 0 {
		return nil, errors.New("it has an empty list of words")
	}
	return out, nil
}

// codexExamples reads commands given as texts or as lists of words.
func codexExamples(v starValue) ([]string, error) {
	var out []string
	for _, e := range v.list {
		if e.list == nil {
			out = append(out, e.text)
			continue
		}
		var words []string
		for _, w := range e.list {
			q, err := quoteWord(w.text)
			if err != nil || w.list != nil {
				return nil, errors.New("an example has a word that is no plain text")
			}
			words = append(words, q)
		}
		out = append(out, strings.Join(words, " "))
	}
	return out, nil
}

// starlark reads the few things of that language that rules are written in:
// calls with named arguments that are texts and lists.
type starlark struct {
	text     string
	at, line int
}

type starArg struct {
	name  string
	value starValue
}

type starValue struct {
	text string
	list []starValue // nil: a text
}

const maxStarDepth = 8

// space steps over blanks and comments, and over line ends if asked to.
func (s *starlark) space(lines bool) {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '#':
			for s.at < len(s.text) && s.text[s.at] != '\n' {
				s.at++
			}
			continue
		case c == '\n' && lines:
			s.line++
		case c == ' ' || c == '\t' || c == '\r' || c == ';' && lines:
		default:
			return
		}
		s.at++
	}
}

func (s *starlark) consume(c byte) bool {
	s.space(true)
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *starlark) name() string {
	begin := s.at
	for s.at < len(s.text) {
		c := s.text[s.at]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && (c < '0' || c > '9' || s.at == begin) {
			break
		}
		s.at++
	}
	return s.text[begin:s.at]
}

func (s *starlark) call() (string, []starArg, error) {
	name := s.name()
	s.space(false)
	if name == "" || s.at >= len(s.text) || s.text[s.at] != '(' {
		return name, nil, errors.New("it is not a call")
	}
	s.at++
	var args []starArg
	for !s.consume(')') {
		a := starArg{name: s.name()}
		if a.name == "" || !s.consume('=') {
			return name, nil, errors.New("an argument has no name")
		}
		if slices.ContainsFunc(args, func(b starArg) bool { return b.name == a.name }) {
			return name, nil, errors.New("an argument is given twice")
		}
		var err error
		if a.value, err = s.value(0); err != nil {
			return name, nil, err
		}
		args = append(args, a)
		if !s.consume(',') {
			if !s.consume(')') {
				return name, nil, errors.New("an argument is more than a text or a list")
			}
			break
		}
	}
	s.space(false)
	if s.at < len(s.text) && s.text[s.at] != '\n' && s.text[s.at] != ';' {
		return name, nil, errors.New("something follows the call")
	}
	return name, args, nil
}

func (s *starlark) value(depth int) (starValue, error) {
	if depth > maxStarDepth {
		return starValue{}, errors.New("its lists nest too deeply")
	}
	if s.consume('[') {
		v := starValue{list: []starValue{}}
		for !s.consume(']') {
			e, err := s.value(depth + 1)
			if err != nil {
				return v, err
			}
			v.list = append(v.list, e)
			if !s.consume(',') {
				if !s.consume(']') {
					return v, errors.New("a list is not closed")
				}
				break
			}
		}
		return v, nil
	}
	text, err := s.quoted()
	return starValue{text: text}, err
}

// quoted reads a text. Of the escapes only those are read that are the same
// everywhere.
func (s *starlark) quoted() (string, error) {
	if s.at >= len(s.text) || s.text[s.at] != '"' && s.text[s.at] != '\'' {
		return "", errors.New("it has something that is neither a text nor a list")
	}
	quote := s.text[s.at]
	if strings.HasPrefix(s.text[s.at:], strings.Repeat(string(quote), 3)) {
		return "", errors.New("texts of several lines are not read")
	}
	var b strings.Builder
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case quote:
			s.at++
			return b.String(), nil
		case '\n':
			return "", errors.New("a text is not closed")
		case '\\':
			s.at++
			if s.at >= len(s.text) || !strings.ContainsRune("\\\"'", rune(s.text[s.at])) {
				return "", errors.New("a text has an escape that is not read")
			}
			b.WriteByte(s.text[s.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("a text is not closed")
}

// skipStatement goes on behind a statement that was not understood: to the next
// line that begins at the margin with something that can begin one.
func (s *starlark) skipStatement(begin int) {
	if s.at <= begin {
		s.at = begin + 1
	}
	for s.at < len(s.text) {
		if s.text[s.at-1] == '\n' && !strings.ContainsRune(" \t\r\n)]}#,", rune(s.text[s.at])) {
			break
		}
		s.at++
	}
	s.line = 1 + strings.Count(s.text[:s.at], "\n")
}
