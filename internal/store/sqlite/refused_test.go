package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/store"
)

// refusing is a database that takes no entries while it is switched on; all else
// goes well in it, also the transaction that they were part of.
type refusing struct {
	driver.Connector
	on *atomic.Bool
}

func (r refusing) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := r.Connector.Connect(ctx)
	return refusingConn{c, r.on}, err
}

type refusingConn struct {
	driver.Conn
	on *atomic.Bool
}

func (c refusingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil || !strings.HasPrefix(query, "INSERT INTO entry") {
		return s, err
	}
	return refusingStmt{s, s.(driver.StmtExecContext), s.(driver.StmtQueryContext), c.on}, nil
}

func (c refusingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

type refusingStmt struct {
	driver.Stmt
	exec driver.StmtExecContext
	driver.StmtQueryContext
	on *atomic.Bool
}

var errNotTaken = errors.New("database or disk is full")

func (s refusingStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if s.on.Load() {
		return nil, errNotTaken
	}
	return s.exec.ExecContext(ctx, args)
}

// TestRefusedEntries: an insert that fails in a transaction that goes well is no
// record. A call does not begin on it, and an end is kept elsewhere until the
// database takes it.
func TestRefusedEntries(t *testing.T) {
	var full atomic.Bool
	cfg := store.Config{Dir: filepath.Join(t.TempDir(), "journal")}
	openWith := func() *store.Journal {
		j, err := store.Open(t.Context(), cfg, func(cfg store.Config) (store.Driver, error) {
			path := filepath.Join(cfg.Dir, fileName)
			if err := store.PrivateFile(path); err != nil {
				return store.Driver{}, err
			}
			d, err := connectors(path, cfg, "rw")
			d.Writer = refusing{d.Writer, &full}
			return d, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	j := openWith()
	begun := &toolcrib.Record{ID: "before", Tool: "x"}
	if _, err := j.Begin(t.Context(), begun); err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	var all sync.WaitGroup
	for i := range 20 { // some of them share a transaction
		all.Go(func() {
			if _, err := j.Begin(t.Context(), &toolcrib.Record{ID: fmt.Sprint("refused", i)}); !errors.Is(err, store.ErrDegraded) || !errors.Is(err, errNotTaken) {
				t.Errorf("call %d began: %v", i, err)
			}
		})
	}
	all.Wait()
	begun.Outcome = toolcrib.Done
	if err := j.End(t.Context(), begun); err != nil {
		t.Errorf("an end of what was done: %v", err)
	}
	if !j.Degraded() {
		t.Error("nobody is told that nothing is recorded")
	}
	full.Store(false)
	if err := j.Close(t.Context()); err != nil {
		t.Error(err)
	}
	j = openWith()
	defer j.Close(context.WithoutCancel(t.Context()))
	records, err := j.List(t.Context(), store.Filter{})
	if err != nil || len(records) != 1 || records[0].ID != "before" || records[0].Outcome != toolcrib.Done {
		t.Errorf("the journal has %+v, %v", records, err)
	}
}
