package guard

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// folder takes the quotes off a word and notes what about it is not literal.
type folder struct {
	w  *walker
	sc scope

	text    strings.Builder
	dynamic bool
	glob    bool // an unquoted wildcard was seen
	fixed   int  // where the first one stood
	masked  bool // a wildcard or backslash stood in quotes: not a pattern a matcher could be given
	brace   int  // how far an unquoted {x,y} or {x..y} was seen: 1 open, 2 divided, 3 closed
}

// word folds one word. What is not literal is marked; the programs in its
// substitutions are walked, so that a person sees them.
func (w *walker) word(word *syntax.Word, sc scope) Arg {
	if len(word.Parts) == 1 {
		if lit, ok := word.Parts[0].(*syntax.Lit); ok && isBare(lit.Value) {
			return Arg{Text: lit.Value, Literal: true}
		}
	}
	f := folder{w: w, sc: sc}
	for i, part := range word.Parts {
		f.part(part, i == 0)
	}
	a := Arg{Text: f.text.String()}
	switch {
	case f.dynamic:
	case f.brace == 3:
		w.line.unknown("bash expands the braces in %s", show(a.Text))
	case f.glob && a.Text == "[":
		a.Literal = true // the program [, or its name as an argument
	case f.glob && f.masked:
		w.line.unknown("%s is a pattern with quoted wildcards", show(a.Text))
	case f.glob:
		a.Glob, a.fixed = true, f.fixed
	default:
		a.Literal = true
	}
	return a
}

// isBare: nothing in the literal means anything to a shell.
func isBare(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("-_./,:=@%+^", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}

func (f *folder) part(part syntax.WordPart, first bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		f.bare(p.Value, first)
	case *syntax.SglQuoted:
		f.single(p)
	case *syntax.DblQuoted:
		if p.Dollar {
			f.w.line.unknown("only bash knows $\"…\"")
			f.dynamic = true
		}
		for _, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				f.quoted(unescapeDouble(lit.Value))
				continue
			}
			f.part(inner, false)
		}
	case *syntax.ParamExp:
		f.param(p)
	case *syntax.CmdSubst:
		f.dynamic = true
		f.text.WriteString("$(…)")
		f.w.substitution(p.Stmts, f.sc)
	case *syntax.ProcSubst:
		f.dynamic = true
		f.text.WriteString("<(…)")
		f.w.line.unknown("only bash knows process substitution")
		f.w.substitution(p.Stmts, f.sc)
	case *syntax.ArithmExp:
		f.dynamic = true
		f.text.WriteString("$((…))")
		f.w.inside(p, f.sc)
	default: // extended patterns, brace nodes, what a later parser may add
		f.dynamic = true
		f.text.WriteString("…")
		f.w.line.unknown("it uses a pattern that only bash knows")
		f.w.inside(p, f.sc)
	}
}

// bare reads text outside quotes.
func (f *folder) bare(s string, first bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i+1 == len(s) {
				f.w.line.unknown("a word ends in a backslash")
				f.dynamic = true
				return
			}
			i++
			f.quoted(s[i : i+1])
			continue
		case '*', '?', '[':
			if !f.glob {
				f.glob, f.fixed = true, f.text.Len()
			}
		case '~':
			// Shells put a home directory here; after = and : only some do.
			if first && i == 0 || i > 0 && (s[i-1] == '=' || s[i-1] == ':') {
				f.dynamic = true
			}
		case '{':
			if f.brace == 0 {
				f.brace = 1
			}
		case ',':
			if f.brace == 1 {
				f.brace = 2
			}
		case '.':
			if f.brace == 1 && strings.HasPrefix(s[i:], "..") {
				f.brace = 2
			}
		case '}':
			if f.brace == 2 {
				f.brace = 3
			}
		}
		f.text.WriteByte(s[i])
	}
}

func (f *folder) quoted(s string) {
	if strings.ContainsAny(s, "*?[\\") {
		f.masked = true
	}
	f.text.WriteString(s)
}

func (f *folder) single(p *syntax.SglQuoted) {
	if !p.Dollar {
		f.quoted(p.Value)
		return
	}
	f.w.line.unknown("only bash knows $'…'")
	text, err := expand.Literal(nil, &syntax.Word{Parts: []syntax.WordPart{p}})
	if err != nil {
		f.dynamic = true
	}
	f.quoted(text)
}

// param writes a parameter so that the floor still sees $HOME for what it is.
func (f *folder) param(p *syntax.ParamExp) {
	f.dynamic = true
	name := "…"
	if p.Param != nil {
		name = p.Param.Value
	}
	f.text.WriteString("$" + name)
	f.w.inside(p, f.sc)
	if p.Exp != nil && p.Exp.Word != nil {
		// ${x:-word}: the word may be what is used.
		if lit := p.Exp.Word.Lit(); lit != "" {
			f.text.WriteString(":-" + lit)
		}
	}
}

// unescapeDouble takes the backslashes off that mean something in "…".
func unescapeDouble(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// safePattern reports whether a pattern can only become words that are neither
// options nor anything else but what stands before its first wildcard.
func (a Arg) safePattern() bool {
	return a.Glob && a.fixed > 0 && a.Text[0] != '-'
}
