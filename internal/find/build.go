package find

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// builder collects counts; finish turns them into scores.
type builder struct {
	x     *Index
	words map[string]int // words as written in texts: what a run-together name is made of
	stems map[string]string

	fields  [][]field     // by document
	glossed map[int32]int // how many documents have a term as a gloss only
	lengths [fieldCount]float64
}

// maxTimes is how often a word counts in one field: a description that repeats
// itself to come first does not.
const maxTimes = 3

const (
	inName = iota
	inTitle
	inText
	inParams
	inPlace
	fieldCount
)

// field is the stems of one part of a document, in order.
type field struct {
	stems []string
	gloss []string // what those of another language mean in English
}

func (b *builder) known(d *Doc) {
	for _, t := range tokens(d.Title + " " + d.Description) {
		b.words[t]++
	}
}

func (b *builder) stem(word string) string {
	s, ok := b.stems[word]
	if !ok {
		s = stem(word)
		b.stems[word] = s
	}
	return s
}

func (b *builder) content(words []string) []string {
	out := words[:0:0]
	for _, w := range words {
		if !b.x.stop[w] {
			out = append(out, b.stem(w))
		}
	}
	return out
}

// prose reads a text that may be in another language than English.
func (b *builder) prose(text string) field {
	words := tokens(text)
	return field{b.content(words), b.content(b.x.glosses(words))}
}

func (b *builder) add(d *Doc) {
	var params strings.Builder
	var paramNames []string
	for _, p := range d.Params {
		paramNames = append(paramNames, nameParts(p.Name)...)
		params.WriteString(p.Description)
		params.WriteByte(' ')
	}
	name := b.segment(nameParts(d.Name))
	f := make([]field, fieldCount)
	f[inName].stems = b.content(name)
	f[inTitle] = b.prose(d.Title)
	f[inText] = b.prose(d.Description)
	f[inParams].stems = b.content(append(paramNames, tokens(params.String())...))
	f[inPlace].stems = b.content(append(nameParts(d.Box), nameParts(d.Server)...))
	for i := range f {
		b.lengths[i] += float64(len(f[i].stems))
	}
	b.fields = append(b.fields, f)
}

func (b *builder) finish() {
	x := b.x
	n := float64(max(1, x.docs))
	var average [fieldCount]float64
	for i := range average {
		average[i] = max(1, b.lengths[i]/n)
	}
	x.ideas = make([][]posting, x.lex.concepts)
	counts, ideas, times := map[int32]float64{}, map[int32]float64{}, map[string]int{}
	for doc, fields := range b.fields {
		clear(counts)
		clear(ideas)
		for i, f := range fields {
			clear(times)
			norm := 1 - x.w.b + x.w.b*float64(len(f.stems))/average[i]
			unit := x.w.field[i] / norm
			for j, s := range f.stems {
				if times[s]++; times[s] > maxTimes {
					continue
				}
				weight := unit
				if x.soft[s] {
					weight *= x.w.softIdea
				}
				counts[b.term(s)] += unit
				b.relate(ideas, s, weight)
				if j > 0 {
					pair := f.stems[j-1] + " " + s
					if i != inParams {
						counts[b.term(pair)] += unit
					}
					b.relate(ideas, pair, unit)
				}
			}
			b.addGlosses(f.gloss, unit*x.w.gloss, counts, ideas)
		}
		for t, c := range counts {
			x.lists[t] = append(x.lists[t], posting{int32(doc), float32(c)})
		}
		for c, v := range ideas {
			x.ideas[c] = append(x.ideas[c], posting{int32(doc), float32(v)})
		}
	}
	for id, list := range x.lists {
		saturate(list, idf(n, float64(max(1, len(list)-b.glossed[int32(id)]))), x.w.k1)
	}
	for _, list := range x.ideas {
		var df float64
		for _, p := range list {
			df += math.Min(1, float64(p.score))
		}
		saturate(list, idf(n, df), x.w.ideaK1)
	}
	x.spelt = newSpelling(slices.Collect(maps.Keys(b.stems)))
}

// addGlosses counts what words of another language mean. A gloss makes a word no
// less rare: that a hundred Chinese tools are about music does not make "music"
// say less of the one that has the word.
func (b *builder) addGlosses(stems []string, unit float64, counts, ideas map[int32]float64) {
	times := map[string]int{}
	for _, s := range stems {
		if times[s]++; times[s] > maxTimes {
			continue
		}
		id, weight := b.term(s), unit
		if counts[id] == 0 {
			b.glossed[id]++
		}
		counts[id] += weight
		if b.x.soft[s] {
			weight *= b.x.w.softIdea
		}
		b.relate(ideas, s, weight)
	}
}

func (b *builder) relate(ideas map[int32]float64, key string, unit float64) {
	rels := b.x.lex.words[key]
	share := 1 / math.Pow(float64(len(rels)), b.x.w.ambiguity)
	for _, r := range rels {
		ideas[r.concept] += unit * float64(r.told) * share
	}
}

func (b *builder) term(s string) int32 {
	id, ok := b.x.terms[s]
	if !ok {
		id = int32(len(b.x.lists))
		b.x.terms[s] = id
		b.x.lists = append(b.x.lists, nil)
	}
	return id
}

func idf(n, df float64) float64 { return math.Log(1 + (n-df+0.5)/(df+0.5)) }

// saturate turns counts into scores: the tenth mention says little more than the third.
func saturate(list []posting, idf, k1 float64) {
	for i, p := range list {
		c := float64(p.score)
		list[i].score = float32(idf * c * (k1 + 1) / (c + k1))
	}
}
