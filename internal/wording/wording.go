// Package wording reads the texts of a tool's definition for sentences that want
// something of the model besides the use of the tool. It is for whoever shows a
// person what a server offers, and it decides nothing: an attacker can find words
// that are not in it. Its one invariant: what ordinary servers say about their own
// tools is no warning, since nobody reads warnings that are nearly always wrong.
package wording

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Reader knows what to look for.
type Reader struct{ rules []rule }

// rule is a warning and what it is given for.
type rule struct {
	why   string
	signs []sign
}

// sign is a pattern, and the words of which one has to be there: patterns are slow,
// and in most texts there is nothing to look at.
type sign struct {
	near    []string
	pattern *regexp.Regexp
}

// Warnings says in a few words what is odd about a text; nothing if it only
// speaks of its tool.
func (w Reader) Warnings(text string) []string {
	plain := fold(text)
	var out []string
	for _, r := range w.rules {
		if slices.ContainsFunc(r.signs, func(s sign) bool { return s.in(plain) }) {
			out = append(out, r.why)
		}
	}
	return out
}

// reach is how far around a word a pattern is looked for. No pattern is longer.
const reach = 300

func (s sign) in(text string) bool {
	for at := 0; at < len(text); {
		next := -1
		for _, word := range s.near {
			if i := strings.Index(text[at:], word); i >= 0 && (next < 0 || i < next) {
				next = i
			}
		}
		if next < 0 {
			return false
		}
		from, to := max(at+next-reach, 0), min(at+next+2*reach, len(text))
		if s.pattern.MatchString(text[from:to]) {
			return true
		}
		at += next + reach
	}
	return false
}

// New compiles the tables, which takes longer than reading a definition.
func New() Reader {
	var w Reader
	for _, t := range tables() {
		r := rule{why: t.why}
		for _, p := range t.patterns {
			long := p.pattern
			for word, words := range vocabulary() {
				long = strings.ReplaceAll(long, "{"+word+"}", words)
			}
			r.signs = append(r.signs, sign{strings.Split(p.near, "|"), regexp.MustCompile(long)})
		}
		w.rules = append(w.rules, r)
	}
	return w
}

// fold writes a text as it is read: in lower case, with one blank between words, in
// plain letters where it has letters of other alphabets that look the same.
func fold(text string) string {
	words := strings.Fields(strings.ToLower(strings.Map(widthless, text)))
	for i, w := range words {
		words[i] = unmixed(w)
	}
	return strings.Join(words, " ")
}

// widthless gives a letter of full width, and a typographic mark, in its plain form.
func widthless(r rune) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e:
		return r - 0xff01 + '!'
	case r == '’' || r == '‘' || r == 'ʼ':
		return '\''
	case r == '“' || r == '”':
		return '"'
	}
	return r
}

// unmixed writes a word that mixes alphabets in Latin letters. A word that is all
// of another alphabet is one of another language and stays.
func unmixed(word string) string {
	latin, other := false, false
	for _, r := range word {
		latin = latin || r >= 'a' && r <= 'z'
		other = other || unicode.In(r, unicode.Cyrillic, unicode.Greek)
	}
	if !latin || !other {
		return word
	}
	return strings.Map(Latin, word)
}

// Latin is the Latin letter that a letter of another alphabet looks like.
func Latin(r rune) rune {
	const from, to = "асеорхуіјѕԁԛԝһκοανρτυικεχ", "aceopxyijsdqwhkoavptuikex"
	at := 0
	for _, f := range from {
		if f == r {
			return rune(to[at])
		}
		at++
	}
	return r
}
