package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/seal"
)

var (
	_ desk.Store    = (*Desk)(nil)
	_ desk.Digester = (*Desk)(nil)
)

// Desk keeps the questions and grants of [desk.Desk] in a database of its own
// beside the journal: what changes and is removed has no place in a chain of
// entries that never do. Several processes may share one.
//
// Each row has a seal that takes a secret from the key directory, so that who
// can write the database but not the key directory can remove answers and
// grants or put older ones back, but not make any. A row without a good seal
// is reported and counts as not there.
type Desk struct {
	cfg   Config
	drv   Driver
	reads *sql.DB

	seals sync.Mutex // guards seal
	seal  *sealer
	names *seal.Digest // of what is asked about

	mu     sync.Mutex // guards the writing connection
	w      *writer
	closed bool
}

const deskLockFile = "desk.lock"

// OpenDesk opens the desk's database in cfg.Dir, and makes it if there is
// none. Of cfg it takes the directories, Sync, Wait and Log. Drivers call it.
func OpenDesk(ctx context.Context, cfg Config, makeDriver func(Config) (Driver, error)) (*Desk, error) {
	var d *Desk
	err := opening(ctx, cfg, deskLockFile, func(cfg Config) (err error) {
		d, err = openDesk(ctx, cfg, makeDriver)
		return err
	})
	if err != nil {
		if d != nil {
			err = errors.Join(err, d.Close())
		}
		return nil, fmt.Errorf("opening the desk: %w", err)
	}
	return d, nil
}

// openDesk does the work of OpenDesk while nobody else does.
func openDesk(ctx context.Context, cfg Config, makeDriver func(Config) (Driver, error)) (*Desk, error) {
	key, err := deskKey(cfg.Keys)
	if err != nil {
		return nil, err
	}
	drv, err := makeDriver(cfg)
	if err != nil {
		return nil, err
	}
	w, err := connect(ctx, drv)
	if err != nil {
		return nil, err
	}
	d := &Desk{cfg: cfg, drv: drv, w: w, seal: newSealer(key), reads: sql.OpenDB(drv.Reader)}
	d.names = seal.NewDigest(seal.Key(key.secret).For("desk texts"), "hmac")
	d.reads.SetMaxOpenConns(4)
	return d, w.migrate(ctx)
}

// Digest implements [desk.Digester].
func (d *Desk) Digest(parts ...string) string { return d.names.Join(parts...) }

// Close gives the connections back.
func (d *Desk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	return errors.Join(d.reads.Close(), d.w.close())
}

// Update implements [desk.Store].
func (d *Desk) Update(ctx context.Context, fn func(desk.Tx) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.closed {
		return errDeskClosed
	}
	query := func(text string, fn func([]driver.Value) error, args ...any) error {
		values := make([]driver.Value, len(args))
		for i, a := range args {
			values[i] = a
		}
		return d.w.runOnce(text, fn, values...)
	}
	if err := query(d.drv.Begin, nil); err != nil {
		return fmt.Errorf("beginning to write: %w", err)
	}
	committed := false
	defer func() { // also if fn panics
		if !committed {
			// After a full disk the database has already rolled back, and says so.
			_ = query("ROLLBACK", nil)
		}
	}()
	if err := fn(&deskTx{desk: d, query: query, writes: true}); err != nil {
		return err
	}
	if err := query("COMMIT", nil); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	committed = true
	return nil
}

// View implements [desk.Store].
func (d *Desk) View(ctx context.Context, fn func(desk.Tx) error) error {
	return fn(&deskTx{desk: d, query: func(text string, fn func([]driver.Value) error, args ...any) error {
		return eachRow(ctx, d.reads, text, args, fn)
	}})
}

var (
	errDeskClosed = errors.New("the desk is closed")
	errDeskReads  = errors.New("nothing can be changed while viewing")
)
