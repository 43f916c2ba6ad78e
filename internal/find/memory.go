package find

import (
	"cmp"
	"math"
	"slices"
)

// Use is a query of the past and the document that it led to.
type Use struct {
	Query string
	Doc   int
	Times int // how often; more than maxUseTimes count as that
}

const (
	maxUseTimes = 3
	maxUses     = 4000 // of one memory; further ones are left out
	usualQuery  = 8    // words of a query that is neither short nor long
)

// Memory is an index with what past queries say of its documents. It never
// changes either.
type Memory struct {
	x     *Index
	lists map[string][]posting // stem → documents, ascending, and how much queries with it led there
}

// Remember makes a memory of past uses. Those of documents that the index does
// not have are left out.
func (x *Index) Remember(uses []Use) *Memory {
	told, count := map[string]map[int32]float32{}, 0
	for _, u := range uses {
		words := x.weighed(u.Query)
		if u.Doc < 0 || u.Doc >= x.docs || len(words) == 0 {
			continue
		}
		if count++; count > maxUses {
			break
		}
		worth := 1 + x.w.usedAgain*float32(min(max(u.Times, 1), maxUseTimes)-1)
		worth /= 0.5 + 0.5*float32(len(words))/usualQuery
		for _, w := range words {
			if told[w.stem] == nil {
				told[w.stem] = map[int32]float32{}
			}
			told[w.stem][int32(u.Doc)] += worth
		}
	}
	m := &Memory{x: x, lists: map[string][]posting{}}
	for stem, docs := range told {
		var list []posting
		for d, v := range docs {
			list = append(list, posting{d, v})
		}
		slices.SortFunc(list, func(a, b posting) int { return cmp.Compare(a.doc, b.doc) })
		m.lists[stem] = list
	}
	return m
}

// weighedWord is a word of a query and how much of the query it is: the squares
// of all shares add up to 1.
type weighedWord struct {
	stem  string
	soft  bool
	share float32
}

// weighed gives the words of a query: rare ones say more than those that many
// documents have, words of asking say less.
func (x *Index) weighed(query string) []weighedWord {
	mentions, _ := x.mentions(x.translated(tokens(x.readPaths(query[:min(len(query), maxText)]))))
	out := make([]weighedWord, 0, len(mentions))
	var sum float64
	for _, m := range mentions {
		w := weighedWord{stem: m.stem, soft: x.soft[m.stem]}
		v := x.rarity(m.stem, 0)
		if w.soft {
			v *= x.w.softUse
		}
		sum += v * v
		w.share = float32(v)
		out = append(out, w)
	}
	for i := range out {
		out[i].share /= float32(math.Sqrt(sum))
	}
	return out
}

// rarity is how much it says that two texts share a stem. At least so many
// documents have it.
func (x *Index) rarity(stem string, least int) float64 {
	if id, ok := x.terms[stem]; ok {
		least = max(least, len(x.lists[id]))
	}
	return idf(float64(x.docs), float64(least))
}

// Search is that of the index, with the documents ahead that queries like this
// one led to. A query that has no word of theirs gives what the index gives.
func (m *Memory) Search(query string, limit int) []Hit {
	x := m.x
	if limit <= 0 || x.docs == 0 {
		return nil
	}
	s := x.takeScores()
	defer x.release(s)
	q := x.rate(query, s)
	m.recall(query, s)
	hits := s.best(limit)
	for i := range hits {
		hits[i].Why = x.why(q, hits[i].Doc)
	}
	return hits
}

// recall adds what past uses say, as if their words stood in a field of the
// document. It counts by how much of the query they cover: one word in common
// says little, whoever put it there. The hundredth use with a word says little
// more than the third.
func (m *Memory) recall(query string, s *scores) {
	if len(m.lists) == 0 {
		return
	}
	past := m.x.takeScores() // sum: the score, one: the share of the query
	defer m.x.release(past)
	for _, w := range m.x.weighed(query) {
		list := m.lists[w.stem]
		weight := float32(m.x.rarity(w.stem, len(list)))
		if w.soft {
			weight *= float32(m.x.w.softUse)
		}
		for _, p := range list {
			if past.sum[p.doc] == 0 {
				past.touched = append(past.touched, p.doc)
			}
			past.sum[p.doc] += weight * p.score * 2 / (p.score + 1)
			past.one[p.doc] += w.share * w.share
		}
	}
	for _, d := range past.touched {
		covered := math.Pow(float64(past.one[d]), m.x.w.covered)
		past.one[d] = 0
		if s.sum[d] == 0 {
			s.touched = append(s.touched, d)
		}
		s.sum[d] += past.sum[d] * m.x.w.used * float32(covered)
	}
}
