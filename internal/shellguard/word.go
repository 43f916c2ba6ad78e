package shellguard

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// wordFolder takes the quotes off a word and notes what about it is not literal.
type wordFolder struct {
	w  *walker
	sc scope

	text    strings.Builder
	alts    []string // what it may become, as far as the line says; without tail
	tail    strings.Builder
	varied  int // expansions so far
	added   int // bytes that they added
	open    openness
	split   bool // an expansion outside quotes: it may become several words
	inside  bool // in double quotes
	file    *Arg
	from    string
	dynamic bool
	glob    bool // an unquoted wildcard was seen
	fixed   int  // where the first one stood
	masked  bool // a wildcard or backslash stood in quotes: not a pattern a matcher could be given
	brace   int  // how far an unquoted {x,y} or {x..y} was seen: 1 open, 2 divided, 3 closed
}

func newFolder(w *walker, sc scope) *wordFolder { return &wordFolder{w: w, sc: sc, alts: []string{""}} }

// addLiteral adds literal text.
func (f *wordFolder) addLiteral(s string) {
	f.w.work.spend(len(s))
	f.text.WriteString(s)
	f.tail.WriteString(s)
}

// maxVaried bounds the expansions of one word that are followed.
const maxVaried = 32

// addExpansion adds what is known of an expansion; shown is how a person reads it.
func (f *wordFolder) addExpansion(shown string, v value) {
	f.dynamic = true
	f.text.WriteString(shown)
	f.open = max(f.open, v.open)
	f.split = f.split || !f.inside
	if f.varied++; f.varied > maxVaried {
		f.open = unseen
		return
	}
	texts := v.texts
	if len(texts) == 0 {
		texts = []string{shown}
	}
	before := f.values()
	f.added += total(texts)
	if size := total(before)*len(texts) + total(texts)*len(before); f.added > maxText || !f.w.work.spend(size) {
		texts, f.open = []string{shown}, unseen
	}
	var out []string
	for _, b := range before {
		for _, t := range texts {
			out = append(out, b+t)
		}
	}
	if f.alts = out; len(out) > maxValues {
		f.alts, f.open = out[:1], unseen
	}
}

// values lists what the word so far may be.
func (f *wordFolder) values() []string {
	for i := range f.alts {
		f.alts[i] += f.tail.String()
	}
	f.tail.Reset()
	return f.alts
}

// word folds one word. What is not literal is marked; the programs in its
// substitutions are walked, so that a person sees them.
func (w *walker) word(word *syntax.Word, sc scope) Arg {
	if !w.work.spend(perWord + len(word.Parts)) {
		return Arg{Text: unread, open: unseen}
	}
	if len(word.Parts) == 1 {
		if lit, ok := word.Parts[0].(*syntax.Lit); ok && isBare(lit.Value) {
			return Arg{Text: lit.Value, Literal: true}
		}
	}
	f := newFolder(w, sc)
	for i, part := range word.Parts {
		f.part(part, i == 0)
	}
	a := Arg{Text: f.text.String(), file: f.file}
	switch {
	case f.dynamic:
		a.open, a.split = f.open, f.split
		if f.text.String() == unread {
			a.from = f.from
		}
		if alts := f.values(); len(alts) != 1 || alts[0] != a.Text {
			a.values = alts
		}
	case f.brace == 3:
		w.line.unknown("bash expands the braces in %s", Quote(a.Text))
	case f.glob && a.Text == "[":
		a.Literal = true // the program [, or its name as an argument
	case f.glob && f.masked:
		w.line.unknown("%s is a pattern with quoted wildcards", Quote(a.Text))
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

func (f *wordFolder) part(part syntax.WordPart, first bool) {
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
		f.inside = true
		for _, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				f.quoted(unescapeDouble(lit.Value))
				continue
			}
			f.part(inner, false)
		}
		f.inside = false
	case *syntax.ParamExp:
		f.param(p)
	case *syntax.CmdSubst:
		if isMark(p.Stmts) {
			f.addExpansion(unread, value{})
			return
		}
		if text, ok := f.w.messageText(p); ok && f.inside {
			f.quoted(text)
			f.w.plainSubstitution(p.Stmts, f.sc)
			return
		}
		v, ok := f.w.printed(p.Stmts, f.sc)
		if !ok {
			v = value{open: computed}
			f.from = printsPlace(p.Stmts)
			if !startsProgram(p.Stmts) {
				v.open = unseen // $(<file)
			}
		}
		f.addExpansion(unread, v)
		f.w.substitution(p.Stmts, f.sc)
	case *syntax.ProcSubst:
		f.addExpansion("<(…)", value{})
		if text, ok := f.w.listText(p.Stmts, f.sc); ok {
			f.file = &text
		}
		f.w.line.unknown("only bash knows process substitution")
		in := f.sc
		in.piped = in.piped || p.Op == syntax.CmdOut // >(sh) reads what is written there
		f.w.substitution(p.Stmts, in)
	case *syntax.ArithmExp:
		f.addExpansion("$((…))", value{texts: []string{"0"}})
		f.w.substitutionsIn(p, f.sc)
	default: // extended patterns, brace nodes, what a later parser may add
		f.dynamic = true
		f.addLiteral("…")
		f.w.line.unknown("it uses a pattern that only bash knows")
		f.w.substitutionsIn(p, f.sc)
	}
}

// bare reads text outside quotes.
func (f *wordFolder) bare(s string, first bool) {
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
		f.addLiteral(s[i : i+1])
	}
}

func (f *wordFolder) quoted(s string) {
	if strings.ContainsAny(s, "*?[\\") {
		f.masked = true
	}
	f.addLiteral(s)
}

func (f *wordFolder) single(p *syntax.SglQuoted) {
	if !p.Dollar {
		f.quoted(p.Value)
		return
	}
	f.w.line.unknown("only bash knows $'…'")
	text, err := expand.Literal(&expand.Config{}, &syntax.Word{Parts: []syntax.WordPart{p}})
	if err != nil {
		f.dynamic = true
	}
	f.quoted(text)
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
