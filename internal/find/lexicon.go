package find

import (
	_ "embed" // the lexicon
	"strings"
)

//go:embed lexicon.txt
var lexiconText string

// relation is how strongly a word speaks of a concept, from 0 to 1.
type relation struct {
	concept int32
	weight  float32 // in a query
	told    float32 // in a document
}

// lexicon maps stems, and pairs of stems as "a b", to what they speak of.
type lexicon struct {
	words    map[string][]relation
	concepts int
	stop     map[string]bool
	spelt    *spelling // its single words, as they are written
}

const (
	hint  = 0.45 // the weight of words behind a semicolon
	apart = 0.2  // the weight of a word on the side it is not meant for
)

// newLexicon reads the lexicon. A word in several concepts speaks less of each.
func newLexicon(text string, stop map[string]bool) *lexicon {
	lex := &lexicon{stop: stop, words: make(map[string][]relation, 8192)}
	var singles []string
	for line := range strings.Lines(text) {
		_, members, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		members, tool, split := strings.Cut(members, ">")
		strong, weak, _ := strings.Cut(members, ";")
		told := float32(1)
		if split {
			told = apart
		}
		id := int32(lex.concepts)
		lex.concepts++
		for w := range strings.FieldsSeq(line) {
			singles = append(singles, w) // what is no word is left out there
		}
		for w := range strings.FieldsSeq(strong) {
			lex.add(w, relation{id, 1, told})
		}
		for w := range strings.FieldsSeq(weak) {
			lex.add(w, relation{id, hint, hint * told})
		}
		for w := range strings.FieldsSeq(tool) {
			lex.add(w, relation{id, apart, 1})
		}
	}
	lex.spelt = newSpelling(singles)
	return lex
}

func (l *lexicon) add(member string, rel relation) {
	key := l.key(member)
	if key == "" {
		return
	}
	for i, r := range l.words[key] {
		if r.concept == rel.concept {
			rel.weight, rel.told = max(r.weight, rel.weight), max(r.told, rel.told)
			l.words[key][i] = rel
			return
		}
	}
	l.words[key] = append(l.words[key], rel)
}

// key is what texts are looked up by: one stem, or the first two of a phrase,
// since texts are read in pairs of words that are no stop words.
func (l *lexicon) key(member string) string {
	if !strings.Contains(member, "_") {
		return stem(member)
	}
	var stems []string
	for p := range strings.SplitSeq(member, "_") {
		if !l.stop[p] {
			stems = append(stems, stem(p))
		}
	}
	if len(stems) < 2 {
		return "" // what is left is not what the phrase meant
	}
	return stems[0] + " " + stems[1]
}
