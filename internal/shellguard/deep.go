package shellguard

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The plain reading allows lines with expansions, so that both readers have to
// agree about them too: where each begins and ends, and which words the commands
// have that stand in it. A few forms are known, and the others are not understood.

// deepMark says what a token of a deep cut is beside a word or an operator.
type deepMark uint8

const (
	deepNone  deepMark = iota
	deepOpen           // a command begins within a word
	deepClose          // and ends
)

// expansion steps over the expansion at a $ or a backquote. Commands in it are cut
// like any others, between two marks.
func (t *tokenizer) expansion(quoted bool) {
	rest := t.s[t.i:]
	switch {
	case rest[0] == '`':
		t.backquotes(quoted)
	case strings.HasPrefix(rest, "$(("):
		t.arithmetic()
	case strings.HasPrefix(rest, "$("):
		t.nested(2)
	case strings.HasPrefix(rest, "${"):
		end := strings.IndexByte(rest, '}')
		if end < 3 || strings.ContainsAny(rest[2:end], "$`\"'\\{ \t\n()&|;<>") {
			t.result = cutOdd
			return
		}
		t.i += end + 1
	case len(rest) > 1 && (rest[1] == '_' || rest[1] >= 'a' && rest[1] <= 'z' || rest[1] >= 'A' && rest[1] <= 'Z'):
		for t.i++; t.i < len(t.s) && isNameByte(t.s[t.i]); t.i++ {
		}
	case len(rest) > 1 && strings.IndexByte("?#$!123456789", rest[1]) >= 0:
		t.i += 2
	default:
		t.result = cutOdd
	}
}

// nested cuts the commands up to the parenthesis that closes the one which stands
// after so many bytes.
func (t *tokenizer) nested(opening int) {
	t.tokens = append(t.tokens, token{at: t.i, mark: deepOpen})
	t.i += opening
	docs := t.docs
	t.docs = nil
	if t.level++; t.level > maxWrapping {
		t.result = cutOdd
	}
	for open := 1; t.result == cutWhole; {
		if t.i >= len(t.s) {
			t.result = cutOdd
			return
		}
		switch t.s[t.i] {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				t.tokens = append(t.tokens, token{at: t.i, mark: deepClose})
				t.i++
				t.level--
				if len(t.docs) > 0 {
					t.result = cutOdd
				}
				t.docs = docs
				return
			}
		case '#': // where a comment ends in there, shells differ
			t.result = cutOdd
			return
		}
		before := len(t.tokens)
		t.next()
		for _, k := range t.tokens[before:] {
			if k.word && k.bare && (k.text == "case" || k.text == "esac") {
				t.result = cutOdd // its patterns have parentheses of their own
			}
		}
		if len(t.docs) > 0 {
			t.result = cutOdd
		}
	}
}

// backquotes cuts the commands between two of them, if there is nothing in between
// that they read otherwise.
func (t *tokenizer) backquotes(quoted bool) {
	end := strings.IndexByte(t.s[t.i+1:], '`')
	if end < 0 || t.level >= maxWrapping {
		t.result = cutOdd
		return
	}
	body := t.s[t.i+1 : t.i+1+end]
	if strings.ContainsAny(body, "\\#") || strings.Contains(body, "<<") || quoted && strings.ContainsAny(body, "\"") {
		t.result = cutOdd
		return
	}
	at := t.i + 1
	inner := tokenizer{s: t.s[:at+end], i: at, deep: true, level: t.level + 1}
	for inner.i < len(inner.s) && inner.result == cutWhole {
		inner.next()
	}
	if inner.result != cutWhole || len(inner.docs) > 0 {
		t.result = cutOdd
		return
	}
	t.tokens = append(t.tokens, token{at: t.i, mark: deepOpen})
	t.tokens = append(t.tokens, inner.tokens...)
	t.tokens = append(t.tokens, token{at: at + end, mark: deepClose})
	t.i = at + end + 1
}

// arithmetic steps over $((…)) of names and numbers.
func (t *tokenizer) arithmetic() {
	end := strings.Index(t.s[t.i:], "))")
	if end < 0 {
		t.result = cutOdd
		return
	}
	body := t.s[t.i+3 : t.i+end]
	if strings.Count(body, "(") != strings.Count(body, ")") || strings.Trim(body, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ +-*/%<>=!()${}#") != "" || strings.Contains(body, "$(") {
		t.result = cutOdd
		return
	}
	t.i += end + 2
}

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

// bashInput cuts what only bash knows: <(…), which is a word to it, and <<<. A plain
// shell finds both to be mistakes, and runs nothing of the line.
func (t *tokenizer) bashInput(rest string) {
	if strings.HasPrefix(rest, "<<<") {
		t.op(3)
		return
	}
	if t.i > 0 && strings.IndexByte(" \t(", t.s[t.i-1]) < 0 {
		t.result = cutOdd
		return
	}
	w := token{at: t.i, word: true, dynamic: true}
	t.nested(2)
	if t.i < len(t.s) && strings.IndexByte(" \t\n&|;)", t.s[t.i]) < 0 {
		t.result = cutOdd
	}
	w.end = t.i
	t.tokens = append(t.tokens, w)
}

// documentCommands cuts the expansions in a line of a here-document; each has to end
// in its line.
func (t *tokenizer) documentCommands(line string) {
	at := t.i - len(line)
	if t.i > 0 && t.i <= len(t.s) && t.s[t.i-1] == '\n' {
		at--
	}
	inner := tokenizer{s: t.s[:at+len(line)], i: at, deep: true, level: t.level}
	for inner.i < len(inner.s) && inner.result == cutWhole {
		switch c := inner.s[inner.i]; {
		case c == '\\':
			inner.i += 2
		case c == '`', c == '$' && inner.expands(true):
			inner.expansion(true)
		default:
			inner.i++
		}
	}
	if inner.result != cutWhole || inner.i > len(inner.s) || len(inner.docs) > 0 {
		t.result = cutOdd
		return
	}
	t.tokens = append(t.tokens, inner.tokens...)
}
