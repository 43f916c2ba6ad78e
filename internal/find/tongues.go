package find

import (
	_ "embed" // the words
	"slices"
	"strings"
)

//go:embed tongues.txt
var tonguesText string

// tongues translate the words of a query that is not in English into those of
// tools and of the lexicon. Without them such a query finds only tools described
// in its own language, and what English happens to spell alike.
type tongues struct {
	words [tongueCount]map[string][]string // how words begin → English
	small map[string]uint8                 // small words → a bit for each language that has them
}

type tongue int

const (
	spanish tongue = iota
	german
	french
	chinese
	tongueCount
	english   tongue = -1
	anyTongue tongue = -2 // no small word tells
)

const (
	spanishStop = `el la los las un una unos unas de del al a en con por para sin sobre y o que qué como cómo cual cuál cuando cuándo donde dónde quien
es son era está están hay ha han haz hazme me mi mis te tu tus se su sus le lo les nos yo ella este esta estos estas ese esa eso esto puedo puedes podría puede
quiero necesito quisiera favor va ir ser muy más pero si sí no ya hacer tengo tiene`
	germanStop = `der die das den dem des ein eine einen einem einer und oder aber ist sind war bin bist sein hat haben habe wird werden wurde kann kannst können
könnte möchte will ich du er sie es wir ihr mich mir mein meine meinem meinen meiner dein deine dir uns im in ins am an auf aus bei mit nach von vom vor zu zum zur
für über um wie was wer wo wann warum welche welcher welches dass dies diese diesen dieser dieses bitte nicht kein keine auch noch nur mal mach gib gibt gern wenn als da`
	frenchStop = `le la les un une des de du d l au aux a à en dans sur avec pour par sans et ou mais est sont était suis es ai as ont il elle on nous vous ils je tu
me moi te toi se sa son ses mon ma mes ton ta tes ce cet cette ces c qu que qui quoi quel quelle quels quelles comment quand où pourquoi y peux peut pouvez pourrais veux
voudrais faut fais fait faire mets plaît svp pas ne n très plus sous sujet`
)

func newTongues() *tongues {
	t := tongues{small: map[string]uint8{}}
	for i := range t.words {
		t.words[i] = map[string][]string{}
	}
	for i, text := range []string{spanishStop, germanStop, frenchStop} {
		for _, w := range tokens(text) {
			t.small[w] |= 1 << i
		}
	}
	for line := range strings.Lines(tonguesText) {
		to, columns, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for i, column := range strings.Split(columns, "|") {
			for _, w := range tokens(column) {
				t.words[i][w] = append(t.words[i][w], strings.Fields(to)...)
			}
		}
	}
	return &t
}

// of tells the language of a query by its small words, and by its other words
// where two languages share them. Single letters tell nothing.
func (t *tongues) of(words []string, stop map[string]bool) tongue {
	var said [chinese]int
	own := 0
	for _, w := range words {
		if len(w) == 1 {
			continue
		}
		if stop[w] {
			own++
		}
		for in, bits := spanish, t.small[w]; bits != 0; in, bits = in+1, bits>>1 {
			said[in] += int(bits & 1)
		}
	}
	most, which := 0, english
	if own == 0 {
		which = anyTongue
	}
	for in, n := range said {
		if n <= own {
			continue
		}
		for _, w := range words {
			if t.lookUp(tongue(in), w) != nil {
				n++
			}
		}
		if n > most {
			most, which = n, tongue(in)
		}
	}
	return which
}

// isSmall reports whether a word is one that says nothing in a language.
func (t *tongues) isSmall(in tongue, word string) bool {
	return in >= 0 && t.small[word]>>in&1 == 1
}

const (
	minBegin = 4 // letters with which other words may begin
	maxEnd   = 5 // letters behind them
)

// lookUp gives what a word of a language means, by its longest beginning that
// is known. What follows may be another word: German writes them as one.
func (t *tongues) lookUp(in tongue, word string) []string {
	known := t.words[in]
	if to, ok := known[word]; ok {
		return to
	}
	for n := len(word) - 1; n >= minBegin; n-- {
		to, ok := known[word[:n]]
		if !ok {
			continue
		}
		rest := word[n:]
		if len(rest) > maxEnd || in == german && len(rest) >= minBegin {
			more := t.lookUp(in, strings.TrimPrefix(rest, "s"))
			if more == nil && len(rest) > maxEnd {
				return nil
			}
			to = append(slices.Clone(to), more...)
		}
		return to
	}
	return nil
}

// word is a word of a query: as it was said, and what to look for.
type word struct {
	said, english string
	foreign       bool // of a language other than English: not to be taken for a misspelt word of it
}

// translated gives the words to look for. A query in English keeps its words. A
// word that the documents know counts as it is, too: they may be in the language
// of the query.
func (x *Index) translated(words []string) []word {
	in := x.tongues.of(words, x.stop)
	out := make([]word, 0, len(words))
	for _, w := range words {
		switch {
		case x.tongues.isSmall(in, w):
			continue
		case in == english && plain(w):
			out = append(out, word{w, w, false})
			continue
		}
		_, known := x.terms[stem(w)]
		to := x.tongues.meaning(in, w, known || len(x.lex.words[stem(w)]) > 0)
		if known || len(to) == 0 {
			out = append(out, word{w, w, in >= 0})
		}
		for _, e := range to {
			out = append(out, word{w, e, true})
		}
	}
	return out
}

// meaning is what a word of a query means in English, if it is of another
// language: of the query's, or of whichever knows it where no small word tells
// and English does not know it.
func (t *tongues) meaning(in tongue, word string, known bool) []string {
	switch {
	case !plain(word) && t.words[chinese][word] != nil:
		return t.words[chinese][word]
	case in >= 0:
		return t.lookUp(in, word)
	case in == anyTongue && !known:
		for i := range chinese {
			if to := t.lookUp(i, word); to != nil {
				return to
			}
		}
	}
	return nil
}

// glosses gives what the words of a document mean in English, if they are of
// another language, so that those who ask in English find it, too.
func (x *Index) glosses(words []string) []string {
	in := x.tongues.of(words, x.stop)
	var out []string
	for _, w := range words {
		if in != english || !plain(w) {
			out = append(out, x.tongues.meaning(in, w, true)...)
		}
	}
	return out
}
