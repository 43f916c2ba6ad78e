package shellguard

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// readWithOptions says why nobody can tell what a piece of code means to a zsh with the
// options of its user; empty: that can be told, with the words that are noted in the line.
func (l *Line) readWithOptions(f *syntax.File) (why string) {
	word := func(w *syntax.Word) {
		if why == "" {
			why = l.addLoose(looseWord(w))
		}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			for _, w := range n.Args {
				word(w)
			}
			for _, a := range n.Assigns {
				if a.Value != nil && globbed(a.Value) {
					why = "zsh may put the names of files into a variable" // GLOB_ASSIGN
				}
			}
		case *syntax.ArrayElem:
			if n.Value != nil {
				word(n.Value)
			}
		case *syntax.WordIter:
			for _, w := range n.Items {
				word(w)
			}
		case *syntax.Redirect:
			if n.Hdoc == nil && n.Word != nil {
				if found, unsure := looseWord(n.Word); found != nil || unsure {
					why = "zsh may take the file of a redirection for a pattern"
				}
			}
		case *syntax.Word:
			if joinsQuotes(n) {
				why = "zsh may take two quotes for a letter" // RC_QUOTES
			}
		}
		return why == ""
	})
	return why
}

// unsure: nobody can tell what the code means to such a zsh.
func (r *plainReader) unsure(f *syntax.File) bool {
	why := r.line.readWithOptions(f)
	if why != "" {
		r.refuse(why)
	}
	return why != ""
}

// looseWord reads a word for [readLoose].
func looseWord(w *syntax.Word) (found *loose, unsure bool) {
	var glyphs []glyph
	expands := false
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			glyphs = appendBare(glyphs, p.Value)
		case *syntax.SglQuoted:
			glyphs = appendGlyphs(glyphs, p.Value, true)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					glyphs = appendGlyphs(glyphs, unescapeDouble(lit.Value), true)
				} else {
					expands = true
				}
			}
		default:
			expands = true
			glyphs = append(glyphs, glyph{quoted: true}) // so that # behind it is no comment
		}
	}
	if found, unsure = readLoose(glyphs); found != nil && expands {
		return nil, true
	}
	return found, unsure
}

// appendBare reads letters outside quotes.
func appendBare(glyphs []glyph, text string) []glyph {
	for text != "" {
		at := strings.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			return appendGlyphs(glyphs, text, false)
		}
		glyphs = appendGlyphs(glyphs, text[:at], false)
		glyphs = appendGlyphs(glyphs, text[at+1:at+2], true)
		text = text[at+2:]
	}
	return glyphs
}

// globbed: the value of an assignment may be the names of files. The names of commits
// that people write are none.
func globbed(w *syntax.Word) bool {
	if strings.HasPrefix(w.Lit(), "HEAD^") {
		return false
	}
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			continue
		}
		for _, s := range appendBare(nil, lit.Value) {
			if !s.quoted && strings.ContainsRune("*?[#^", s.r) {
				return true
			}
		}
	}
	return false
}

// joinsQuotes: one quoted text ends where the next begins.
func joinsQuotes(w *syntax.Word) bool {
	before := false
	for _, part := range w.Parts {
		q, ok := part.(*syntax.SglQuoted)
		if ok = ok && !q.Dollar; ok && before {
			return true
		}
		before = ok
	}
	return false
}

// kept: an assignment of a value outside quotes has its text, whatever GLOB_SUBST and
// GLOB_ASSIGN make of others.
func (r *plainReader) kept(text string) bool {
	return !r.loosely(text) && !(r.opt.ownOptions() && strings.ContainsAny(text, "*?[^#"))
}

// loosely: a value outside quotes may be something else than its text by GLOB_SUBST.
func (r *plainReader) loosely(text string) bool {
	return r.opt.ownOptions() && text != "" && (text[0] == '~' || text[0] == '=' || strings.Contains(text, ":~") || strings.Contains(text, ":="))
}
