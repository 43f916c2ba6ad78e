package find

import (
	"fmt"
	"testing"
)

// manyTools repeats the committed tools with other names and words until
// there are n, so that lists get as long as in a catalog of that size.
func manyTools(t testing.TB, n int) []Doc {
	t.Helper()
	base := readTools(t)
	vendors := []string{"acme", "globex", "initech", "umbra", "hooli", "vandelay", "stark", "wayne", "tyrell", "cyber", "aperture", "soylent"}
	docs := make([]Doc, 0, n)
	for i := 0; len(docs) < n; i++ {
		d := base[i%len(base)]
		round := i / len(base)
		vendor := vendors[round%len(vendors)]
		other := base[(i*7+round*13)%len(base)]
		d.Name = fmt.Sprintf("%s_%s_%d", vendor, d.Name, round)
		d.Description += " Part of " + vendor + ". See also: " + other.Description
		d.Server = vendor
		docs = append(docs, d)
	}
	return docs
}

// BenchmarkSearch5000 is one query at 5,000 tools, beside plain BM25.
func BenchmarkSearch5000(b *testing.B) {
	docs := manyTools(b, 5000)
	queries := readQueries(b, readTools(b))
	x, plain := New(docs), newPlain(docs)
	b.Run("ranking", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			x.Search(queries[i%len(queries)].Query, 5)
		}
	})
	var uses []Use
	for i := range 1500 {
		uses = append(uses, Use{Query: queries[i%len(queries)].Query, Doc: i * 3, Times: 1})
	}
	m := x.Remember(uses)
	b.Run("learned", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			m.Search(queries[i%len(queries)].Query, 5)
		}
	})
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			plain.search(queries[i%len(queries)].Query, 5)
		}
	})
}

// BenchmarkNew is the building of an index.
func BenchmarkNew(b *testing.B) {
	for _, n := range []int{10, 500, 5000} {
		docs := manyTools(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				New(docs)
			}
		})
	}
}
