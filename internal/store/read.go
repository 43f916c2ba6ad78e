package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Reader reads a journal. It never writes, and needs no private key. All its
// methods may be used by many goroutines at once.
type Reader struct {
	cfg Config
	drv Driver
	db  *sql.DB
}

// OpenReader opens a journal that is there. Drivers call it.
func OpenReader(ctx context.Context, cfg Config, makeDriver func(Config) (Driver, error)) (*Reader, error) {
	r, err := openReader(cfg, makeDriver)
	if err != nil {
		return nil, err
	}
	if err := checkSchema(ctx, r.db, r.drv); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func openReader(cfg Config, makeDriver func(Config) (Driver, error)) (*Reader, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	drv, err := makeDriver(cfg)
	if err != nil {
		return nil, err
	}
	return newReader(cfg, drv), nil
}

func newReader(cfg Config, drv Driver) *Reader {
	db := sql.OpenDB(drv.Reader)
	db.SetMaxOpenConns(4)
	return &Reader{cfg: cfg, drv: drv, db: db}
}

// Close gives the connections back.
func (r *Reader) Close() error { return r.db.Close() }

// Filter chooses records. Its zero value chooses all.
type Filter struct {
	Limit   int    // at most so many; 0: no bound
	Before  uint64 // only records with a smaller number; 0: no bound
	ID      string // the call ID
	Tool    string // as called, or in another form of that name; see [toolname.Shapes]
	Box     string // only closed calls have one
	Subject string
	Session string
	Outcome toolcrib.Outcome
	Open    bool      // only calls that have not ended
	Since   time.Time // started then or later
	Until   time.Time // started before

	Agent        string
	Organisation string
	Client       string // the program that called, or the start of its name

	from uint64 // what is smaller started before Since; see bounded
}

// within reports whether a begin is by the agent and of the organisation that
// are asked for. They have no columns: the body is read for them.
func (f *Filter) within(body []byte) (bool, error) {
	if !f.inBody() {
		return true, nil
	}
	var b struct {
		Agent  string `json:"agent"`
		Owner  string `json:"organisation"`
		Client string `json:"client"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return false, fmt.Errorf("reading an entry: %w; verify the journal", err)
	}
	return f.has(b.Agent, b.Owner, b.Client), nil
}

// has reports whether a call is by the agent, of the organisation and by the program
// that are asked for. A program says its version behind its name.
func (f *Filter) has(agent, organisation, client string) bool {
	return (f.Agent == "" || f.Agent == agent) && (f.Organisation == "" || f.Organisation == organisation) &&
		(f.Client == "" || strings.HasPrefix(client, f.Client))
}

// inBody reports whether the database alone cannot choose.
func (f *Filter) inBody() bool { return f.Agent != "" || f.Organisation != "" || f.Client != "" }

// where writes the filter for begins b, each joined with its close c.
func (f Filter) where() (string, []any) {
	var text strings.Builder
	var args []any
	add := func(condition string, arg any) {
		args = append(args, arg)
		fmt.Fprintf(&text, " AND %s $%d", condition, len(args))
	}
	// That of c nothing is known to be there keeps the database from looking at
	// closes first: the newest begins are to be looked at first.
	texts := []struct{ condition, value string }{
		{indexed + " AND b.call =", f.ID}, {"coalesce(c.box, '') =", f.Box}, {"b.subject =", f.Subject},
		{"b.session =", f.Session}, {"coalesce(c.outcome, '') =", string(f.Outcome)},
	}
	for _, t := range texts {
		if t.value != "" {
			add(t.condition, t.value)
		}
	}
	if called, box := toolname.Shapes(f.Tool); box != "" {
		// A call that runs, or that was refused before, is of no box yet.
		words := []any{f.Tool, called[0], called[1], called[len(called)-1], box}
		n := len(args)
		fmt.Fprintf(&text, " AND (b.tool = $%d OR b.tool IN ($%d, $%d, $%d) AND coalesce(c.box, $%d) = $%d)", n+1, n+2, n+3, n+4, n+5, n+5)
		args = append(args, words...)
	} else if f.Tool != "" {
		add("b.tool =", called[0])
	}
	if f.Before > 0 {
		add("b.seq <", int64(f.Before))
	}
	if f.from > 0 {
		add("b.seq >=", int64(f.from))
	}
	if !f.Since.IsZero() {
		add("b.at >=", f.Since.UnixNano())
	}
	if !f.Until.IsZero() {
		add("b.at <", f.Until.UnixNano())
	}
	if f.Open {
		text.WriteString(" AND c.seq IS NULL")
	}
	return text.String(), args
}

// indexed lets the database find the begins b by their call ID; see closeOf.
const indexed = `b.kind < 4`

// begins are all begins b, each with what closed it, c.
const begins = ` FROM entry b
	LEFT JOIN entry c ON c.call = b.call AND c.subject = b.subject AND c.kind IN (2, 3) AND c.ref = b.seq AND c.kind < 4
	WHERE b.kind = 1`

// closed selects what closed calls, and their begins.
func closed() string {
	return strings.Replace(joined(), begins, ` FROM entry c JOIN entry b ON b.seq = c.ref AND b.kind = 1 AND b.call = c.call AND b.subject = c.subject WHERE c.kind IN (2, 3)`, 1)
}

// joined selects begins and what closed them.
func joined() string {
	qualify := func(t string) string { return t + "." + strings.ReplaceAll(columns, ", ", ", "+t+".") }
	return `SELECT ` + qualify("b") + `, ` + qualify("c") + begins
}

// List gives records, newest first.
func (r *Reader) List(ctx context.Context, f Filter) (list []toolcrib.Record, err error) {
	err = r.Each(ctx, f, func(rec toolcrib.Record) error {
		list = append(list, rec)
		return nil
	})
	return list, err
}

// Each calls fn with records, newest first, as long as it returns no error. The records
// are its own to keep.
func (r *Reader) Each(ctx context.Context, f Filter, fn func(toolcrib.Record) error) error {
	f, err := r.bounded(ctx, f)
	if err != nil {
		return fmt.Errorf("listing records: %w", err)
	}
	where, args := f.where()
	query := joined() + where + ` ORDER BY b.seq DESC`
	if f.Limit > 0 && !f.inBody() {
		args = append(args, f.Limit)
		query += fmt.Sprintf(" LIMIT $%d", len(args))
	}
	n := 0
	err = r.each(ctx, query, args, func(v []driver.Value) error {
		rec, _, err := scanJoined(v, func(*entry) error { return nil })
		if err != nil || !f.has(rec.Caller.Agent, rec.Caller.Organisation, rec.Caller.Client) {
			return err
		}
		if err := fn(rec); err != nil {
			return err
		}
		if n++; f.Limit > 0 && n >= f.Limit {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return fmt.Errorf("listing records: %w", err)
	}
	return nil
}

// Get gives the record of a call ID; of several subjects that used it, the
// newest.
func (r *Reader) Get(ctx context.Context, id string) (toolcrib.Record, error) {
	list, err := r.List(ctx, Filter{ID: id, Limit: 1})
	return first(list, err, ErrNotFound)
}

// At gives the record with a number, which is that of its begin.
func (r *Reader) At(ctx context.Context, seq uint64) (toolcrib.Record, error) {
	list, err := r.List(ctx, Filter{Limit: 1, Before: seq + 1})
	if err == nil && len(list) > 0 && list[0].Seq != seq {
		list = nil
	}
	return first(list, err, ErrNotFound)
}

// first gives the one that a list was asked for, or the error.
func first[T any](list []T, err, none error) (one T, _ error) {
	if err == nil && len(list) == 0 {
		err = none
	}
	if err != nil {
		return one, err
	}
	return list[0], nil
}

// find gives the record of a subject's call and the run that began it, if
// both its entries pass check.
func (r *Reader) find(ctx context.Context, k callKey, check func(*entry) error) (rec toolcrib.Record, run string, err error) {
	found := false
	err = r.each(ctx, joined()+` AND `+indexed+` AND b.call = $1 AND b.subject = $2`, []any{k.call, k.subject}, func(v []driver.Value) error {
		found = true
		rec, run, err = scanJoined(v, check)
		return err
	})
	if err == nil && !found {
		err = ErrNotFound
	}
	return rec, run, err
}

// scanJoined reads a row of joined.
func scanJoined(v []driver.Value, check func(*entry) error) (rec toolcrib.Record, run string, err error) {
	var begin, end entry
	if err := begin.scan(v[:columnCount]); err != nil {
		return rec, "", err
	}
	if err := check(&begin); err != nil {
		return rec, "", err
	}
	if v[columnCount] == nil {
		rec, err = record(&begin, nil)
		return rec, begin.run, err
	}
	if err := end.scan(v[columnCount:]); err != nil {
		return rec, "", err
	}
	if err := check(&end); err != nil {
		return rec, "", err
	}
	rec, err = record(&begin, &end)
	return rec, begin.run, err
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (r *Reader) each(ctx context.Context, query string, args []any, fn func([]driver.Value) error) error {
	return eachRow(ctx, r.db, query, args, fn)
}

// rowsOf reads all rows that each gives.
func rowsOf[T any](each func(func([]driver.Value) error) error, read func([]driver.Value) T) (list []T, err error) {
	err = each(func(row []driver.Value) error {
		list = append(list, read(row))
		return nil
	})
	return list, err
}

// cell takes a value as the driver gives it, so that one of the wrong type is
// seen and not converted.
type cell struct{ to *driver.Value }

func (c cell) Scan(v any) error {
	*c.to = v
	return nil
}

// eachRow calls fn with every row. The values are only good until fn returns.
func eachRow(ctx context.Context, q querier, query string, args []any, fn func([]driver.Value) error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(names))
	into := make([]any, len(names))
	for i := range values {
		into[i] = cell{&values[i]}
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := fn(values); err != nil {
			return err
		}
	}
	return rows.Err()
}
