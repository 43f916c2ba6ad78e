package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Driver is a database as the journal needs it: how to connect, and the few
// statements that are not the same everywhere. All other SQL is in this
// package, with $1, $2 … for arguments.
type Driver struct {
	Writer driver.Connector // the one connection that appends
	Reader driver.Connector // connections that only read
	Blank  driver.Connector // an empty database that is gone when it is closed

	Begin   string // starts a transaction that keeps every other writer out
	Version string // a number that changes when another connection has written; empty: unknown
	Size    string // the bytes in use
	Shrink  string // gives some of the freed space back to the system; empty: nothing to do
	Fold    string // brings what was written into its final place; empty: nothing to do
	Objects string // rows of all that is in the database: kind, name, table, definition
	Layout  string // a number that changes when the schema does; empty: unknown
	Check   string // rows that say "ok" or what is damaged; empty: cannot be asked

	// Flush makes what was committed survive a power cut; nil: it does already.
	Flush func() error
	// Migrations holds 0001_name.sql and so on.
	Migrations fs.FS
}

// stmt is a prepared statement. The writer goes past database/sql, whose
// bookkeeping costs as much as a small insert.
type stmt struct {
	driver.Stmt
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
}

func prepare(ctx context.Context, c driver.Conn, query string) (stmt, error) {
	p, ok := c.(driver.ConnPrepareContext)
	if !ok {
		return stmt{}, fmt.Errorf("the driver %T cannot prepare statements with a context", c)
	}
	s, err := p.PrepareContext(ctx, query)
	if err != nil {
		return stmt{}, fmt.Errorf("preparing %q: %w", query, err)
	}
	exec, ok1 := s.(driver.StmtExecContext)
	rows, ok2 := s.(driver.StmtQueryContext)
	if !ok1 || !ok2 {
		return stmt{}, fmt.Errorf("the driver's statements (%T) take no context", s)
	}
	return stmt{Stmt: s, exec: exec, query: rows}, nil
}

// run executes a statement that gives no rows.
func (s stmt) run(args ...driver.NamedValue) (driver.Result, error) {
	return s.exec.ExecContext(context.Background(), args)
}

// each calls fn with every row. The values are only good until fn returns.
func (s stmt) each(fn func([]driver.Value) error, args ...driver.Value) (err error) {
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	rows, err := s.query.QueryContext(context.Background(), named)
	if err != nil {
		return err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	values := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(values)
		}
		if err != nil {
			return err
		}
	}
}

// errEnough ends each before the last row.
var errEnough = errors.New("enough")

// number reads the one number that a statement gives; 0 if it gives no row.
func (s stmt) number(args ...driver.Value) (n int64, err error) {
	err = s.each(func(v []driver.Value) error {
		switch x := v[0].(type) {
		case nil:
		case int64:
			n = x
		default:
			return fmt.Errorf("want a number, got %T", x)
		}
		return nil
	}, args...)
	return n, err
}
