package memoryfile

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/find"
)

// fileIndex is the notes of one file and where their words are. Each file has its
// own, so that a change of one costs nothing for the others.
type fileIndex struct {
	notes  []fileNote
	lower  []string // their texts for a search by letters
	length []float64
	words  int // of all notes together
	lists  map[string][]posting
}

// posting is a word of a note and how often it is there.
type posting struct {
	note  int32
	times float64
}

func newFileIndex(content string) *fileIndex {
	x := &fileIndex{notes: parse(content), lists: map[string][]posting{}}
	for i, n := range x.notes {
		terms := find.Terms(n.section + "\n" + n.text)
		for _, term := range terms {
			list := x.lists[term]
			if last := len(list) - 1; last >= 0 && list[last].note == int32(i) {
				list[last].times++
			} else {
				x.lists[term] = append(list, posting{int32(i), 1})
			}
		}
		x.length = append(x.length, float64(len(terms)))
		x.words += len(terms)
		x.lower = append(x.lower, strings.ToLower(n.text))
	}
	return x
}

// hit is a note that fits.
type hit struct {
	file  int // of the list that was searched
	note  int32
	score float64
}

// The usual weights of BM25.
const (
	saturation = 1.2
	byLength   = 0.75
)

// maxTerms bounds how many words of a query are looked for.
const maxTerms = 64

// search gives the notes that have words of the query, the best first, and how many
// there are; of equals the one that stands later, which is the newer one.
func search(all []*fileIndex, query string, limit int) (best []hit, found int) {
	terms := find.Terms(query)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	terms = terms[:min(len(terms), maxTerms)]
	notes, words := 0, 0
	base := make([]int, len(all))
	for i, x := range all {
		base[i] = notes
		notes += len(x.notes)
		words += x.words
	}
	if notes == 0 {
		return nil, 0
	}
	average := max(1, float64(words)/float64(notes))
	score := make([]float64, notes)
	for _, term := range terms {
		have := 0
		for _, x := range all {
			have += len(x.lists[term])
		}
		if have == 0 {
			continue
		}
		rare := math.Log(1 + (float64(notes)-float64(have)+0.5)/(float64(have)+0.5))
		for i, x := range all {
			for _, p := range x.lists[term] {
				score[base[i]+int(p.note)] += rare * p.times * (saturation + 1) / (p.times + saturation*(1-byLength+byLength*x.length[p.note]/average))
			}
		}
	}
	top := topHits{limit: limit}
	for i, x := range all {
		for n := range x.notes {
			if s := score[base[i]+n]; s > 0 {
				top.add(hit{i, int32(n), s})
			}
		}
	}
	if top.found == 0 {
		byLetters(all, query, &top)
	}
	return top.best, top.found
}

// topHits keeps the best of many.
type topHits struct {
	limit, found int
	best         []hit
}

func (t *topHits) add(h hit) {
	t.found++
	if len(t.best) == t.limit && (t.limit == 0 || h.score < t.best[t.limit-1].score) {
		return
	}
	at, _ := slices.BinarySearchFunc(t.best, h, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.file, a.file), cmp.Compare(b.note, a.note))
	})
	t.best = slices.Insert(t.best, at, h)
	t.best = t.best[:min(len(t.best), t.limit)]
}

// byLetters finds the query as a part of texts, for what is no whole word: a part
// of a compound, or one character of a script without spaces.
func byLetters(all []*fileIndex, query string, top *topHits) {
	query = strings.ToLower(strings.TrimSpace(query))
	if query == "" {
		return
	}
	for i, x := range all {
		for n, text := range x.lower {
			if strings.Contains(text, query) {
				top.add(hit{i, int32(n), 0.01})
			}
		}
	}
}
