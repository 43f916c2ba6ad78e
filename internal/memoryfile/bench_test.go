package memoryfile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fill writes 5,000 notes: a thousand of long term, and forty a day for a hundred
// days, in files that nobody has changed for an hour.
func fill(t testing.TB, s *Store) {
	t.Helper()
	put := func(name, content string) {
		edit(t, s, name, content)
		at := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(s.cfg.Dir, filepath.FromSlash(name)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 2, 20_000)
	var b strings.Builder
	note := func() {
		b.WriteString("- 2026-01-01 10:00")
		for range 25 {
			fmt.Fprintf(&b, " word%s", spelt(zipf.Uint64()))
		}
		b.WriteString("\n")
	}
	for range 1000 {
		note()
	}
	put("ann/coder/MEMORY.md", b.String())
	for day := range 100 {
		b.Reset()
		for range 40 {
			note()
		}
		put("ann/coder/daily/"+time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)+".md", b.String())
	}
}

// spelt writes a number in letters, since digits are words of their own.
func spelt(n uint64) string {
	var out []byte
	for ; n > 0; n /= 20 {
		out = append(out, "bcdfghjklmnpqrstvwxz"[n%20])
	}
	return string(out)
}

// A query over 5,000 notes takes less than a millisecond (BenchmarkSearch says how
// much); this holds ten times that, on any machine, against a mistake of order.
func TestSearchIsFast(t *testing.T) {
	s := open(t, Config{Now: time.Now})
	fill(t, s)
	query := "word" + spelt(1) + " word" + spelt(5) + " word" + spelt(50) + " word" + spelt(7000)
	best := time.Hour
	for range 50 {
		begin := time.Now()
		f, err := s.Search(t.Context(), ann, query, 5)
		if err != nil || len(f.Notes) != 5 || len(f.Skipped) > 0 {
			t.Fatalf("%+v, %v", f, err)
		}
		best = min(best, time.Since(begin))
	}
	if best > 20*time.Millisecond {
		t.Errorf("a query takes %v", best)
	}
}

func BenchmarkSearch(b *testing.B) {
	s := open(b, Config{Now: time.Now})
	fill(b, s)
	query := "word" + spelt(1) + " word" + spelt(5) + " word" + spelt(50) + " word" + spelt(7000)
	for b.Loop() {
		if _, err := s.Search(b.Context(), ann, query, 5); err != nil {
			b.Fatal(err)
		}
	}
}
