package find

import (
	"maps"
	"math"
	"slices"
)

// part is one thing a query says: the documents it speaks for and how much.
type part struct {
	word   string // as the query has it
	group  int32  // parts of one group are the same thing said in several ways
	list   []posting
	weight float32
}

// request is a query as it was read: the words it shares with documents, and
// the concepts it speaks of.
type request struct {
	x            *Index
	words, ideas []part
	length       int    // in words
	want         deed   // 0: anything
	word         string // being read
	group        int32
}

// mention is a word of the query and how often it stands there.
type mention struct {
	stem, word string
	foreign    bool
	count      float64
}

// parse turns a query into what to look for.
func (x *Index) parse(query string) *request {
	words := tokens(query)
	english := x.translated(words)
	r := &request{x: x, length: len(words), want: x.wanted(english)}
	mentions, pairs := x.mentions(english)
	for _, m := range mentions {
		r.begin(m.word)
		r.mention(m)
	}
	for _, pair := range slices.Sorted(maps.Keys(pairs)) {
		r.begin(pairs[pair])
		if id, ok := x.terms[pair]; ok {
			r.add(&r.words, x.lists[id], x.w.pair)
		}
		r.note(pair, 1)
	}
	r.names(words)
	return r
}

// begin starts a group for a word.
func (r *request) begin(word string) {
	r.word = word
	r.group++
}

func (r *request) add(to *[]part, list []posting, weight float64) {
	if len(list) > 0 {
		*to = append(*to, part{r.word, r.group, list, float32(weight)})
	}
}

// mentions gives the words that matter in the order of the query, and pairs of
// neighbours with the word to name them by.
func (x *Index) mentions(words []word) ([]mention, map[string]string) {
	var out []mention
	at, pairs, before := map[string]int{}, map[string]string{}, ""
	for _, w := range words {
		if x.stop[w.english] {
			continue
		}
		s := stem(w.english)
		if i, ok := at[s]; ok {
			out[i].count++
		} else {
			at[s] = len(out)
			out = append(out, mention{s, w.said, w.foreign, 1})
		}
		if before != "" {
			pairs[before+" "+s] = w.said
		}
		before = s
	}
	return out, pairs
}

// mention adds what one word says. A word that neither the documents nor the
// lexicon know may be misspelt: those that it may stand for speak for it.
func (r *request) mention(m mention) {
	x := r.x
	weight := 1 + x.w.repeat*math.Log(m.count)
	if x.soft[m.stem] {
		weight *= x.w.soft
	}
	id, known := x.terms[m.stem]
	switch {
	case known:
		r.add(&r.words, x.lists[id], weight)
	case len(x.lex.words[m.stem]) == 0 && !m.foreign:
		for _, near := range likeliest(x.lex.spelt.near(m.word, x.spelt.near(m.word, nil))) {
			s := stem(near.word)
			if id, ok := x.terms[s]; ok {
				r.add(&r.words, x.lists[id], weight*x.w.slip)
			}
			r.note(s, weight*x.w.slip)
		}
	}
	r.note(m.stem, weight)
}

// note adds the concepts that a stem or pair speaks of.
func (r *request) note(key string, weight float64) {
	rels := r.x.lex.words[key]
	share := weight / math.Pow(float64(max(1, len(rels))), r.x.w.ambiguity)
	for _, rel := range rels {
		r.add(&r.ideas, r.x.ideas[rel.concept], r.x.w.idea*share*float64(rel.weight))
	}
}

// maxNameWords is the longest name, in words, that is looked for in a query.
const maxNameWords = 6

// names finds tools that the query calls by name, in one word or several, and
// those of a server that it names. A tool's name that is an everyday word counts
// only where it is the whole query.
func (r *request) names(words []string) {
	x := r.x
	var key []byte
	for i := range words {
		key = key[:0]
		for n, w := range words[i:min(len(words), i+maxNameWords)] {
			key = append(key, w...)
			if list := x.names[string(key)]; list != nil && (n > 0 || len(words) == 1 || !x.everyday(w)) {
				r.begin(w)
				r.add(&r.words, list, x.w.named)
			}
			if list := x.homes[string(key)]; list != nil && (n > 0 || !x.stop[w]) {
				weight := x.w.home
				if n == 0 && len(x.lex.words[stem(w)]) > 0 {
					weight = x.w.homeWord // a box called weather is not always meant by the word
				}
				r.begin(w)
				r.add(&r.words, list, weight)
			}
		}
	}
}

// everyday reports whether a word is part of the language rather than a name.
func (x *Index) everyday(word string) bool {
	s := stem(word)
	if x.stop[word] || len(x.lex.words[s]) > 0 {
		return true
	}
	id, ok := x.terms[s]
	return ok && len(x.lists[id]) > 1
}
