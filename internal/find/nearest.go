package find

import (
	"cmp"
	"slices"
)

// minNearest is the share of spelling that a name must have in common with
// another to be taken for a slip of it.
const minNearest = 0.35

// Nearest gives the documents, at most limit, whose names are most like a name
// that does not exist: first those spelt alike, then those about the same.
func (x *Index) Nearest(name string, limit int) []int {
	if limit <= 0 {
		return nil
	}
	want := pieces(joined(name[:min(len(name), maxName)]))
	type near struct {
		doc  int32
		like float64
	}
	var best []near
	for known, list := range x.names {
		if like := shared(want, pieces(known)); like >= minNearest {
			for _, p := range list {
				best = append(best, near{p.doc, like})
			}
		}
	}
	slices.SortFunc(best, func(a, b near) int { return cmp.Or(cmp.Compare(b.like, a.like), cmp.Compare(a.doc, b.doc)) })
	var out []int
	for _, n := range best[:min(limit, len(best))] {
		out = append(out, int(n.doc))
	}
	for _, hit := range x.Search(name, limit) {
		if len(out) < limit && !slices.Contains(out, hit.Doc) {
			out = append(out, hit.Doc)
		}
	}
	return out
}

// maxName is how much of a name is compared.
const maxName = 128

// pieces are the neighbouring letters of a word, each with how often it stands there.
func pieces(word string) map[string]int {
	out := map[string]int{}
	padded := "^" + word + "$"
	for i := 0; i+2 <= len(padded); i++ {
		out[padded[i:i+2]]++
	}
	return out
}

// shared is how much two words have in common, from 0 to 1.
func shared(a, b map[string]int) float64 {
	var both, all int
	for p, n := range a {
		both += min(n, b[p])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(both) / float64(all)
}
