package find

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Hit is a document that was found.
type Hit struct {
	Doc   int      // its place in what New was given
	Score float64  // for comparing the hits of one search, and nothing else
	Why   []string // the words of the query that led here, best first
}

// scores is the working memory of one search.
type scores struct {
	sum     []float32
	touched []int32
	one     []float32 // of one group, zero between groups
	group   []int32
}

// Search gives the best documents for a query, best first, at most limit. A
// document that has nothing in common with the query is not found.
func (x *Index) Search(query string, limit int) []Hit {
	if limit <= 0 || x.docs == 0 {
		return nil
	}
	s := x.takeScores()
	defer x.release(s)
	q := x.rate(query, s)
	hits := s.best(limit)
	for i := range hits {
		hits[i].Why = x.why(q, hits[i].Doc)
	}
	return hits
}

// rate gives every document its score for a query, as a whole and by its needs.
func (x *Index) rate(query string, s *scores) *request {
	query = x.readPaths(query[:min(len(query), maxText)])
	q := x.parse(query)
	x.score(q, s)
	x.blendNeeds(query, q.length, s)
	return q
}

// score adds up what a query says of each document, by words and then by
// concepts. The lexicon is for queries that do not say it in the tool's words.
// The more of them, and the rarer ones, one document shares with the query, the
// less concepts count: in a long query every word speaks of a few, and together
// they would outvote the two words that name the thing.
func (x *Index) score(q *request, s *scores) {
	s.add(q.words, 1)
	told := float64(s.top()) / x.w.sure
	s.add(q.ideas, float32(1/(1+told*told)))
	x.favour(q.want, s)
}

// add adds up what parts say, times share. Within a group they are ways of
// saying one thing: the more of them fit the better, but a word with many
// meanings must not outweigh a word with one.
func (s *scores) add(q []part, share float32) {
	for len(q) > 0 {
		n := 1
		for n < len(q) && q[n].group == q[0].group {
			n++
		}
		if n == 1 {
			s.addOne(q[0].list, q[0].weight*share)
			q = q[1:]
			continue
		}
		s.group = s.group[:0]
		for _, p := range q[:n] {
			weight := p.weight * share
			for _, e := range p.list {
				v := e.score * weight
				if v *= v; v == 0 {
					continue // zero means that nothing was said yet
				}
				if s.one[e.doc] == 0 {
					s.group = append(s.group, e.doc)
				}
				s.one[e.doc] += v
			}
		}
		for _, d := range s.group {
			if s.sum[d] == 0 {
				s.touched = append(s.touched, d)
			}
			s.sum[d] += float32(math.Sqrt(float64(s.one[d])))
			s.one[d] = 0
		}
		q = q[n:]
	}
}

// addOne adds a group that has a single part.
func (s *scores) addOne(list []posting, weight float32) {
	for _, e := range list {
		v := e.score * weight
		if v == 0 {
			continue
		}
		if s.sum[e.doc] == 0 {
			s.touched = append(s.touched, e.doc)
		}
		s.sum[e.doc] += v
	}
}

func (x *Index) takeScores() *scores {
	if s, ok := x.scratch.Get().(*scores); ok {
		return s
	}
	return &scores{sum: make([]float32, x.docs), one: make([]float32, x.docs)}
}

// release puts working memory back as it was found.
func (x *Index) release(s *scores) {
	s.clear()
	x.scratch.Put(s)
}

func (s *scores) clear() {
	for _, d := range s.touched {
		s.sum[d] = 0
	}
	s.touched = s.touched[:0]
}

func (s *scores) top() float32 {
	var top float32
	for _, d := range s.touched {
		top = max(top, s.sum[d])
	}
	return top
}

// best picks the highest scores; equal ones stay in the order of the documents.
func (s *scores) best(limit int) []Hit {
	byScore := func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.sum[b], s.sum[a]), cmp.Compare(a, b))
	}
	top := make([]int32, 0, min(limit, len(s.touched))+1)
	for _, d := range s.touched {
		if len(top) == limit && (s.sum[d] < s.sum[top[limit-1]] || byScore(d, top[limit-1]) >= 0) {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, d, byScore)
		top = slices.Insert(top, at, d)
		if len(top) > limit {
			top = top[:limit]
		}
	}
	hits := make([]Hit, len(top))
	for i, d := range top {
		hits[i] = Hit{Doc: int(d), Score: float64(s.sum[d])}
	}
	return hits
}

// why names the words that counted for a document.
func (x *Index) why(q *request, doc int) []string {
	gave := map[string]float32{}
	for _, parts := range [][]part{q.words, q.ideas} {
		for _, p := range parts {
			if at, ok := slices.BinarySearchFunc(p.list, int32(doc), func(e posting, d int32) int { return cmp.Compare(e.doc, d) }); ok {
				gave[p.word] += p.list[at].score * p.weight
			}
		}
	}
	words := slices.Collect(maps.Keys(gave))
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(gave[b], gave[a]), cmp.Compare(a, b)) })
	return words[:min(len(words), maxWhy)]
}

const maxWhy = 6
