package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// TestSuite holds the journal to the contract of its port.
func TestSuite(t *testing.T) {
	cribtest.Journal(t, func(t testing.TB) toolcrib.Journal { return open(t, fresh(t)) })
}

func TestRoundTrip(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	r := newRecord("one")
	begin(t, j, r)
	if r.Seq == 0 {
		t.Error("Begin gave no number")
	}
	got, err := j.Get(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*r, got); diff != "" {
		t.Errorf("open record (-want +got):\n%s", diff)
	}
	end(t, j, r)
	for i, v := range reflect.ValueOf(*r).Fields() {
		if v.IsZero() {
			t.Errorf("the sample record has no %s: whether it is kept would not be seen", i.Name)
		}
	}
	for name, get := range map[string]func() (toolcrib.Record, error){
		"Get": func() (toolcrib.Record, error) { return j.Get(t.Context(), "one") },
		"At":  func() (toolcrib.Record, error) { return j.At(t.Context(), r.Seq) },
		"List": func() (toolcrib.Record, error) {
			list, err := j.List(t.Context(), store.Filter{})
			if err != nil || len(list) != 1 {
				return toolcrib.Record{}, fmt.Errorf("%d records, %w", len(list), err)
			}
			return list[0], nil
		},
	} {
		got, err := get()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(*r, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, err := range []error{second(j.Get(t.Context(), "two")), second(j.At(t.Context(), r.Seq+1)), second(j.At(t.Context(), 1))} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("want ErrNotFound, got %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestReplay(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	r := newRecord("one")
	begin(t, j, r)
	again := newRecord("one")
	again.Tool, again.InputHash = "other", "xyz"
	old, err := j.Begin(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, old); diff != "" {
		t.Errorf("replay of an open call (-want +got):\n%s", diff)
	}
	end(t, j, r)
	before := mustBeSound(t, cfg).Entries
	if old, err = j.Begin(t.Context(), newRecord("one")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, old); diff != "" {
		t.Errorf("replay of a closed call (-want +got):\n%s", diff)
	}
	if after := mustBeSound(t, cfg).Entries; after != before {
		t.Errorf("a replay wrote %d entries", after-before)
	}
	other := newRecord("one")
	other.Caller.Subject = "bob"
	begin(t, j, other) // another subject has call IDs of its own
}

// TestOneOfMany begins the same call from many goroutines at once.
func TestOneOfMany(t *testing.T) {
	j := open(t, fresh(t))
	for round := range 20 {
		var all sync.WaitGroup
		began := make(chan bool, 16)
		for range 16 {
			all.Go(func() {
				old, err := j.Begin(t.Context(), newRecord(fmt.Sprint(round)))
				if err != nil {
					t.Error(err)
				}
				began <- old == nil
			})
		}
		all.Wait()
		close(began)
		n := 0
		for ok := range began {
			if ok {
				n++
			}
		}
		if n != 1 {
			t.Fatalf("%d of 16 began the same call", n)
		}
	}
}

func TestEndNeedsBegin(t *testing.T) {
	j := open(t, fresh(t))
	r := newRecord("one")
	if err := j.End(t.Context(), ended(r)); !errors.Is(err, store.ErrNotBegun) {
		t.Errorf("end without begin: %v", err)
	}
	r = newRecord("two")
	begin(t, j, r)
	end(t, j, r)
	if err := j.End(t.Context(), r); !errors.Is(err, store.ErrNotBegun) {
		t.Errorf("second end: %v", err)
	}
	r = newRecord("three")
	begin(t, j, r)
	if err := j.End(t.Context(), r); err == nil {
		t.Error("an end without an outcome was taken")
	}
}

func TestContext(t *testing.T) {
	cfg := fresh(t)
	cfg.Wait = 2 * time.Second
	j := open(t, cfg)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Begin(gone, newRecord("gone")); !errors.Is(err, context.Canceled) {
		t.Errorf("Begin with an ended context: %v", err)
	}
	r := newRecord("kept")
	begin(t, j, r)
	if err := j.End(gone, ended(r)); err != nil {
		t.Errorf("End must not look at the context: %v", err)
	}

	// While another process writes, the first caller is at the database and
	// the second waits in the queue.
	db := attacker(t, cfg)
	tx, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	first := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		first <- second(j.Begin(ctx, newRecord("first")))
	}()
	time.Sleep(50 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := j.Begin(ctx, newRecord("second")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Begin in the queue: %v", err)
	}
	if _, err := tx.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Errorf("a Begin that is being written must not give up: %v", err)
	}
	for id, want := range map[string]error{"gone": store.ErrNotFound, "first": nil, "second": store.ErrNotFound} {
		if _, err := j.Get(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("%s: want %v, got %v", id, want, err)
		}
	}
}

func TestClose(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	r := newRecord("one")
	begin(t, j, r)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			r := newRecord(fmt.Sprintf("busy%d", i))
			_, err := j.Begin(t.Context(), r)
			if err == nil {
				err = j.End(t.Context(), ended(r))
			}
			if err != nil && !errors.Is(err, store.ErrClosed) {
				t.Error(err)
			}
		})
	}
	shut(t, j)
	all.Wait()
	shut(t, j) // a second time does nothing
	if _, err := j.Begin(t.Context(), newRecord("late")); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Begin after Close: %v", err)
	}
	if err := j.End(t.Context(), ended(r)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("End after Close: %v", err)
	}
	report := mustBeSound(t, cfg)
	if report.After != 0 || report.Checkpoint.Seq != report.Head {
		t.Errorf("Close left %d entries without a checkpoint", report.After)
	}
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are inherited from the profile on Windows")
	}
	cfg := fresh(t)
	cfg.Keys = cfg.Dir + "-elsewhere"
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	j := open(t, cfg)
	calls(t, j, "c", 10)
	seen := 0
	for _, dir := range []string{cfg.Dir, cfg.Keys} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			seen++
			want := os.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("%s has mode %o", path, got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 10 {
		t.Errorf("only %d files were looked at", seen)
	}
}

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	for name, cfg := range map[string]store.Config{
		"no directory": {},
		"key inside":   {Dir: dir, Keys: filepath.Join(dir, "keys")},
		"key the same": {Dir: dir, Keys: dir},
	} {
		if j, err := sqlite.Open(t.Context(), cfg); err == nil {
			t.Errorf("%s: it was opened", name)
			shut(t, j)
		}
	}
}
