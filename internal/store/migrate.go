package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// migration is one step of the schema. Its text is never changed once it was
// released; sum makes sure of that.
type migration struct {
	version int64
	name    string
	text    string
	sum     string
}

const makeVersionTable = `CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, name TEXT NOT NULL, sum TEXT NOT NULL)`

const listVersions = `SELECT version, name, sum FROM schema_version ORDER BY version`

func migrations(from fs.FS) ([]migration, error) {
	names, err := fs.Glob(from, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("listing migrations: %w", err)
	}
	slices.Sort(names)
	var list []migration
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version != int64(len(list)+1) {
			return nil, fmt.Errorf("migration %s: want number %04d", name, len(list)+1)
		}
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", name, err)
		}
		sum := sha256.Sum256(text)
		list = append(list, migration{version, strings.TrimSuffix(name, ".sql"), string(text), hex.EncodeToString(sum[:])})
	}
	return list, nil
}

// migrate brings the database to the newest schema, in one transaction.
func (w *writer) migrate(ctx context.Context) error {
	known, err := migrations(w.drv.Migrations)
	if err != nil {
		return err
	}
	x, ok := w.conn.(driver.ExecerContext)
	if !ok {
		return fmt.Errorf("the driver %T cannot run scripts", w.conn)
	}
	exec := func(script string) error {
		_, err := x.ExecContext(ctx, script, nil)
		return err
	}
	if w.want, err = wantedObjects(ctx, w.drv); err != nil {
		return err
	}
	if err := exec(w.drv.Begin); err != nil {
		return fmt.Errorf("preparing the journal: %w", err)
	}
	err = func() error {
		if err := exec(makeVersionTable); err != nil {
			return err
		}
		have, err := rowsOf(func(fn func([]driver.Value) error) error { return w.runOnce(listVersions, fn) }, versionRow)
		if err != nil {
			return err
		}
		missing, err := compare(have, known)
		if err != nil {
			return err
		}
		for _, m := range missing {
			if err := exec(m.text); err != nil {
				return fmt.Errorf("migration %s: %w", m.name, err)
			}
			if err := w.runOnce("INSERT INTO schema_version VALUES ($1, $2, $3)", nil, m.version, m.name, m.sum); err != nil {
				return fmt.Errorf("migration %s: %w", m.name, err)
			}
		}
		if err := w.unaltered(); err != nil {
			return err
		}
		return exec("COMMIT")
	}()
	if err != nil {
		// What cannot be rolled back was never begun, or is already.
		_ = exec("ROLLBACK")
		return fmt.Errorf("preparing the journal: %w", err)
	}
	return nil
}

func versions(ctx context.Context, q querier) ([]migration, error) {
	return rowsOf(func(fn func([]driver.Value) error) error { return eachRow(ctx, q, listVersions, nil, fn) }, versionRow)
}

func versionRow(v []driver.Value) migration {
	return migration{version: asInt(v[0]), name: fmt.Sprint(v[1]), sum: fmt.Sprint(v[2])}
}

func asInt(v driver.Value) int64 {
	n, ok := v.(int64)
	if !ok {
		return -1
	}
	return n
}

// compare gives the migrations that are still to be done. A database that has
// others than the known ones was written by another program, most likely a
// newer version of this one.
func compare(have, known []migration) ([]migration, error) {
	for i, h := range have {
		if i >= len(known) {
			return nil, fmt.Errorf("%w: it has schema %d %s, and this program knows %d", ErrSchema, h.version, h.name, len(known))
		}
		if k := known[i]; h.version != k.version || h.name != k.name || h.sum != k.sum {
			return nil, fmt.Errorf("%w: its schema %d is %s (%.8s), and this program knows %s (%.8s)", ErrSchema, h.version, h.name, h.sum, k.name, k.sum)
		}
	}
	return known[len(have):], nil
}

// checkSchema makes sure, without writing, that the database can be read. A blank
// one is no journal yet: another process is making it.
func checkSchema(ctx context.Context, db *sql.DB, drv Driver) error {
	known, err := migrations(drv.Migrations)
	if err != nil {
		return err
	}
	have, err := versions(ctx, db)
	if err != nil {
		if there, e := objects(ctx, db, drv); e == nil && len(there) == 0 {
			return fmt.Errorf("%w: the database is still blank", ErrNoJournal)
		}
		// It may have been filled between the two looks.
		if have, err = versions(ctx, db); err != nil {
			return fmt.Errorf("%w: reading its schema: %w", ErrSchema, err)
		}
	}
	missing, err := compare(have, known)
	if err == nil && len(missing) > 0 {
		err = errOlder()
	}
	return err
}
