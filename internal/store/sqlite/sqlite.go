// Package sqlite opens a journal in an SQLite database: the driver, its
// settings and the files. It may be imported by the wiring; all SQL but the
// schema is in internal/store. Its one invariant: nothing it makes can be read
// by other users, from the first byte on.
package sqlite

import (
	"context"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"modernc.org/sqlite"

	"github.com/toolcrib/toolcrib/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// fileName is the database in the journal's directory.
const fileName = "journal.db"

// Open opens the journal in cfg.Dir for writing, and makes it if there is none.
func Open(ctx context.Context, cfg store.Config) (*store.Journal, error) {
	return store.Open(ctx, cfg, func(cfg store.Config) (store.Driver, error) {
		path := filepath.Join(cfg.Dir, fileName)
		// SQLite gives its other files the mode of this one.
		if err := store.PrivateFile(path); err != nil {
			return store.Driver{}, err
		}
		return connectors(path, cfg, "rw")
	})
}

// OpenReader opens the journal in cfg.Dir for reading. It makes and changes
// nothing. Without a journal the error is store.ErrNoJournal.
func OpenReader(ctx context.Context, cfg store.Config) (*store.Reader, error) {
	return store.OpenReader(ctx, cfg, reading)
}

// Verify checks the journal in cfg.Dir without making or changing anything.
func Verify(ctx context.Context, cfg store.Config) (store.Report, error) {
	return store.Verify(ctx, cfg, reading)
}

func reading(cfg store.Config) (store.Driver, error) {
	path := filepath.Join(cfg.Dir, fileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return store.Driver{}, fmt.Errorf("%w: %s", store.ErrNoJournal, path)
	} else if err != nil {
		return store.Driver{}, fmt.Errorf("looking for the journal: %w", err)
	}
	return connectors(path, cfg, "ro")
}

func connectors(path string, cfg store.Config, mode string) (store.Driver, error) {
	schema, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return store.Driver{}, fmt.Errorf("finding the schema: %w", err)
	}
	d := store.Driver{
		Begin:      "BEGIN IMMEDIATE",
		Version:    "PRAGMA data_version",
		Size:       "SELECT (p.page_count - f.freelist_count) * s.page_size FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s",
		Shrink:     "PRAGMA incremental_vacuum(2000)",
		Fold:       "PRAGMA wal_checkpoint(PASSIVE)",
		Objects:    "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name",
		Layout:     "PRAGMA schema_version",
		Check:      "PRAGMA integrity_check(20)",
		Flush:      func() error { return flush(path + "-wal") },
		Migrations: schema,
	}
	if d.Blank, err = sqlite.NewConnector(":memory:"); err != nil {
		return store.Driver{}, fmt.Errorf("connecting to memory: %w", err)
	}
	if mode == "rw" {
		w, err := sqlite.NewConnector(dsn(path, "rw", writerSettings(cfg)))
		if err != nil {
			return store.Driver{}, fmt.Errorf("connecting to %s: %w", path, err)
		}
		d.Writer = persistent{w}
	}
	d.Reader, err = sqlite.NewConnector(dsn(path, readMode(path, mode), settings(cfg)))
	if err != nil {
		return store.Driver{}, fmt.Errorf("connecting to %s: %w", path, err)
	}
	return d, nil
}

// settings are what every connection gets. The file may have been in foreign
// hands: its schema must not be able to run anything.
func settings(cfg store.Config) url.Values {
	return url.Values{
		"_busy_timeout": {strconv.FormatInt(cfg.Wait.Milliseconds(), 10)},
		"_pragma":       {"trusted_schema(0)"},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
	}
}

// writerSettings are measured; see BenchmarkJournalOne and BenchmarkJournal16.
// The write-ahead log is folded back every 4000 pages (16 MB), which is where
// making it longer stops paying. That its size has a limit also makes the last
// connection empty it: what lies in the database file alone is then all there is.
func writerSettings(cfg store.Config) url.Values {
	v := settings(cfg)
	v.Set("_auto_vacuum", "incremental")
	v["_pragma"] = append(v["_pragma"], "wal_autocheckpoint(4000)", "journal_size_limit(33554432)")
	v.Set("_journal_mode", "WAL")
	v.Set("_synchronous", "NORMAL")
	if cfg.Sync {
		v.Set("_synchronous", "FULL")
	}
	return v
}

// readMode adds what keeps a read-only connection from making files. Our
// writers leave the -wal file in place, so where there is none there is no
// writer either, and the database can be read as it lies.
func readMode(path, mode string) string {
	if _, err := os.Stat(path + "-wal"); mode == "ro" && errors.Is(err, fs.ErrNotExist) {
		return "ro&immutable=1"
	}
	return "ro"
}

// dsn writes the name of a connection.
func dsn(path, mode string, v url.Values) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") { // C:/… on Windows
		slashed = "/" + slashed
	}
	u := url.URL{Scheme: "file", Path: slashed}
	return u.String() + "?mode=" + mode + "&" + v.Encode()
}

// flush waits until the disk has the write-ahead log. SQLite holds no locks on
// this file, so that opening and closing it here takes none away.
func flush(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("flushing the journal: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("flushing the journal: %w", err)
	}
	return nil
}

// persistent makes connections leave the write-ahead log in place when they
// close, so that readers need not make it.
type persistent struct{ driver.Connector }

func (p persistent) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	fc, ok := c.(sqlite.FileControl)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the connection %T has no file control", c), c.Close())
	}
	if _, err := fc.FileControlPersistWAL("main", 1); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}
