package find

import (
	"slices"
	"testing"
)

func pastDocs() []Doc {
	return []Doc{
		{Name: "get_forecast", Description: "Weather for the next days."},
		{Name: "send_email", Description: "Send an email to someone."},
		{Name: "post_message", Description: "Post a message to a channel."},
		{Name: "list_invoices", Description: "List invoices of a customer."},
	}
}

// TestMemory: what a query led to is ahead for queries like it, and nowhere else.
func TestMemory(t *testing.T) {
	x := New(pastDocs())
	m := x.Remember([]Use{{Query: "ping the oncall folks", Doc: 2}, {Query: "dunning for the Meyer account", Doc: 3, Times: 9}, {Query: "nobody", Doc: 7}, {Query: "", Doc: 1}, {Query: "x", Doc: -1}})
	for query, want := range map[string]int{"ping oncall": 2, "please ping the oncall people about it": 2, "dunning": 3, "dunning letter for an account": 3} {
		if hits := m.Search(query, 3); len(hits) == 0 || hits[0].Doc != want {
			t.Errorf("%s: %v", query, hits)
		}
	}
	for _, query := range []string{"weather", "send an email", "zzzz", "list invoices", "", "send_email"} {
		if got, want := places(m.Search(query, 4)), places(x.Search(query, 4)); !slices.Equal(got, want) {
			t.Errorf("%s, which is like nothing learned: %v, before %v", query, got, want)
		}
	}
	if hits := m.Search("ping oncall", 0); hits != nil {
		t.Errorf("%v", hits)
	}
	if hits := New(nil).Remember([]Use{{Query: "a", Doc: 0}}).Search("a", 5); hits != nil {
		t.Errorf("%v", hits)
	}
}

// TestMemoryIsBounded: however often, and in however many words, one tool is pushed,
// another that the query names is not pushed out by it.
func TestMemoryIsBounded(t *testing.T) {
	x := New(pastDocs())
	var junk []Use
	for range 2 * maxUses {
		junk = append(junk, Use{Query: "send an email to someone about the weather for the next days", Doc: 3, Times: 1 << 30})
	}
	m := x.Remember(junk)
	for query, want := range map[string]int{"send email": 1, "send_email": 1, "weather forecast": 0, "get_forecast": 0} {
		if hits := m.Search(query, 2); !slices.Contains(places(hits), want) {
			t.Errorf("%s: %v", query, hits)
		}
	}
}

// TestMemoryIsTheSame: the same uses in another order rank the same.
func TestMemoryIsTheSame(t *testing.T) {
	x := New(pastDocs())
	uses := []Use{{"ping the folks", 2, 1}, {"ping the team", 1, 1}, {"ping", 0, 2}, {"the folks of the team", 3, 3}}
	want := places(x.Remember(uses).Search("ping folks team", 4))
	for range 20 {
		uses = append(uses[1:], uses[0])
		if got := places(x.Remember(uses).Search("ping folks team", 4)); !slices.Equal(got, want) {
			t.Fatalf("%v, %v", got, want)
		}
	}
}

// BenchmarkReplay replays a public set, its order taken for time: what the first
// two thirds of the queries led to helps the last third, with few and many past uses
// of each tool, and every fourth tool was never used.
func BenchmarkReplay(b *testing.B) {
	docs, queries := readMetaTool(b)
	x, at := New(docs), map[string]int{}
	for i, d := range docs {
		at[d.Name] = i
	}
	cut := len(queries) * 2 / 3
	used := func(tool string) bool { return at[tool]%4 != 0 }
	rate := func(search func(string, int) []Hit, known bool) (first, five float64) {
		n := 0.0
		for i := cut; i < len(queries); i += 3 {
			q := queries[i]
			if used(q.Tool) != known {
				continue
			}
			n++
			switch place := slices.Index(places(search(q.Query, 5)), at[q.Tool]); {
			case place == 0:
				first++
				five++
			case place > 0:
				five++
			}
		}
		return 100 * first / n, 100 * five / n
	}
	base1, base5 := rate(x.Search, true)
	never1, never5 := rate(x.Search, false)
	for b.Loop() {
		for _, floor := range []struct {
			per        int
			gain, loss float64
		}{{1, 0.8, 0.5}, {3, 2.5, 1}, {10, 7, 3}} {
			per := floor.per
			var uses []Use
			count := map[string]int{}
			for _, q := range queries[:cut] {
				if count[q.Tool]++; count[q.Tool] <= per && used(q.Tool) {
					uses = append(uses, Use{Query: q.Query, Doc: at[q.Tool], Times: 1})
				}
			}
			m := x.Remember(uses)
			a1, a5 := rate(m.Search, true)
			c1, c5 := rate(m.Search, false)
			b.Logf("%d uses of each: at 1 %.1f→%.1f, at 5 %.1f→%.1f; of tools never used at 1 %.1f→%.1f, at 5 %.1f→%.1f", per, base1, a1, base5, a5, never1, c1, never5, c5)
			if a1 < base1+floor.gain || a5 < base5 || c1 < never1-floor.loss || c5 < never5-1 {
				b.Errorf("%d uses: the memory does not pay, or takes too much from tools that nobody used", per)
			}
		}
	}
}
