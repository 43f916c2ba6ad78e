package shellguard

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// zsh looks for ~ and = after it has put the values of variables into a word, where sh
// and bash look before. So "$x~/notes" is a file in the home directory if x is empty, and
// "$x=ls" the path of a program; to sh and bash they are the names of files here.

// zshLater: ~ or = stands where the word begins once something in front of it turned out
// to be empty. After a colon that counts too: in an assignment zsh looks there as well.
func zshLater(w *syntax.Word) bool {
	begins, made := true, false // nothing stands before it for certain; something expands there
	braces := hasBraces(w)
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			if made = true; !mayBeEmpty(part) {
				begins = false
			}
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			switch c := lit.Value[i]; {
			case begins && made && (c == '~' || c == '='):
				return true
			case c == '\\':
				begins = false
				i++
			case c == ':' || braces && (c == '{' || c == ',' || c == '}'):
				// The first word of {=ls,x} begins behind the brace.
				begins, made = true, c != ':' || i+1 < len(lit.Value) && lit.Value[i+1] == '='
			case c == '=': // some have ~ mean something behind every =, by the option MAGIC_EQUAL_SUBST
				begins, made = i+1 == len(lit.Value), false
			default:
				begins = false
			}
		}
	}
	return false
}

// mayBeEmpty: nothing may remain of the part. Quotes without a letter in them are nothing
// to zsh.
func mayBeEmpty(part syntax.WordPart) bool {
	switch p := part.(type) {
	case *syntax.SglQuoted:
		return p.Value == ""
	case *syntax.DblQuoted:
		return !slices.ContainsFunc(p.Parts, func(q syntax.WordPart) bool { return !mayBeEmpty(q) })
	case *syntax.ArithmExp:
		return false
	case *syntax.Lit:
		return p.Value == ""
	}
	return true
}
