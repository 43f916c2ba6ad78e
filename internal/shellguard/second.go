package shellguard

import (
	"cmp"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// placed is a word of the parsed line with its place.
type placed struct {
	at    uint
	end   uint // behind it, for a deep comparison
	text  string
	group int // the simple command it belongs to; 0: none, -1: a redirection
}

// secondReading cuts the line again, with the tokenizer, and checks that the
// parser found the same words and put the same ones into one command. A parser
// with a mistake would otherwise let one command hide in the arguments of
// another: "ls #\", a newline, "rm x" was one for the parser and two for every
// shell.
func secondReading(text string, f *syntax.File) agreement {
	plain, found, ok := withoutDocuments(text, f)
	switch {
	case ok:
		again, err := parse(plain)
		if err != nil {
			return readOther
		}
		text, f = plain, again
	case found: // a word of it counts as literal, and nobody has looked twice
		return readUnsure
	}
	tokens, result := tokenize(text)
	switch result {
	case cutDynamic:
		if expands(f) { // then nothing that has it is allowed
			return readSame
		}
		return readOther
	case cutOdd:
		return readUnsure
	}
	switch same := sameWords(tokens, f); {
	case !same:
		return readOther
	case result == cutJoined:
		return readUnsure
	}
	return readSame
}

// agreement is what comes of holding the two against each other.
type agreement uint8

const (
	readSame   agreement = iota
	readUnsure           // the tokenizer cannot tell
	readOther
)

// sameWords holds the tokens of a line against what the parser made of it.
func sameWords(tokens []token, f *syntax.File) bool {
	words, ok := place(f)
	if !ok {
		return true // what has a word that is not literal is not allowed either
	}
	next, group, parted := 0, 0, true
	redirect := false // the next word is the target of a redirection
	for i, t := range tokens {
		switch {
		case !t.word:
			redirect = t.text[0] == '<' || t.text[0] == '>'
			parted = parted || !redirect
		case next < len(words) && words[next].at == uint(t.at):
			w := words[next]
			next++
			if w.text != t.text || (w.group == -1) != redirect {
				return false
			}
			redirect = false
			if w.group > 0 {
				if (w.group == group) == parted {
					return false // one command for the parser, two for a shell, or the reverse
				}
				group, parted = w.group, false
			} else if w.group == 0 {
				parted = true
			}
		case t.bare && isNumber(t.text) && i+1 < len(tokens) && !tokens[i+1].word && tokens[i+1].at == t.at+len(t.text):
			// The descriptor of a redirection.
		case t.bare && isReserved(t.text) && !redirect:
			parted = true
		default:
			return false
		}
	}
	return next == len(words)
}

// isReserved: words of the language, which the parser does not keep as words.
func isReserved(s string) bool {
	return isOneOf(s, "if then elif else fi for in do done case esac { } ! time -p while until")
}

// place lists the literal words of a parsed line in their order. It is not ok
// with what a plain shell does not have, or with an expansion.
func place(f *syntax.File) (words []placed, ok bool) {
	words, ok = make([]placed, 0, 16), true
	group := 0
	quiet := walker{opt: &Options{}, line: &Line{}, quiet: true}
	add := func(w *syntax.Word, group int) {
		a := quiet.word(w, scope{})
		ok = ok && (a.Literal || a.Glob)
		words = append(words, placed{at: w.Pos().Offset(), text: a.Text, group: group})
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			group++
			for _, a := range n.Assigns {
				if a.Name == nil || a.Array != nil {
					ok = false
					return false
				}
				text := a.Name.Value + "="
				if a.Value != nil {
					v := quiet.word(a.Value, scope{})
					ok = ok && (v.Literal || v.Glob)
					text += v.Text
				}
				words = append(words, placed{at: a.Name.Pos().Offset(), text: text, group: group})
			}
			for _, w := range n.Args {
				add(w, group)
			}
			return false
		case *syntax.Redirect:
			add(n.Word, -1)
			return false
		case *syntax.WordIter:
			words = append(words, placed{at: n.Name.Pos().Offset(), text: n.Name.Value})
			for _, w := range n.Items {
				add(w, 0)
			}
			return false
		case *syntax.CaseClause:
			add(n.Word, 0)
		case *syntax.CaseItem:
			for _, w := range n.Patterns {
				add(w, 0)
			}
		case *syntax.Word:
			return false // one of the above, or of a here-document
		}
		return true
	})
	slices.SortStableFunc(words, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	return words, ok
}

// expands reports whether the parser saw an expansion anywhere.
func expands(f *syntax.File) bool {
	found := false
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}
