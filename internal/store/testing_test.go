package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// fresh is a configuration for a journal that is not there yet.
func fresh(t testing.TB) store.Config {
	t.Helper()
	return store.Config{Dir: filepath.Join(t.TempDir(), "journal"), Log: slog.New(slog.NewTextHandler(logTo{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))}
}

// logTo shows the log of a test that fails. The keeper may still log while
// the test ends, so the last lines can be lost, but never panic.
type logTo struct{ t testing.TB }

func (l logTo) Write(p []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(strings.TrimSuffix(string(p), "\n"))
	}
	return len(p), nil
}

func open(t testing.TB, cfg store.Config) *store.Journal {
	t.Helper()
	j, err := sqlite.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, j) })
	return j
}

func shut(t testing.TB, j *store.Journal) {
	t.Helper()
	if err := j.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func newRecord(id string) *toolcrib.Record {
	return &toolcrib.Record{
		ID: id, Parent: "p", Tool: "append_line", Start: time.Date(2026, 11, 15, 12, 0, 0, 123456789, time.UTC),
		Caller: toolcrib.Caller{Subject: "alice", Agent: "coder", Session: "s1", Frontend: "mcp", Dialect: "ovos"},
		Input:  []byte(`{"text":"<b>&\u2028"}`), InputHash: "abc", Replay: "earlier",
	}
}

func ended(r *toolcrib.Record) *toolcrib.Record {
	r.Box, r.Native, r.Definition = "files", "append", "def"
	r.Verdicts = []toolcrib.Verdict{{Decision: toolcrib.Allow, Guard: "mode", Rule: "r1", Reason: "because"}}
	r.ApprovedBy, r.Edited, r.Duration, r.Outcome = "bob", []byte(`{"text":"b"}`), 1500*time.Microsecond, toolcrib.Done
	r.Message, r.Attempts = "well", 3
	r.Result, r.ResultHash, r.Cut = []byte(`{"content":[{"type":"text","text":"ok"}]}`), "def", true
	return r
}

func begin(t testing.TB, j *store.Journal, r *toolcrib.Record) {
	t.Helper()
	old, err := j.Begin(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if old != nil {
		t.Fatalf("call %s was begun before: %+v", r.ID, old)
	}
}

func end(t testing.TB, j *store.Journal, r *toolcrib.Record) {
	t.Helper()
	if err := j.End(context.Background(), ended(r)); err != nil {
		t.Fatal(err)
	}
}

// calls makes n closed calls, named by prefix and number.
func calls(t testing.TB, j *store.Journal, prefix string, n int) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			r := newRecord(fmt.Sprintf("%s%d", prefix, i))
			if old, err := j.Begin(context.Background(), r); err != nil || old != nil {
				t.Errorf("begin %s: %v %v", r.ID, old, err)
				return
			}
			if err := j.End(context.Background(), ended(r)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// journalWith is a closed journal with some calls, c0 and so on.
func journalWith(t testing.TB, n int) store.Config {
	t.Helper()
	cfg := fresh(t)
	j := open(t, cfg)
	calls(t, j, "c", n)
	shut(t, j)
	return cfg
}

// attacker is a second connection to the database that knows no rules.
func attacker(t testing.TB, cfg store.Config) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(cfg.Dir, "journal.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func run(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func number(t testing.TB, db *sql.DB, query string, args ...any) (n int64) {
	t.Helper()
	if err := db.QueryRow(query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// verify checks a journal the way the command does.
func verify(t testing.TB, cfg store.Config) store.Report {
	t.Helper()
	r, err := sqlite.Verify(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustBeSound(t testing.TB, cfg store.Config) store.Report {
	t.Helper()
	r := verify(t, cfg)
	for _, f := range r.Findings {
		t.Error(f)
	}
	return r
}

// mustFind fails unless there is a finding of this kind about this entry.
func mustFind(t testing.TB, r store.Report, kind store.Fault, seq uint64) store.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Kind == kind && f.Seq == seq {
			return f
		}
	}
	t.Errorf("want %q about entry %d, got %v", kind, seq, r.Findings)
	return store.Finding{}
}

// mustFindOnly besides fails if anything else was found.
func mustFindOnly(t testing.TB, r store.Report, kind store.Fault, seqs ...uint64) {
	t.Helper()
	for _, seq := range seqs {
		mustFind(t, r, kind, seq)
	}
	if len(r.Findings) != len(seqs) {
		t.Errorf("want %d findings, got %v", len(seqs), r.Findings)
	}
}
