package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/store"
)

// clock is a time that tests move.
type clock struct{ ns atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(0, c.ns.Load()) }

func (c *clock) pass(d time.Duration) { c.ns.Add(int64(d)) }

// aging is a journal with a clock, that keeps entries for an hour.
func aging(t testing.TB) (store.Config, *clock) {
	c := &clock{}
	c.pass(time.Duration(time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC).UnixNano()))
	cfg := fresh(t)
	cfg.Now = c.now
	cfg.MaxAge = time.Hour
	return cfg, c
}

// some makes closed calls at the clock's time.
func some(t testing.TB, j *store.Journal, c *clock, prefix string, n int) {
	t.Helper()
	for i := range n {
		r := newRecord(fmt.Sprintf("%s%d", prefix, i))
		r.Start = c.now()
		begin(t, j, r)
		end(t, j, r)
	}
}

// pruned waits until the first entry is at least the given one.
func pruned(t testing.TB, cfg store.Config, first uint64) store.Report {
	t.Helper()
	var r store.Report
	for range 200 {
		if r = mustBeSound(t, cfg); r.First >= first {
			return r
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("still not pruned to %d: %+v", first, r)
	return r
}

func TestPruneByAge(t *testing.T) {
	cfg, c := aging(t)
	j := open(t, cfg)
	some(t, j, c, "old", 10)
	held := newRecord("held")
	held.Start = c.now()
	begin(t, j, held) // entry 22
	some(t, j, c, "behind", 10)
	c.pass(2 * time.Hour)
	some(t, j, c, "new", 10)
	shut(t, open(t, cfg)) // whoever opens it prunes; this one may be too quick for it
	second := open(t, cfg)
	if r := pruned(t, cfg, 22); r.First != 22 || r.Calls != 21 || r.Open != 1 {
		t.Errorf("pruned past an open call, or not up to it: %+v", r)
	}
	end(t, j, held)
	shut(t, second)
	second = open(t, cfg)
	r := pruned(t, cfg, 43) // 22 is held, 23 to 42 are those behind it
	if r.Open != 0 || r.Calls != 10 {
		t.Errorf("%+v", r)
	}
	before := r.Entries
	shut(t, second)
	c.pass(30 * time.Minute)
	shut(t, open(t, cfg))
	time.Sleep(20 * time.Millisecond)
	if r := mustBeSound(t, cfg); r.Entries != before {
		t.Errorf("pruning went on without anything to prune: %+v", r)
	}
	// A call ID that was pruned is forgotten; one that was kept is not.
	r1 := newRecord("old0")
	r1.Start = c.now()
	begin(t, j, r1)
	if old, err := j.Begin(t.Context(), newRecord("new0")); err != nil || old == nil {
		t.Errorf("a kept call: %v %v", old, err)
	}
}

// The report says of which times the removed entries were.
func TestPrunedTimes(t *testing.T) {
	cfg, c := aging(t)
	j := open(t, cfg)
	some(t, j, c, "first", 5)
	c.pass(10 * time.Minute)
	some(t, j, c, "last", 5)
	c.pass(2 * time.Hour)
	some(t, j, c, "new", 1)
	defer shut(t, open(t, cfg))
	r := pruned(t, cfg, 22)
	if len(r.Pruned) != 1 {
		t.Fatalf("%+v", r.Pruned)
	}
	if p := r.Pruned[0]; p.Newest.Sub(p.Oldest) < 10*time.Minute || p.Newest.Sub(p.Oldest) > time.Hour {
		t.Errorf("%v to %v", p.Oldest, p.Newest)
	}
}

func TestPruneBySize(t *testing.T) {
	cfg := fresh(t)
	size := func() int64 {
		info, err := os.Stat(filepath.Join(cfg.Dir, "journal.db"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	j := open(t, cfg)
	for i := range 1000 {
		r := newRecord(fmt.Sprint(i))
		r.Input = []byte(`"` + strings.Repeat("x", 2000) + `"`)
		begin(t, j, r)
		end(t, j, r)
	}
	shut(t, j)
	before := size()
	cfg.MaxBytes = before / 4
	j = open(t, cfg)
	for deadline := time.Now().Add(5 * time.Second); size() > cfg.MaxBytes; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the file does not shrink while the journal is open")
		}
	}
	shut(t, j)
	r := mustBeSound(t, cfg)
	if got := size(); got > cfg.MaxBytes || got < cfg.MaxBytes/2 {
		t.Errorf("the file had %d bytes, may have %d, and has %d", before, cfg.MaxBytes, got)
	}
	if r.Head <= 2001 || r.Calls < 150 || r.Calls > 350 {
		t.Errorf("%+v", r)
	}
}

// TestPruneBetween prunes a begin and not its end, and then uses the call ID
// again.
func TestPruneBetween(t *testing.T) {
	cfg, c := aging(t)
	j := open(t, cfg)
	r := newRecord("spanning")
	r.Start = c.now()
	begin(t, j, r)
	some(t, j, c, "old", 3)
	c.pass(2 * time.Hour)
	end(t, j, r)
	shut(t, j)
	j = open(t, cfg)
	pruned(t, cfg, 9) // the key, the begin, and three calls are gone
	if list, err := j.List(t.Context(), store.Filter{}); err != nil || len(list) != 0 {
		t.Errorf("half a call is listed: %v %v", list, err)
	}
	again := newRecord("spanning")
	again.Start = c.now()
	begin(t, j, again)
	if got, err := j.Get(t.Context(), "spanning"); err != nil || got.Outcome != "" || got.Seq != again.Seq {
		t.Errorf("the new call has the old end: %+v %v", got, err)
	}
	end(t, j, again)
	if r := mustBeSound(t, cfg); r.Calls != 1 || r.Open != 0 {
		t.Errorf("%+v", r)
	}
}

// TestPruneForged removes old entries without the key.
func TestPruneForged(t *testing.T) {
	cfg, c := aging(t)
	keeping := cfg
	keeping.MaxAge = 0 // it must not prune before all is written
	j := open(t, keeping)
	some(t, j, c, "old", 10)
	c.pass(2 * time.Hour)
	some(t, j, c, "new", 10)
	shut(t, j)
	j = open(t, cfg)
	pruned(t, cfg, 22)
	shut(t, j)

	t.Run("more", func(t *testing.T) {
		cfg := copied(t, cfg)
		run(t, attacker(t, cfg), `DELETE FROM entry WHERE seq <= 25`)
		mustFind(t, verify(t, cfg), store.Missing, 1)
	})
	t.Run("edited", func(t *testing.T) {
		cfg := copied(t, cfg)
		db := attacker(t, cfg)
		run(t, db, `DELETE FROM entry WHERE seq <= 25`)
		run(t, db, `UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), '"upto":21', '"upto":25') AS BLOB) WHERE kind = 5`)
		r := verify(t, cfg)
		mustFind(t, r, store.Missing, 1)
		mustFind(t, r, store.Changed, uint64(number(t, db, `SELECT seq FROM entry WHERE kind = 5`)))
	})
	t.Run("gone", func(t *testing.T) { // the prune entry alone
		cfg := copied(t, cfg)
		db := attacker(t, cfg)
		seq := number(t, db, `SELECT seq FROM entry WHERE kind = 5`)
		run(t, db, `DELETE FROM entry WHERE kind = 5`)
		r := verify(t, cfg)
		mustFind(t, r, store.Missing, 1)
		mustFind(t, r, store.TailCut, uint64(seq))
	})
}
