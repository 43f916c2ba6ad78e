package shellguard

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
	r.fails = r.fails || p.Exp != nil || p.Repl != nil || p.Slice != nil
	switch {
	case p.Length && set || name == "?" || name == "#" || name == "$" || name == "!":
		if p.Exp != nil || p.Repl != nil || p.Slice != nil {
			r.refuse("it has an expansion that is not followed")
		}
		return possible{{kind: number}}
	case st.shell && len(name) == 1 && name[0] >= '1' && name[0] <= '9':
		if at := int(name[0] - '1'); at < len(st.args) {
			is = st.args[at]
		} else {
			is = exactly("")
		}
	case p.Length || strings.Contains("@*-0123456789", name):
		r.refuse("it has an expansion that is not followed")
		return unknownText()
	case name == "PWD" && !set:
		is = exactly(st.dirs...)
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
		return is.changed()
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
		return is.without(p.Exp)
	}
	r.refuse("it has an expansion that is not followed")
	return unknownText()
}

// changed is what becomes of a text of which a part is replaced or cut out. Shells
// differ in what their patterns, their replacements and their counts mean, so that it
// may be any text.
func (p possible) changed() possible {
	if slices.ContainsFunc(p, func(a atom) bool { return a.kind == foreign }) {
		return possible{{kind: any_}, {kind: foreign}}
	}
	return unknownText()
}

// without is what remains of a text without its beginning or its end. Every shell
// cuts plain letters off plain letters alike; what a pattern cuts off may be any text.
func (p possible) without(e *syntax.Expansion) possible {
	cut := ""
	if e.Word != nil {
		cut = e.Word.Lit()
	}
	plain := func(text string) bool {
		return !strings.ContainsFunc(text, func(r rune) bool { return !plainLetter(r) })
	}
	known := func(a atom) bool { return a.kind == exact && plain(a.text) }
	if cut == "" || !plain(cut) || slices.ContainsFunc(p, func(a atom) bool { return !known(a) }) {
		return p.changed()
	}
	var out possible
	for _, a := range p {
		if e.Op == syntax.RemSmallPrefix || e.Op == syntax.RemLargePrefix {
			a.text = strings.TrimPrefix(a.text, cut)
		} else {
			a.text = strings.TrimSuffix(a.text, cut)
		}
		out = out.or(possible{a})
	}
	return out
}

// plainLetter: no shell takes the character for a part of a pattern.
func plainLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./-", r)
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
	r.fails = true // at 1/0, and at 08
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
