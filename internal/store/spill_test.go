package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// refusing makes the journal refuse every entry, as it would on a full disk,
// until the given function is called.
func refusing(t testing.TB, cfg store.Config) (restore func()) {
	t.Helper()
	db := attacker(t, cfg)
	run(t, db, `CREATE TRIGGER refuse BEFORE INSERT ON entry BEGIN SELECT RAISE(FAIL, 'the disk is full'); END`)
	return func() { run(t, db, `DROP TRIGGER refuse`) }
}

func spills(t testing.TB, cfg store.Config) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cfg.Dir, "spill-*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// recovered waits until the journal writes again.
func recovered(t testing.TB, j *store.Journal) {
	t.Helper()
	for range 200 {
		if !j.Degraded() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the journal is still degraded after four seconds")
}

func TestSpill(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	var open []*toolcrib.Record
	for i := range 5 {
		open = append(open, newRecord(fmt.Sprint("c", i)))
		begin(t, j, open[i])
	}
	if j.Degraded() {
		t.Error("degraded from the start")
	}
	restore := refusing(t, cfg)
	for _, r := range open {
		end(t, j, r) // the effect has happened: End keeps it somehow
	}
	if !j.Degraded() {
		t.Error("not degraded, and nothing can be written")
	}
	if err := j.End(t.Context(), open[0]); !errors.Is(err, store.ErrNotBegun) {
		t.Errorf("second end of a spilled call: %v", err)
	}
	for range 3 {
		if _, err := j.Begin(t.Context(), newRecord("new")); !errors.Is(err, store.ErrDegraded) {
			t.Errorf("Begin: %v", err)
		}
	}
	files := spills(t, cfg)
	if len(files) != 1 {
		t.Fatalf("spill files: %v", files)
	}
	if n := strings.Count(string(readFile(t, files[0])), "\n"); n != 5 {
		t.Errorf("%d lines are spilled", n)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the spill file is open to others: %v %v", info.Mode(), err)
	}
	restore()
	recovered(t, j)
	if files := spills(t, cfg); len(files) > 0 {
		t.Errorf("spill files are left: %v", files)
	}
	for _, want := range open {
		got, err := j.Get(t.Context(), want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*want, got); diff != "" {
			t.Errorf("a spilled record (-want +got):\n%s", diff)
		}
	}
	calls(t, j, "later", 5)
	shut(t, j)
	if r := mustBeSound(t, cfg); r.Open != 0 || r.Calls != 10 {
		t.Errorf("%+v", r)
	}
}

// TestSpillAtNextOpening: what was spilled is appended by whoever opens the
// journal next, before it looks for interrupted calls.
func TestSpillAtNextOpening(t *testing.T) {
	cfg := fresh(t)
	j, err := sqlite.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	done, lost := newRecord("done"), newRecord("lost")
	begin(t, j, done)
	begin(t, j, lost)
	restore := refusing(t, cfg)
	end(t, j, done)
	if err := j.Close(context.Background()); err == nil {
		t.Error("Close does not tell that ends could not be written")
	}
	files := spills(t, cfg)
	if len(files) != 1 {
		t.Fatalf("spill files: %v", files)
	}
	restore()
	f, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// A forged end, one without a begin, garbage, and half a line.
	_, err = f.WriteString(`{"at_ns":1,"call":"nobody","outcome":"done","body":{}}` + "\n" + "garbage\n" + `{"at_ns":1,"call":"lost","outc`)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	kept := readFile(t, files[0])
	for round := range 2 {
		j = open(t, cfg)
		for id, want := range map[string]toolcrib.Outcome{"done": toolcrib.Done, "lost": toolcrib.Interrupted} {
			if got, err := j.Get(t.Context(), id); err != nil || got.Outcome != want {
				t.Errorf("%s: want %s, got %s, %v", id, want, got.Outcome, err)
			}
		}
		shut(t, j)
		if files := spills(t, cfg); len(files) > 0 {
			t.Errorf("spill files are left: %v", files)
		}
		if r := mustBeSound(t, cfg); r.Entries != 5 {
			t.Errorf("round %d: %d entries", round, r.Entries)
		}
		// As if the process had died between the commit and the removal.
		writeFile(t, files[0], kept)
	}
}

// TestSpillUnreadable: ends that cannot be read are told, and not taken for none.
func TestSpillUnreadable(t *testing.T) {
	cfg := fresh(t)
	j, err := sqlite.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecord("done")
	begin(t, j, r)
	restore := refusing(t, cfg)
	end(t, j, r)
	if err := j.Close(context.Background()); err == nil {
		t.Error("Close does not tell that ends could not be written")
	}
	restore()
	files := spills(t, cfg)
	if len(files) != 1 {
		t.Fatalf("spill files: %v", files)
	}
	// A directory can be opened, and no byte of it read.
	if err := errors.Join(os.Rename(files[0], files[0]+".kept"), os.Mkdir(files[0], 0o700)); err != nil {
		t.Fatal(err)
	}
	if j, err := sqlite.Open(t.Context(), cfg); err == nil {
		shut(t, j)
		t.Fatal("the journal was opened without the ends that it could not read")
	}
	if err := errors.Join(os.Remove(files[0]), os.Rename(files[0]+".kept", files[0])); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t, cfg).Get(t.Context(), "done"); err != nil || got.Outcome != toolcrib.Done {
		t.Errorf("%s, %v", got.Outcome, err)
	}
}

// TestLockedOut: another process holds the database longer than we wait.
func TestLockedOut(t *testing.T) {
	cfg := fresh(t)
	cfg.Wait = 50 * time.Millisecond
	j := open(t, cfg)
	r := newRecord("one")
	begin(t, j, r)
	tx, err := attacker(t, cfg).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Begin(t.Context(), newRecord("two")); !errors.Is(err, store.ErrDegraded) {
		t.Errorf("Begin: %v", err)
	}
	end(t, j, r)
	if !j.Degraded() {
		t.Error("not degraded")
	}
	if _, err := tx.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	recovered(t, j)
	begin(t, j, newRecord("two"))
	if got, err := j.Get(t.Context(), "one"); err != nil || got.Outcome != toolcrib.Done {
		t.Errorf("the spilled end: %+v %v", got, err)
	}
	mustBeSound(t, cfg)
}

// TestSpillFails: when not even the file can be written, End says so.
func TestSpillFails(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	r := newRecord("one")
	begin(t, j, r)
	restore := refusing(t, cfg)
	locks, err := filepath.Glob(filepath.Join(cfg.Dir, "run-*.lock"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("%v %v", locks, err)
	}
	spill := strings.Replace(strings.TrimSuffix(locks[0], ".lock")+".jsonl", "run-", "spill-", 1)
	if err := os.Mkdir(spill, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := j.End(t.Context(), ended(r)); err == nil || !errors.Is(err, store.ErrAltered) {
		t.Errorf("End: %v", err)
	}
	remove(t, spill)
	restore()
	recovered(t, j)
	if err := j.End(t.Context(), r); err != nil {
		t.Errorf("a second attempt: %v", err)
	}
	mustBeSound(t, cfg)
}
