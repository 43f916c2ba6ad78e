package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
)

// patience is after how many calls in a row that are too old nobody looks for younger
// ones behind them. Calls are written in the order in which they begin, so it takes a
// clock that was wrong for so many of them to hide one.
const patience = 5000

// bounded finds where a filter by time begins, so that the rest of a long journal is not
// looked at.
func (r *Reader) bounded(ctx context.Context, f Filter) (Filter, error) {
	if f.Since.IsZero() || f.from > 0 {
		return f, nil
	}
	from, err := r.floor(ctx, f.Since)
	f.from = from
	return f, err
}

// floor gives the smallest number of a call that started then or later.
func (r *Reader) floor(ctx context.Context, since time.Time) (uint64, error) {
	whole := false
	err := r.each(ctx, `SELECT at FROM entry WHERE kind = 1 ORDER BY seq LIMIT 1`, nil, func(v []driver.Value) error {
		whole = asInt(v[0]) >= since.UnixNano()
		return nil
	})
	if err != nil || whole {
		return 0, err
	}
	lowest, old := int64(math.MaxInt64), 0
	err = r.each(ctx, `SELECT seq, at FROM entry WHERE kind = 1 ORDER BY seq DESC`, nil, func(v []driver.Value) error {
		if asInt(v[1]) >= since.UnixNano() {
			lowest, old = asInt(v[0]), 0
			return nil
		}
		if old++; old > patience {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return 0, err
	}
	return uint64(lowest), nil
}

// Closed is a call that is over, and the number of the entry that says so.
type Closed struct {
	Record toolcrib.Record
	End    uint64
}

// After gives the calls that a filter chooses whose end has a greater number than the
// given one, in the order in which they ended, at most limit. The filter's Limit, Before
// and Open count nothing. More says whether there may be others, and last which number was
// looked at last: that is where to go on, whatever was chosen.
func (r *Reader) After(ctx context.Context, end uint64, f Filter, limit int) (list []Closed, last uint64, more bool, err error) {
	f.Limit, f.Before, f.Open = 0, 0, false
	last, looked := end, 0
	// The number of the end is compared without its index, as the ends are to be looked at in their order.
	where, args := f.where()
	args = append(args, int64(end), limit)
	query := fmt.Sprintf(closed()+where+` AND c.seq > $%d ORDER BY c.seq LIMIT $%d`, len(args)-1, len(args))
	err = r.each(ctx, query, args, func(v []driver.Value) error {
		looked++
		rec, _, err := scanJoined(v, func(*entry) error { return nil })
		if err != nil {
			return err
		}
		last = uint64(asInt(v[columnCount]))
		if f.has(rec.Caller.Agent, rec.Caller.Organisation, rec.Caller.Client) {
			list = append(list, Closed{rec, last})
		}
		return nil
	})
	if err != nil {
		return nil, end, false, fmt.Errorf("listing records: %w", err)
	}
	return list, last, looked == limit, nil
}

// EndOf gives the number of the entry that closed the call with this number; 0: it is open.
func (r *Reader) EndOf(ctx context.Context, seq uint64) (end uint64, err error) {
	err = r.each(ctx, `SELECT c.seq`+begins+` AND b.seq = $1`, []any{int64(seq)}, func(v []driver.Value) error {
		if v[0] != nil {
			end = uint64(asInt(v[0]))
		}
		return nil
	})
	return end, err
}

// Newest gives the number of the newest entry; 0: there is none.
func (r *Reader) Newest(ctx context.Context) (seq uint64, err error) {
	err = r.each(ctx, `SELECT seq FROM entry ORDER BY seq DESC LIMIT 1`, nil, func(v []driver.Value) error {
		seq = uint64(asInt(v[0]))
		return nil
	})
	return seq, err
}

// mostNamed bounds how many IDs are given of those that begin alike.
const mostNamed = 20

// IDs gives the call IDs that begin so, at most mostNamed and one more.
func (r *Reader) IDs(ctx context.Context, prefix string) ([]string, error) {
	if prefix == "" {
		return nil, nil
	}
	query := fmt.Sprintf(`SELECT DISTINCT call FROM entry WHERE kind < 4 AND call >= $1 AND call < $2 ORDER BY call LIMIT %d`, mostNamed+1)
	return rowsOf(func(fn func([]driver.Value) error) error {
		return r.each(ctx, query, []any{prefix, prefix + "\U0010ffff"}, fn)
	}, func(v []driver.Value) string {
		id, _ := v[0].(string)
		return id
	})
}

// Short gives the shortest beginning of a call ID that no other one has, of at least so
// many bytes.
func (r *Reader) Short(ctx context.Context, id string, least int) string {
	shared := 0
	for _, side := range [...]string{`< $1 ORDER BY call DESC`, `> $1 ORDER BY call`} {
		err := r.each(ctx, `SELECT call FROM entry WHERE kind < 4 AND call `+side+` LIMIT 1`, []any{id}, func(v []driver.Value) error {
			other, _ := v[0].(string)
			n := 0
			for n < len(id) && n < len(other) && id[n] == other[n] {
				n++
			}
			shared = max(shared, n)
			return nil
		})
		if err != nil {
			return id
		}
	}
	if n := max(least, shared+1); n < len(id) && utf8.RuneStart(id[n]) {
		return id[:n]
	}
	return id
}
