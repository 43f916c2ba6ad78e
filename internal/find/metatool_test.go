package find

import (
	"bufio"
	"encoding/json"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

type labelled struct {
	Query string `json:"query"`
	Tool  string `json:"tool"`
}

// readMetaTool reads the public data set from where TOOLSEARCH_DATA says. It
// is not part of this module, so a run without it rests on the committed set.
func readMetaTool(t testing.TB) ([]Doc, []labelled) {
	t.Helper()
	dir := os.Getenv("TOOLSEARCH_DATA")
	if dir == "" {
		t.Skip("TOOLSEARCH_DATA names no directory with metatool-tools.json; TestRecall holds the figure on the committed set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "metatool-tools.json"))
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]string{}
	if err := json.Unmarshal(text, &tools); err != nil {
		t.Fatal(err)
	}
	var docs []Doc
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		docs = append(docs, Doc{Name: name, Description: tools[name]})
	}
	f, err := os.Open(filepath.Join(dir, "metatool-queries.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var queries []labelled
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var q labelled
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		queries = append(queries, q)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return docs, queries
}

// tuned reports whether a query is in the half that weights were chosen on. The
// other half is looked at for the figure only.
func tuned(query string) bool {
	h := fnv.New32a()
	h.Write([]byte(query))
	return h.Sum32()>>7&1 == 0
}

type figures struct{ n, at1, at5, at10 float64 }

func (f *figures) add(docs []Doc, found []int, want string) {
	f.n++
	for rank, d := range found {
		if docs[d].Name != want {
			continue
		}
		if rank < 1 {
			f.at1++
		}
		if rank < 5 {
			f.at5++
		}
		f.at10++
	}
}

func (f *figures) recall5() float64 { return 100 * f.at5 / max(1, f.n) }

func (f *figures) log(t testing.TB, name string) {
	t.Logf("%-24s n=%5.0f recall@1 %.1f @5 %.1f @10 %.1f", name, f.n, 100*f.at1/max(1, f.n), f.recall5(), 100*f.at10/max(1, f.n))
}

func places(hits []Hit) []int {
	out := make([]int, len(hits))
	for i, h := range hits {
		out[i] = h.Doc
	}
	return out
}

// BenchmarkMetaTool compares with plain BM25 on the same documents in the same
// run, and fails if the gain is lost.
func BenchmarkMetaTool(b *testing.B) {
	docs, queries := readMetaTool(b)
	x, plain := New(docs), newPlain(docs)
	for b.Loop() {
		var ours, theirs [2]figures
		for _, q := range queries {
			half := 1
			if tuned(q.Query) {
				half = 0
			}
			ours[half].add(docs, places(x.Search(q.Query, 10)), q.Tool)
			theirs[half].add(docs, plain.search(q.Query, 10), q.Tool)
		}
		for half, name := range []string{"tuned", "heldout"} {
			theirs[half].log(b, name+", plain")
			ours[half].log(b, name)
			b.ReportMetric(ours[half].recall5(), "recall5-"+name)
			b.ReportMetric(theirs[half].recall5(), "plain5-"+name)
			if gain := ours[half].recall5() - theirs[half].recall5(); gain < 18 {
				b.Errorf("%s: recall at 5 is %.1f points above plain BM25, want 18", name, gain)
			}
		}
	}
}
