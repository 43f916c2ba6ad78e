package store

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// writer is the one connection that appends, and what it knows of the chain.
// Everything in it is guarded by the journal's lock.
type writer struct {
	conn  driver.Conn
	drv   Driver
	stmts []stmt

	start, commit, rollback stmt
	insert, version, layout stmt
	last                    stmt
	hashAt, first           stmt
	openCall, openOf, marks stmt

	seal  *sealer
	want  []object // what is in a database that nobody altered
	shape int64    // the version of the schema that was found to be so
	head  head
	fresh bool  // head is what this connection last saw
	seen  int64 // the version of the database it saw it in
	// cut is a point of the chain that this writer knows of and that was gone
	// when it looked again: somebody cut the end off.
	cut *head
	// foreign is what others wrote and nobody has checked yet; see disownForeign.
	foreign span
}

const insertEntry = `INSERT INTO entry (` + columns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT (call, subject, kind, ref) WHERE kind < 4 DO NOTHING`

// closeOf selects what closes the call b, if it is closed. That kind < 4 goes
// without saying, but not for the database: it is what lets it use the index.
const closeOf = `SELECT 1 FROM entry c WHERE c.call = b.call AND c.subject = b.subject AND c.kind IN (2, 3) AND c.ref = b.seq AND c.kind < 4`

// connect opens the connection; prepare makes its statements, which needs the
// tables.
func connect(ctx context.Context, drv Driver) (*writer, error) {
	conn, err := drv.Writer.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return &writer{conn: conn, drv: drv}, nil
}

func (w *writer) prepare(ctx context.Context) error {
	for _, p := range []struct {
		to    *stmt
		query string
	}{
		{&w.start, w.drv.Begin},
		{&w.commit, "COMMIT"},
		{&w.rollback, "ROLLBACK"},
		{&w.insert, insertEntry},
		{&w.version, w.drv.Version},
		{&w.layout, w.drv.Layout},
		{&w.last, "SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1"},
		{&w.hashAt, "SELECT seq, hash FROM entry WHERE seq = $1"},
		{&w.first, "SELECT seq FROM entry ORDER BY seq LIMIT 1"},
		{&w.openCall, `SELECT b.seq FROM entry b WHERE b.call = $1 AND b.subject = $2 AND b.kind = 1 AND b.kind < 4
			AND NOT EXISTS (` + closeOf + `)`},
		{&w.openOf, `SELECT ` + columns + ` FROM entry b WHERE b.seq >= $1 AND b.run = $2 AND b.kind = 1
			AND NOT EXISTS (` + closeOf + `) ORDER BY b.seq LIMIT $3`},
		{&w.marks, `SELECT ` + columns + ` FROM entry WHERE kind >= 4 ORDER BY seq DESC`},
	} {
		if p.query == "" {
			continue
		}
		var err error
		if *p.to, err = w.stmt(ctx, p.query); err != nil {
			return err
		}
	}
	return nil
}

// stmt prepares a statement that lives as long as the connection.
func (w *writer) stmt(ctx context.Context, query string) (stmt, error) {
	s, err := prepare(ctx, w.conn, query)
	if err == nil {
		w.stmts = append(w.stmts, s)
	}
	return s, err
}

// runOnce runs a statement that is not worth keeping.
func (w *writer) runOnce(query string, fn func([]driver.Value) error, args ...driver.Value) error {
	s, err := prepare(context.Background(), w.conn, query)
	if err != nil {
		return err
	}
	if fn == nil {
		fn = func([]driver.Value) error { return nil }
	}
	err = s.each(fn, args...)
	return errors.Join(err, s.Close())
}

// within runs fn in a transaction that keeps every other writer out, with
// w.head being the head.
func (w *writer) within(fn func() error) error {
	if _, err := w.start.run(); err != nil {
		return fmt.Errorf("beginning to write: %w", err)
	}
	err := w.refresh()
	committed := w.head
	if err == nil {
		err = fn()
	}
	if err == nil {
		if _, err = w.commit.run(); err == nil {
			return nil
		}
		err = fmt.Errorf("committing: %w", err)
	}
	w.head, w.fresh = committed, false
	// After a full disk the database has already rolled back, and says so.
	_, _ = w.rollback.run()
	return err
}

// refresh reads the head again if another connection wrote since.
func (w *writer) refresh() error {
	var version int64
	if w.version.Stmt != nil {
		var err error
		if version, err = w.version.number(); err != nil {
			return fmt.Errorf("looking for other writers: %w", err)
		}
		if w.fresh && version == w.seen {
			return nil
		}
	}
	if err := w.checkLayout(); err != nil {
		return err
	}
	known := w.head
	now, err := w.pointOf(w.last)
	if err != nil {
		return fmt.Errorf("reading the head: %w", err)
	}
	checked := known.seq
	if known.seq > 0 {
		if ok, err := w.holds(known); err != nil {
			return err
		} else if !ok {
			checked = 0 // what stands before it may be another's, too
			if w.cut == nil {
				w.cut = &known
			}
		}
	}
	if now.seq > checked {
		w.foreign = w.foreign.with(span{checked + 1, now.seq})
	}
	w.head, w.seen, w.fresh = now, version, true
	return nil
}

// pointOf reads one point of the chain; its seq is 0 if there is none.
func (w *writer) pointOf(s stmt, args ...driver.Value) (h head, err error) {
	err = s.each(func(v []driver.Value) error {
		seq, ok1 := v[0].(int64)
		hash, ok2 := v[1].([]byte)
		if !ok1 || !ok2 || seq < 1 || len(hash) != len(h.hash) {
			return fmt.Errorf("entry %v has no hash; verify the journal", v[0])
		}
		h.seq = uint64(seq)
		copy(h.hash[:], hash)
		return nil
	}, args...)
	return h, err
}

// holds reports whether the chain still goes through a point, or has been
// pruned beyond it. Whether that was done properly is for Verify to say.
func (w *writer) holds(p head) (bool, error) {
	got, err := w.pointOf(w.hashAt, int64(p.seq))
	if err != nil {
		return false, fmt.Errorf("reading entry %d: %w", p.seq, err)
	}
	if got.seq != 0 || p.seq == 0 {
		return got == p || p.seq == 0, nil
	}
	first, err := w.first.number()
	if err != nil {
		return false, fmt.Errorf("reading the first entry: %w", err)
	}
	return uint64(first) > p.seq, nil
}

// lastMark is the body of the newest key, prune or disown entry that the
// journal wrote; if it wrote none, of the newest there is, and what is wrong
// with that.
func (w *writer) lastMark() (body []byte, wrong Fault, err error) {
	var e entry
	err = w.marks.each(func(v []driver.Value) error {
		if err := e.scan(v); err != nil {
			return nil //nolint:nilerr // whoever wrote that, it was not the journal
		}
		fault := w.seal.fault(&e)
		if body == nil || fault == "" {
			body, wrong = bytes.Clone(e.body), fault
		}
		if fault == "" {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, "", fmt.Errorf("looking for the journal's key: %w", err)
	}
	return body, wrong, nil
}

// maxSeq is more than any journal writes. A number beyond it is forged, and
// must not make the next one overflow.
const maxSeq = 1 << 62

// append inserts an op behind the head. It reports false, and nothing is
// written, if this call has an entry of this kind already.
func (w *writer) append(o *op) (bool, error) {
	if w.head.seq >= maxSeq {
		return false, fmt.Errorf("%w: there are no numbers behind %d; verify the journal", ErrForged, w.head.seq)
	}
	o.place(w.head, w.seal)
	res, err := w.insert.run(o.args[:]...)
	if err != nil {
		return false, fmt.Errorf("writing entry %d: %w", o.seq, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("writing entry %d: %w", o.seq, err)
	}
	if n == 0 {
		return false, nil
	}
	w.head = head{o.seq, o.hash}
	return true, nil
}

func (w *writer) close() error {
	var errs []error
	for _, s := range w.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}
