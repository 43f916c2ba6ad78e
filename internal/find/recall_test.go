package find

import (
	"os"
	"strings"
	"testing"
)

// readTools reads the committed tools, which were written for this test.
func readTools(t testing.TB) []Doc {
	t.Helper()
	var docs []Doc
	for _, row := range rows(t, "testdata/tools.txt") {
		box, name, ok := strings.Cut(row[0], "/")
		if !ok || len(row) != 3 {
			t.Fatalf("tools.txt: bad row %q", row)
		}
		d := Doc{Box: box, Name: name, Description: row[1]}
		for param := range strings.SplitSeq(row[2], ";") {
			name, about, _ := strings.Cut(strings.TrimSpace(param), "=")
			d.Params = append(d.Params, Param{name, about})
		}
		docs = append(docs, d)
	}
	return docs
}

func readQueries(t testing.TB, docs []Doc) []labelled {
	t.Helper()
	known := map[string]bool{}
	for _, d := range docs {
		known[d.Name] = true
	}
	var out []labelled
	for _, row := range rows(t, "testdata/queries.txt") {
		if len(row) != 2 || !known[row[1]] {
			t.Fatalf("queries.txt: bad row %q", row)
		}
		out = append(out, labelled{row[0], row[1]})
	}
	return out
}

func rows(t testing.TB, file string) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(line, "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		out = append(out, row)
	}
	return out
}

// TestRecall holds the figure on the committed set, so that a change that
// makes the ranking worse fails everywhere.
func TestRecall(t *testing.T) {
	docs := readTools(t)
	queries := readQueries(t, docs)
	if len(docs) < 60 || len(queries) < 150 {
		t.Fatalf("%d tools and %d queries: too few to say anything", len(docs), len(queries))
	}
	x, plain := New(docs), newPlain(docs)
	var ours, theirs figures
	for _, q := range queries {
		hits := x.Search(q.Query, 10)
		ours.add(docs, places(hits), q.Tool)
		theirs.add(docs, plain.search(q.Query, 10), q.Tool)
		if testing.Verbose() && !contains(docs, hits, q.Tool, 5) {
			t.Logf("missed %q: want %s, have %s", q.Query, q.Tool, names(docs, hits))
		}
	}
	theirs.log(t, "plain BM25")
	ours.log(t, "this ranking")
	if gain := ours.recall5() - theirs.recall5(); gain < 44 || ours.recall5() < 95 {
		t.Errorf("recall at 5 is %.1f, %.1f points above plain BM25; want 95 and 44", ours.recall5(), gain)
	}
}

func contains(docs []Doc, hits []Hit, want string, within int) bool {
	for _, h := range hits[:min(within, len(hits))] {
		if docs[h.Doc].Name == want {
			return true
		}
	}
	return false
}

func names(docs []Doc, hits []Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, docs[h.Doc].Name)
	}
	return strings.Join(out, " ")
}

// TestRecallMisspelt holds the figure for queries in which every second longer
// word has two letters swapped, the short ones too.
func TestRecallMisspelt(t *testing.T) {
	docs := readTools(t)
	x := New(docs)
	var clean, slips figures
	for _, q := range readQueries(t, docs) {
		clean.add(docs, places(x.Search(q.Query, 10)), q.Tool)
		slips.add(docs, places(x.Search(swapLetters(q.Query, x.stop), 10)), q.Tool)
	}
	clean.log(t, "clean")
	slips.log(t, "misspelt")
	if share := 100 * slips.recall5() / clean.recall5(); share < 90 {
		t.Errorf("recall at 5 with slips is %.1f, %.0f %% of that without; want 90 %%", slips.recall5(), share)
	}
}

func swapLetters(query string, stop map[string]bool) string {
	words := strings.Fields(query)
	long := 0
	for i, w := range words {
		if len(w) < 4 || !plain(w) || stop[w] {
			continue
		}
		if long++; long%2 == 1 {
			at := 1 + len(w)%(len(w)-2)
			words[i] = w[:at] + w[at+1:at+2] + w[at:at+1] + w[at+2:]
		}
	}
	return strings.Join(words, " ")
}
