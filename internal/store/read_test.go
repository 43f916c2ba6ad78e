package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

func reader(t testing.TB, cfg store.Config) *store.Reader {
	t.Helper()
	r, err := sqlite.OpenReader(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestNoJournal(t *testing.T) {
	cfg := fresh(t)
	if _, err := sqlite.OpenReader(t.Context(), cfg); !errors.Is(err, store.ErrNoJournal) {
		t.Errorf("OpenReader: %v", err)
	}
	if _, err := sqlite.Verify(t.Context(), cfg); !errors.Is(err, store.ErrNoJournal) {
		t.Errorf("Verify: %v", err)
	}
	for _, dir := range []string{cfg.Dir, cfg.Dir + "-key"} {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("reading made %s", dir)
		}
	}
}

// TestReadingMakesNothing reads a journal in every state it can be found in,
// and looks whether a file appeared or changed.
func TestReadingMakesNothing(t *testing.T) {
	closed := journalWith(t, 10)
	live := fresh(t)
	j := open(t, live)
	calls(t, j, "c", 10)
	for mustBeSound(t, live).After > 0 {
		time.Sleep(10 * time.Millisecond) // the checkpoint of the last call is still to come
	}
	crashed := copied(t, live)
	bare := copied(t, closed)
	remove(t, filepath.Join(bare.Dir, "journal.db-wal"), filepath.Join(bare.Dir, "journal.db-shm"))
	half := copied(t, live)
	remove(t, filepath.Join(half.Dir, "journal.db-shm"))
	for name, cfg := range map[string]store.Config{"closed": closed, "live": live, "crashed": crashed, "bare": bare, "without shm": half} {
		t.Run(name, func(t *testing.T) {
			remove(t, filepath.Join(keysOf(cfg), "private.pem"))
			before := append(files(t, cfg.Dir), files(t, keysOf(cfg))...)
			r := reader(t, cfg)
			list, err := r.List(t.Context(), store.Filter{})
			if err != nil || len(list) != 10 {
				t.Errorf("%d records, %v", len(list), err)
			}
			if report := mustBeSound(t, cfg); report.Entries != 21 {
				t.Errorf("%d entries", report.Entries)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			after := append(files(t, cfg.Dir), files(t, keysOf(cfg))...)
			if name != "bare" { // the -shm file is memory that readers share with writers
				shm := func(f string) bool { return strings.HasPrefix(f, "journal.db-shm") }
				before, after = slices.DeleteFunc(before, shm), slices.DeleteFunc(after, shm)
			}
			if name == "live" { // its writer may mark a moment after its checkpoint how far it has come
				timeless(before)
				timeless(after)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("reading changed files (-before +after):\n%s", diff)
			}
		})
	}
}

// files lists a directory with sizes and times. It does not open the files:
// to close a file of a database takes the locks of this process away.
func files(t testing.TB, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(e.Name(), " ", info.Size(), " ", info.ModTime()))
	}
	return list
}

// timeless drops the times of the files that say how far a run has come.
func timeless(list []string) {
	for i, f := range list {
		if name, rest, _ := strings.Cut(f, " "); strings.HasPrefix(name, "run-") {
			size, _, _ := strings.Cut(rest, " ")
			list[i] = name + " " + size
		}
	}
}

// TestReaderFirst: a reader in the same process must not keep a writer from
// writing, nor the writer the reader from seeing what it writes.
func TestReaderFirst(t *testing.T) {
	cfg := journalWith(t, 3)
	for round := range 3 {
		r := reader(t, cfg)
		count := func() int {
			list, err := r.List(t.Context(), store.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		n := count()
		j := open(t, cfg)
		calls(t, j, fmt.Sprint("r", round, "-"), 5)
		if got := count(); got != n+5 {
			t.Errorf("the reader sees %d records, want %d", got, n+5)
		}
		mustBeSound(t, cfg)
		shut(t, j)
		if got := count(); got != n+5 {
			t.Errorf("the reader sees %d records, want %d", got, n+5)
		}
	}
}

func TestList(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 12 {
		r := newRecord(fmt.Sprint(i))
		r.Start = start.Add(time.Duration(i) * time.Minute)
		r.Tool = []string{"a", "b", "c"}[i%3]
		r.Caller.Subject = []string{"alice", "bob"}[i%2]
		r.Caller.Session = fmt.Sprint("s", i/6)
		r.Caller.Agent, r.Caller.Organisation = []string{"", "coder", "writer", "coder"}[i%4], []string{"", "acme", "other"}[i%3]
		begin(t, j, r)
		if i == 11 {
			continue
		}
		ended(r)
		r.Box = "box" + r.Tool
		if i%4 == 0 {
			r.Outcome = toolcrib.Broke
		}
		if err := j.End(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	all, err := j.List(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	ro := reader(t, cfg)
	for name, test := range map[string]struct {
		filter store.Filter
		want   string
	}{
		"all":            {store.Filter{}, "11 10 9 8 7 6 5 4 3 2 1 0 "},
		"limit":          {store.Filter{Limit: 3}, "11 10 9 "},
		"before":         {store.Filter{Limit: 2, Before: all[2].Seq}, "8 7 "},
		"id":             {store.Filter{ID: "7"}, "7 "},
		"tool":           {store.Filter{Tool: "b"}, "10 7 4 1 "},
		"box":            {store.Filter{Box: "boxc"}, "8 5 2 "},
		"subject":        {store.Filter{Subject: "bob", Limit: 2}, "11 9 "},
		"session":        {store.Filter{Session: "s0", Tool: "a"}, "3 0 "},
		"outcome":        {store.Filter{Outcome: toolcrib.Broke}, "8 4 0 "},
		"open":           {store.Filter{Open: true}, "11 "},
		"time":           {store.Filter{Since: start.Add(3 * time.Minute), Until: start.Add(5 * time.Minute)}, "4 3 "},
		"in a box":       {store.Filter{Tool: "boxb/b"}, "10 7 4 1 "},
		"qualified":      {store.Filter{Tool: "boxb__b"}, "10 7 4 1 "},
		"of a server":    {store.Filter{Tool: "mcp__boxb__b"}, "10 7 4 1 "},
		"as clients say": {store.Filter{Tool: "mcp__toolcrib__b"}, "10 7 4 1 "},
		"of another box": {store.Filter{Tool: "boxa/b"}, ""},
		"nothing":        {store.Filter{Tool: "b' OR 1=1 --"}, ""},
		"agent":          {store.Filter{Agent: "coder", Limit: 3}, "11 9 7 "},
		"org":            {store.Filter{Organisation: "acme"}, "10 7 4 1 "},
		"both":           {store.Filter{Organisation: "acme", Agent: "coder", Subject: "bob"}, "7 1 "},
		"no org":         {store.Filter{Organisation: "acme\"", Limit: 1}, ""},
		"combined":       {store.Filter{Tool: "a", Subject: "alice", Outcome: toolcrib.Done, Until: start.Add(9 * time.Minute)}, "6 "},
	} {
		list, err := ro.List(t.Context(), test.filter)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := ""
		for _, r := range list {
			got += r.ID + " "
		}
		if got != test.want {
			t.Errorf("%s: want %q, got %q", name, test.want, got)
		}
		var out strings.Builder
		if err := ro.Export(t.Context(), &out, test.filter); err != nil {
			t.Errorf("%s: exporting: %v", name, err)
		}
		if n := strings.Count(out.String(), `"kind":"begin"`); n != len(list) {
			t.Errorf("%s: %d calls exported, %d listed", name, n, len(list))
		}
	}
}

func TestStats(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 100 {
		r := newRecord(fmt.Sprint(i))
		r.Start = start.Add(time.Duration(i) * time.Minute)
		begin(t, j, r)
		ended(r)
		r.Duration = time.Duration(i+1) * time.Millisecond
		switch {
		case i < 10:
			r.Outcome = toolcrib.Broke
		case i < 15:
			r.Outcome, r.Tool = toolcrib.Outcome(toolcrib.CodeDenied), "other"
		case i == 99:
			continue
		}
		if err := j.End(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := reader(t, cfg).Stats(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	// append_line took 1 to 10 and 16 to 99 ms: 94 values.
	want := store.Stats{
		Calls: 100, Open: 1, Outcomes: map[toolcrib.Outcome]int{toolcrib.Done: 84, toolcrib.Broke: 10, toolcrib.Outcome(toolcrib.CodeDenied): 5},
		Tools: []store.ToolStats{
			{Tool: "append_line", Calls: 94, Done: 84, Rate: 84. / 94, Mean: (55 + 4830) * time.Millisecond / 94, P50: 52 * time.Millisecond, P95: 95 * time.Millisecond},
			{Tool: "other", Calls: 5},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	since := start.Add(90 * time.Minute)
	if got, err = j.Stats(t.Context(), store.Filter{Since: since}); err != nil || got.Calls != 10 || got.Open != 1 || got.Outcomes[toolcrib.Done] != 9 {
		t.Errorf("since: %+v, %v", got, err)
	}
	for name, test := range map[string]struct {
		filter store.Filter
		want   int
	}{
		"until":         {store.Filter{Until: since}, 90},
		"tool":          {store.Filter{Tool: "append_line"}, 100}, // a name that changed on the way counts by its begin
		"subject":       {store.Filter{Subject: "alice", Session: "s1"}, 100},
		"other subject": {store.Filter{Subject: "bob"}, 0},
		"other session": {store.Filter{Session: "s2"}, 0},
		"agent":         {store.Filter{Agent: "coder", Since: since}, 10},
		"other agent":   {store.Filter{Agent: "code"}, 0},
		"organisation":  {store.Filter{Organisation: "acme"}, 0},
	} {
		if got, err := j.Stats(t.Context(), test.filter); err != nil || got.Calls != test.want {
			t.Errorf("%s: %d calls, want %d, %v", name, got.Calls, test.want, err)
		}
	}
}
