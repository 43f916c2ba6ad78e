package toolfile

import (
	"fmt"
	"slices"
	"strings"
)

// Element is one element of a command: a word, or a list of words that is left out as a whole when one of its arguments is
// absent.
type Element []Word

// Word is one argument of a program, in pieces. It never becomes two by what a value holds; only an array makes several of
// it, one for each of its elements.
type Word []Piece

// Piece is a text, or the value of an argument.
type Piece struct {
	Text string // as it is; with When, the text for true
	Arg  string // the argument; empty: Text
	When bool   // {arg:text}: Text if the argument is true, else the element is left out
}

// parseWord takes a word apart. {name} is the value of an argument, {name:text} the text if the argument is true, {{ and }}
// are braces.
func parseWord(s string) (Word, error) {
	var w Word
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			w = append(w, Piece{Text: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "{{"), strings.HasPrefix(s[i:], "}}"):
			lit.WriteByte(s[i])
			i += 2
		case s[i] == '}':
			return nil, fmt.Errorf("there is a } without a {: write }} for a brace")
		case s[i] == '{':
			inner, _, ok := strings.Cut(s[i+1:], "}")
			if !ok {
				return nil, fmt.Errorf("the { has no }: write {{ for a brace")
			}
			p, err := placeholder(inner)
			if err != nil {
				return nil, err
			}
			flush()
			w = append(w, p)
			i += len(inner) + 2
		default:
			lit.WriteByte(s[i])
			i++
		}
	}
	flush()
	if when := slices.ContainsFunc(w, func(p Piece) bool { return p.When }); when && len(w) > 1 {
		return nil, fmt.Errorf("{name:text} stands alone in its word: put the rest into the text")
	}
	if w == nil {
		w = Word{{}}
	}
	return w, nil
}

func placeholder(inner string) (Piece, error) {
	name, text, when := strings.Cut(inner, ":")
	if !argName(name) {
		return Piece{}, fmt.Errorf("{%s} is no placeholder, because %q is no name of an argument: write {{ and }} for braces", clip(inner), clip(name))
	}
	if when && text == "" {
		return Piece{}, fmt.Errorf("{%s:} has no text", name)
	}
	return Piece{Text: text, Arg: name, When: when}, nil
}

// Self is the placeholder for the script itself in the command of its header.
const Self = "script"

// IsSelf reports whether a word is {script} and nothing else.
func (w Word) IsSelf() bool { return len(w) == 1 && w[0].Arg == Self && !w[0].When }

// Args lists the arguments that a word names.
func (w Word) Args() []string {
	var names []string
	for _, p := range w {
		if p.Arg != "" {
			names = append(names, p.Arg)
		}
	}
	return names
}

// argName: letters, digits, _ and -, and no digit or - first.
func argName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return true
}
