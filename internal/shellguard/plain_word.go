package shellguard

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// laterWord says what is known of a word that is decided while the line runs.
type laterWord uint8

const (
	notComputed    laterWord = iota
	computedWord             // one word, which may be anything, so also an option
	computedWords            // any number of words, which may be anything
	computedPlaces           // words that are no options: each begins with what is known
	computedShown            // a variable of the environment: to be printed, and for nothing else
)

// maxBackslashes bounds them in one word: each makes another piece of it.
const maxBackslashes = 100

// piece is a part of a word: literal text, or what an expansion may be.
type piece struct {
	text   string   // literal
	is     possible // of an expansion
	quoted bool
}

// pieces cuts a word up and reads the substitutions in it.
func (r *plainReader) pieces(parts []syntax.WordPart, st *plainState, quoted bool) []piece {
	var out []piece
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if quoted {
				out = append(out, piece{text: unescapeDouble(p.Value), quoted: true})
				continue
			}
			out = append(out, r.bare(p.Value, i == 0)...)
		case *syntax.SglQuoted:
			if p.Dollar {
				r.refuse("only bash knows $'…'")
			}
			out = append(out, piece{text: p.Value, quoted: true})
		case *syntax.DblQuoted:
			if p.Dollar {
				r.refuse("only bash knows $\"…\"")
			}
			out = append(out, piece{quoted: true}) // "" is a word
			out = append(out, r.pieces(p.Parts, st, true)...)
		case *syntax.ParamExp:
			out = append(out, piece{is: r.parameter(p, st), quoted: quoted})
		case *syntax.CmdSubst:
			out = append(out, piece{is: r.substitution(p, st), quoted: quoted})
		case *syntax.ArithmExp:
			out = append(out, piece{is: r.arithmetic(p, st), quoted: quoted})
		default:
			r.refuse("it has a word that is not followed")
		}
	}
	return out
}

// bare cuts text outside quotes at what a backslash quotes.
func (r *plainReader) bare(s string, first bool) []piece {
	if strings.Count(s, `\`) > maxBackslashes {
		r.refuse("its words have too many backslashes")
		return nil
	}
	if first && strings.HasPrefix(s, "~") || strings.Contains(s, "=~") || strings.Contains(s, ":~") {
		r.refuse("nobody knows where ~ leads")
	}
	var out []piece
	for s != "" {
		at := strings.IndexByte(s, '\\')
		if at < 0 {
			return append(out, piece{text: s})
		}
		if at+1 == len(s) {
			r.refuse("a word ends in a backslash")
			return out
		}
		if at > 0 {
			out = append(out, piece{text: s[:at]})
		}
		out = append(out, piece{text: s[at+1 : at+2], quoted: true})
		s = s[at+2:]
	}
	return out
}

// substitution reads $(…) in a subshell, and says what it prints.
func (r *plainReader) substitution(p *syntax.CmdSubst, st *plainState) possible {
	if p.TempFile || p.ReplyVar {
		r.refuse("only some shells know its substitution")
	}
	if r.depth++; r.depth > maxWrapping {
		r.refuse("it nests too deeply")
	}
	defer func() { r.depth-- }()
	if !startsProgram(p.Stmts) {
		r.refuse("its substitution starts no program")
		return unknownText()
	}
	out, _ := r.stmts(p.Stmts, st.fork())
	if asksToplevel(p.Stmts) && !slices.ContainsFunc(st.dirs, func(d string) bool { return !inRepository(d, r.opt) }) {
		return out
	}
	return out.or(exactly("")) // it may fail
}

// asksToplevel: it is git rev-parse --show-toplevel, and nothing else.
func asksToplevel(list []*syntax.Stmt) bool {
	if len(list) != 1 || list[0].Negated {
		return false
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) == 3 && c.Args[0].Lit() == "git" && c.Args[1].Lit() == "rev-parse" && c.Args[2].Lit() == "--show-toplevel"
}

// parameter is what a variable may be.
func (r *plainReader) parameter(p *syntax.ParamExp, st *plainState) possible {
	if p.Param == nil || p.Excl || p.Width || p.Index != nil || p.Names != 0 || p.Flags != nil || p.NestedParam != nil || p.IsSet || len(p.Modifiers) > 0 {
		r.refuse("it has an expansion that is not followed")
		return unknownText()
	}
	name := p.Param.Value
	is, set := st.vars[name]
	switch {
	case p.Length && set || name == "?" || name == "#" || name == "$" || name == "!":
		return possible{{kind: number}}
	case st.shell && len(name) == 1 && name[0] >= '1' && name[0] <= '9':
		if at := int(name[0] - '1'); at < len(st.args) {
			is, set = st.args[at], true
		} else {
			is, set = exactly(""), true
		}
	case p.Length || strings.Contains("@*-0123456789", name):
		r.refuse("it has an expansion that is not followed")
		return unknownText()
	case name == "PWD" && !set:
		is, set = exactly(st.dirs...), true
	case !set && !shownVariable(name):
		r.refuse("it shows a variable that may be a secret")
	case !set:
		is = possible{{kind: foreign}}
	}
	switch {
	case p.Repl != nil || p.Slice != nil:
		if p.Slice != nil && !(literalNumber(p.Slice.Offset) && literalNumber(p.Slice.Length)) || hasExpansion(p) {
			r.refuse("it has an expansion that is not followed")
		}
		return r.cut(p, is)
	case p.Exp == nil:
		return is
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if p.Exp.Word == nil {
			return is.or(exactly(""))
		}
		return is.or(r.textOf(p.Exp.Word, st))
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		if hasExpansion(p) {
			r.refuse("it has an expansion that is not followed")
		}
		return r.cut(p, is)
	}
	r.refuse("it has an expansion that is not followed")
	return unknownText()
}

// cut is what becomes of a text of which something is taken away or replaced.
func (r *plainReader) cut(p *syntax.ParamExp, is possible) possible {
	var out possible
	for _, a := range is {
		if a.kind == foreign {
			out = out.or(possible{a})
			continue
		}
		if a.kind != exact {
			out = out.or(unknownText())
			continue
		}
		cfg := &expand.Config{Env: expand.ListEnviron(p.Param.Value + "=" + a.text)}
		text, err := expand.Literal(cfg, &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{p}}}})
		if err != nil {
			return unknownText()
		}
		out = out.or(exactly(text))
	}
	return out
}

func literalNumber(a syntax.ArithmExpr) bool {
	if a == nil {
		return true
	}
	w, ok := a.(*syntax.Word)
	return ok && isNumber(w.Lit())
}

// hasExpansion: there is another expansion within this one.
func hasExpansion(p *syntax.ParamExp) bool {
	found := false
	syntax.Walk(p, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			found = found || n != p
		case *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}

// arithmetic is a number, if nothing in it is more than a number: bash reads the
// text of a variable there as an expression, and runs what that has.
func (r *plainReader) arithmetic(p *syntax.ArithmExp, st *plainState) possible {
	if p.Bracket || p.Unsigned || p.X == nil {
		r.refuse("only bash knows its arithmetic")
		return unknownText()
	}
	r.operand(p.X, st)
	return possible{{kind: signed}}
}

func (r *plainReader) operand(x syntax.ArithmExpr, st *plainState) {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		switch x.Op {
		case syntax.Add, syntax.Sub, syntax.Mul, syntax.Quo, syntax.Rem, syntax.Eql, syntax.Neq, syntax.Lss, syntax.Gtr, syntax.Leq, syntax.Geq:
			r.operand(x.X, st)
			r.operand(x.Y, st)
			return
		}
	case *syntax.UnaryArithm:
		if x.Op == syntax.Minus && !x.Post {
			r.operand(x.X, st)
			return
		}
	case *syntax.ParenArithm:
		r.operand(x.X, st)
		return
	case *syntax.Word:
		if lit := x.Lit(); isNumber(lit) || lit != "" && st.vars[lit].isNumber() {
			return
		}
		if len(x.Parts) == 1 {
			if p, ok := x.Parts[0].(*syntax.ParamExp); ok && p.Param != nil && p.Exp == nil && (p.Length || st.vars[p.Param.Value].isNumber()) {
				r.parameter(p, st)
				return
			}
		}
	}
	r.refuse("its arithmetic is about something that may be more than a number")
}

// textOf is what a word may be where it is not cut into several, as in an
// assignment.
func (r *plainReader) textOf(word *syntax.Word, st *plainState) possible {
	if word == nil {
		return exactly("")
	}
	pieces := r.pieces(word.Parts, st, false)
	if len(pieces) == 1 && pieces[0].is != nil {
		return pieces[0].is
	}
	if len(pieces) == 2 && pieces[0].quoted && pieces[0].text == "" && pieces[0].is == nil && pieces[1].is != nil {
		return pieces[1].is // "$x"
	}
	var out possible
	for _, words := range r.combine(pieces, true) {
		if len(words) != 1 {
			return unknownText()
		}
		out = out.or(words[0].possible())
	}
	return out
}

// possible is what a word of a command may be.
func (a Arg) possible() possible {
	switch {
	case a.computed == computedPlaces && a.head != "":
		return possible{{kind: headed, text: a.head}}
	case a.computed == computedShown:
		return possible{{kind: foreign}}
	case a.computed != notComputed:
		return unknownText()
	case a.Glob:
		return possible{{kind: named, text: a.Text}}
	}
	return exactly(a.Text)
}

// items is what each word that a word becomes may be, for a loop.
func (r *plainReader) items(word *syntax.Word, st *plainState) possible {
	var out possible
	for _, w := range braced(word) {
		pieces := r.pieces(w.Parts, st, false)
		if len(pieces) == 1 && pieces[0].is != nil && !pieces[0].quoted {
			for _, a := range pieces[0].is {
				a.lines = false
				switch a.kind {
				case number, signed, hashes, foreign:
					out = out.or(possible{a})
				case exact:
					for _, field := range strings.Fields(a.text) {
						if strings.ContainsAny(field, "*?[\\") {
							out = out.or(unknownText())
							continue
						}
						out = out.or(exactly(field))
					}
				default:
					out = out.or(unknownText())
				}
			}
			continue
		}
		for _, words := range r.combine(pieces, false) {
			for _, a := range words {
				out = out.or(a.possible())
			}
		}
	}
	return out
}

// braced are the words that bash makes of one with braces, and the word itself,
// which is what a plain shell makes of it.
func braced(word *syntax.Word) []*syntax.Word {
	split := &syntax.Word{Parts: slices.Clone(word.Parts)}
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{word}
	}
	out := []*syntax.Word{word}
	for each, err := range expand.BracesSeq(nil, split) {
		if err != nil || len(out) > maxAtoms {
			return nil
		}
		out = append(out, each)
	}
	return out
}

// hasBraces: bash makes several words of it.
func hasBraces(word *syntax.Word) bool {
	return syntax.SplitBraces(&syntax.Word{Parts: slices.Clone(word.Parts)})
}
