package shellguard

import (
	"cmp"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// sameDeep cuts a line with its expansions, and reports whether the parser found the
// same words, in the same places and commands.
func sameDeep(text string, f *syntax.File) bool {
	t := tokenizer{s: text, deep: true, tokens: make([]token, 0, 32)}
	for t.i < len(text) && t.result == cutWhole {
		t.next()
	}
	if t.result != cutWhole || len(t.docs) > 0 || t.joined {
		return false
	}
	slices.SortStableFunc(t.tokens, func(a, b token) int {
		if c := cmp.Compare(a.at, b.at); c != 0 || a.word == b.word {
			return c
		}
		if a.word { // a word before what begins in it
			return -1
		}
		return 1
	})
	words, tests, ok := placeDeep(f)
	return ok && matchDeep(t.tokens, words, tests)
}

// deepLevel is where one nesting of commands is, while words are compared.
type deepLevel struct {
	group    int
	start    int // where it begins
	parted   bool
	redirect bool
}

// matchDeep holds the tokens against the words of the parser.
func matchDeep(tokens []token, words []placed, tests [][2]uint) bool {
	levels := []deepLevel{{parted: true}}
	next := 0
	for i, t := range tokens {
		at := &levels[len(levels)-1]
		bare := t.bare && !t.dynamic && t.text != ""
		test := slices.ContainsFunc(tests, func(r [2]uint) bool { return uint(t.at) >= r[0] && uint(t.at) < r[1] && r[0] >= uint(at.start) })
		switch {
		case t.mark == deepOpen:
			levels = append(levels, deepLevel{parted: true, start: t.at})
		case t.mark == deepClose:
			if len(levels) == 1 {
				return false
			}
			levels = levels[:len(levels)-1]
		case !t.word:
			if test && t.text != "&&" && t.text != "||" {
				return false
			}
			at.redirect = t.text[0] == '<' || t.text[0] == '>'
			at.parted = at.parted || !at.redirect
		case next < len(words) && words[next].at == uint(t.at):
			w := words[next]
			next++
			if w.end != uint(t.end) || w.text != "" && !t.dynamic && w.text != t.text || (w.group == -1) != at.redirect {
				return false
			}
			at.redirect = false
			if w.group > 0 {
				if (w.group == at.group) == at.parted {
					return false
				}
				at.group, at.parted = w.group, false
			} else if w.group == 0 {
				at.parted = true
			}
		case bare && isNumber(t.text) && i+1 < len(tokens) && !tokens[i+1].word && tokens[i+1].at == t.end:
			// The descriptor of a redirection.
		case test && bare:
			if t.text != "[[" && t.text != "]]" && t.text != "!" && t.text != "==" && t.text != "=" && t.text != "!=" && t.text != "=~" && (len(t.text) > 3 || t.text[0] != '-') {
				return false
			}
			at.parted = true
		case bare && isReserved(t.text) && !at.redirect:
			at.parted = true
		default:
			return false
		}
	}
	return next == len(words) && len(levels) == 1
}

// placeDeep lists the words of a parsed line, those in its substitutions included,
// and where its [[ … ]] are. Not ok: it has something that is not compared.
func placeDeep(f *syntax.File) (words []placed, tests [][2]uint, ok bool) {
	ok = true
	group := 0
	quiet := walker{opt: &Options{}, line: &Line{}, quiet: true}
	add := func(w *syntax.Word, group int) {
		p := placed{at: w.Pos().Offset(), end: w.End().Offset(), group: group}
		if a := quiet.word(w, scope{}); a.Literal || a.Glob {
			p.text = a.Text
		}
		words = append(words, p)
	}
	assign := func(a *syntax.Assign, group int) {
		if a.Name == nil || a.Array != nil || a.Index != nil || a.Append || a.Naked {
			ok = false
			return
		}
		words = append(words, placed{at: a.Pos().Offset(), end: a.End().Offset(), group: group})
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			group++
			for _, a := range n.Assigns {
				assign(a, group)
			}
			for _, w := range n.Args {
				add(w, group)
			}
		case *syntax.DeclClause:
			group++
			words = append(words, placed{at: n.Variant.Pos().Offset(), end: n.Variant.End().Offset(), group: group})
			for _, a := range n.Args {
				assign(a, group)
			}
		case *syntax.Redirect:
			add(n.Word, -1)
		case *syntax.WordIter:
			words = append(words, placed{at: n.Name.Pos().Offset(), end: n.Name.End().Offset(), text: n.Name.Value})
			for _, w := range n.Items {
				add(w, 0)
			}
		case *syntax.CaseClause:
			add(n.Word, 0)
		case *syntax.CaseItem:
			for _, w := range n.Patterns {
				add(w, 0)
			}
		case *syntax.TestClause:
			tests = append(tests, [2]uint{n.Pos().Offset(), n.End().Offset()})
		case *syntax.UnaryTest:
			if w, isWord := n.X.(*syntax.Word); isWord {
				add(w, 0)
			}
		case *syntax.BinaryTest:
			for _, x := range []syntax.TestExpr{n.X, n.Y} {
				if w, isWord := x.(*syntax.Word); isWord {
					add(w, 0)
				}
			}
		case *syntax.ParamExp, *syntax.ArithmExp:
			return false // the tokenizer knows only those without commands in them
		case *syntax.CStyleLoop, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CoprocClause, *syntax.FuncDecl, *syntax.ExtGlob, *syntax.TestDecl:
			ok = false
		}
		return ok
	})
	slices.SortStableFunc(words, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	return words, tests, ok
}
