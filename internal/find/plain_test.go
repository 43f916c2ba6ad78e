package find

import (
	"math"
	"slices"
	"strings"
)

// plainBM25 is the yardstick: BM25 over name and description with stop words
// and a light stemmer, and nothing more.
type plainBM25 struct {
	n     int
	lists map[string][]posting
}

func newPlain(docs []Doc) *plainBM25 {
	p := &plainBM25{n: len(docs), lists: map[string][]posting{}}
	lengths := make([]float64, len(docs))
	var total float64
	for i, d := range docs {
		counts := map[string]float32{}
		words := plainWords(strings.Join(nameParts(d.Name), " ") + " " + d.Title + " " + d.Description)
		for _, par := range d.Params {
			words = append(words, plainWords(strings.Join(nameParts(par.Name), " ")+" "+par.Description)...)
		}
		for _, w := range words {
			counts[w]++
		}
		lengths[i] = float64(len(words))
		total += lengths[i]
		for w, c := range counts {
			p.lists[w] = append(p.lists[w], posting{int32(i), c})
		}
	}
	const k1, b = 1.2, 0.75
	average := total / float64(max(1, len(docs)))
	for _, list := range p.lists {
		weight := math.Log(1 + (float64(len(docs))-float64(len(list))+0.5)/(float64(len(list))+0.5))
		for i, e := range list {
			c := float64(e.score)
			list[i].score = float32(weight * c * (k1 + 1) / (c + k1*(1-b+b*lengths[e.doc]/average)))
		}
	}
	return p
}

func (p *plainBM25) search(query string, limit int) []int {
	sum := make([]float32, p.n)
	for _, w := range plainWords(query) {
		for _, e := range p.lists[w] {
			sum[e.doc] += e.score
		}
	}
	var order []int
	for i, s := range sum {
		if s > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case sum[a] > sum[b]:
			return -1
		case sum[a] < sum[b]:
			return 1
		}
		return 0
	})
	return order[:min(limit, len(order))]
}

func plainWords(text string) []string {
	const stops = " a an the and or of to in on for with is are was be can could would i you me my your it that this do does have how what please need want help any some from at by as about which who will if "
	var out []string
	for _, w := range tokens(text) {
		if strings.Contains(stops, " "+w+" ") {
			continue
		}
		for _, end := range []string{"ing", "ed", "es", "s"} {
			if r, ok := strings.CutSuffix(w, end); ok && len(r) >= 3 {
				w = r
				break
			}
		}
		out = append(out, w)
	}
	return out
}
