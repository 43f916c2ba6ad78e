package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/store"
)

// TestOddPaths opens journals in directories whose names mean something in a
// file URI.
func TestOddPaths(t *testing.T) {
	names := []string{"a b", "100%", "a#b", "a&mode=memory", "ä", "a%3Fb"}
	if runtime.GOOS != "windows" {
		names = append(names, "a?mode=memory", `a\b`, `a"b`)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			cfg := store.Config{Dir: filepath.Join(t.TempDir(), name)}
			j, err := Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := j.Begin(t.Context(), &toolcrib.Record{ID: "one"}); err != nil {
				t.Error(err)
			}
			if err := j.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if info, err := os.Stat(filepath.Join(cfg.Dir, fileName)); err != nil || info.Size() == 0 {
				t.Errorf("the database is elsewhere: %v", err)
			}
			r, err := OpenReader(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Get(t.Context(), "one"); err != nil {
				t.Error(err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSettings asks the connections what they are set to.
func TestSettings(t *testing.T) {
	for _, sync := range []bool{false, true} {
		cfg := store.Config{Dir: t.TempDir(), Sync: sync, Wait: 1234 * time.Millisecond}
		path := filepath.Join(cfg.Dir, fileName)
		d, err := connectors(path, cfg, "rw")
		if err != nil {
			t.Fatal(err)
		}
		level := "1"
		if sync {
			level = "2"
		}
		// The file is not there: the journal makes it first, with the right mode.
		if db := sql.OpenDB(d.Writer); db.Ping() == nil {
			t.Error("the connection made the database")
		}
		if err := store.PrivateFile(path); err != nil {
			t.Fatal(err)
		}
		check(t, sql.OpenDB(d.Writer), map[string]string{
			"journal_mode": "wal", "synchronous": level, "auto_vacuum": "2", "trusted_schema": "0", "busy_timeout": "1234",
			"wal_autocheckpoint": "4000",
		})
		check(t, sql.OpenDB(d.Reader), map[string]string{"journal_mode": "wal", "trusted_schema": "0", "busy_timeout": "1234"})
		if _, err := sql.OpenDB(d.Reader).Exec("CREATE TABLE x (y)"); err == nil || !strings.Contains(err.Error(), "readonly") {
			t.Errorf("the reader can write: %v", err)
		}
	}
}

func check(t *testing.T, db *sql.DB, want map[string]string) {
	t.Helper()
	for name, value := range want {
		var got string
		if err := db.QueryRow("PRAGMA " + name).Scan(&got); err != nil || got != value {
			t.Errorf("%s is %q, want %q (%v)", name, got, value, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestBlankIsNoJournalYet: a database that another process is still making has no
// tables. Whoever reads it then waits for the first call, as without a file.
func TestBlankIsNoJournalYet(t *testing.T) {
	cfg := store.Config{Dir: t.TempDir()}
	path := filepath.Join(cfg.Dir, fileName)
	blank := func(state string) {
		t.Helper()
		if r, err := OpenReader(t.Context(), cfg); !errors.Is(err, store.ErrNoJournal) {
			t.Errorf("%s: %v", state, err)
			if err == nil {
				t.Error(r.Close())
			}
		}
	}
	if err := store.PrivateFile(path); err != nil {
		t.Fatal(err)
	}
	blank("an empty file")
	d, err := connectors(path, cfg, "rw")
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(d.Writer)
	if err := db.Ping(); err != nil { // the file gets its header
		t.Fatal(err)
	}
	blank("a connection that has written nothing")
	if _, err := db.Exec("CREATE TABLE of_others (x)"); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReader(t.Context(), cfg); !errors.Is(err, store.ErrSchema) {
		t.Errorf("a database of others: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestUnreadable: what is no database is an error and not an empty journal.
func TestUnreadable(t *testing.T) {
	cfg := store.Config{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(cfg.Dir, fileName), []byte(strings.Repeat("no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := OpenReader(t.Context(), cfg); err == nil {
		t.Error("garbage was opened for reading", r.Close())
	}
	if j, err := Open(t.Context(), cfg); err == nil {
		t.Error("garbage was opened for writing", j.Close(context.Background()))
	}
	r, err := Verify(t.Context(), cfg)
	if err == nil && r.OK() || errors.Is(err, store.ErrNoJournal) {
		t.Errorf("garbage verifies: %+v, %v", r, err)
	}
}
