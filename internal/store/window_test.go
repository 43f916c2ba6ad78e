package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/store"
)

// A clock that was wrong for a while hides no call that came before.
func TestSinceFindsCallsBehindAWrongClock(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	now := time.Now()
	for _, c := range []struct {
		id  string
		ago time.Duration
	}{{"old", 48 * time.Hour}, {"first", 3 * time.Hour}, {"wrong1", 20 * 365 * 24 * time.Hour}, {"wrong2", 20 * 365 * 24 * time.Hour}, {"last", time.Hour}} {
		r := newRecord(c.id)
		r.Start = now.Add(-c.ago)
		begin(t, j, r)
		end(t, j, ended(r))
	}
	shut(t, j)
	r := reader(t, cfg)
	list, err := r.List(t.Context(), store.Filter{Since: now.Add(-4 * time.Hour)})
	if err != nil || len(list) != 2 || list[0].ID != "last" || list[1].ID != "first" {
		t.Error(list, err)
	}
	none, err := r.List(t.Context(), store.Filter{Since: now.Add(time.Hour)})
	if err != nil || len(none) != 0 {
		t.Error(none, err)
	}
	stats, err := r.Stats(t.Context(), store.Filter{Since: now.Add(-4 * time.Hour)})
	if err != nil || stats.Calls != 2 {
		t.Error(stats, err)
	}
}

// Calls are told in the order in which they ended, each once, and one may go on behind any.
func TestAfter(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	slow, quick := newRecord("slow"), newRecord("quick")
	begin(t, j, slow)
	begin(t, j, quick)
	end(t, j, ended(quick))
	r := reader(t, cfg)
	list, last, more, err := r.After(t.Context(), 0, store.Filter{}, 10)
	if err != nil || more || len(list) != 1 || list[0].Record.ID != "quick" {
		t.Fatal(list, more, err)
	}
	if at, err := r.EndOf(t.Context(), list[0].Record.Seq); err != nil || at != last {
		t.Error(at, last, err)
	}
	end(t, j, ended(slow))
	calls(t, j, "more", 5)
	var ids []string
	for more = true; more; {
		if list, last, more, err = r.After(t.Context(), last, store.Filter{}, 2); err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			ids = append(ids, one.Record.ID)
		}
	}
	if len(ids) != 6 || ids[0] != "slow" || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 6 {
		t.Error(ids)
	}
	if list, _, _, err := r.After(t.Context(), 0, store.Filter{Agent: "nobody"}, 10); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	shut(t, j)
}

func TestIDsByTheirBeginning(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	for _, id := range []string{"019a84c2-aa", "019a84c2-ab", "019b", "€uro1", "€uro2"} {
		r := newRecord(id)
		begin(t, j, r)
		end(t, j, ended(r))
	}
	shut(t, j)
	r := reader(t, cfg)
	for prefix, want := range map[string]int{"019a": 2, "019a84c2-aa": 1, "019b": 1, "01": 3, "": 0, "x": 0, "%": 0, "€": 2} {
		if ids, err := r.IDs(t.Context(), prefix); err != nil || len(ids) != want {
			t.Errorf("%q: %v %v", prefix, ids, err)
		}
	}
	for id, want := range map[string]string{"019a84c2-aa": "019a84c2-aa", "019b": "019b", "€uro1": "€uro1"} {
		if got := r.Short(t.Context(), id, 2); got != want {
			t.Errorf("Short(%s) = %s, want %s", id, got, want)
		}
	}
}
