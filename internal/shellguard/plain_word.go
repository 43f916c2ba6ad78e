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

// textOf is what a word may be where it is not cut into several, as in an
// assignment.
func (r *plainReader) textOf(word *syntax.Word, st *plainState) possible {
	if word == nil {
		return exactly("")
	}
	pieces := r.pieces(word.Parts, st, false)
	if len(pieces) == 1 && pieces[0].is != nil {
		if slices.ContainsFunc(pieces[0].is, func(a atom) bool { return !r.kept(a.text) }) {
			return unknownText()
		}
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
	case a.sample && a.Text == "":
		return exactly("")
	case a.sample && a.sure > 0:
		return possible{{kind: headed, text: a.Text[:a.sure]}}
	case a.sample && isNumber(a.Text):
		return possible{{kind: hashes}}
	case a.sample:
		return unknownText()
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
					if r.opt.Zsh { // which does not cut it
						out = out.or(possible{a})
					}
					for field := range strings.FieldsSeq(a.text) {
						if strings.ContainsAny(field, "*?[\\") || r.loosely(field) || r.opt.ownOptions() && strings.ContainsAny(field, "^#") {
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
