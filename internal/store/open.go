package store

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Open opens a journal for writing, and makes it if there is none. Calls whose
// process has died are closed as interrupted. Drivers call it; see
// internal/store/sqlite. makeDriver prepares the connections once the directory is
// there and nobody else is opening the journal.
func Open(ctx context.Context, cfg Config, makeDriver func(Config) (Driver, error)) (*Journal, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{cfg.Dir, cfg.Keys} {
		if err := privateDir(dir); err != nil {
			return nil, err
		}
	}
	gate, err := acquire(ctx, filepath.Join(cfg.Dir, openLockFile))
	if err != nil {
		return nil, err
	}
	j, err := open(ctx, cfg, makeDriver)
	if err := errors.Join(err, gate.release()); err != nil {
		if j != nil {
			err = errors.Join(err, j.abandon())
		}
		return nil, err
	}
	j.queue = newQueue(j.write)
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	j.stop = stop
	go j.keep(life)
	return j, nil
}

// open does the work of Open under the open lock. It gives what is to be
// abandoned together with an error.
func open(ctx context.Context, cfg Config, makeDriver func(Config) (Driver, error)) (*Journal, error) {
	drv, err := makeDriver(cfg)
	if err != nil {
		return nil, err
	}
	j := &Journal{
		cfg: cfg, drv: drv, run: newRun(), open: map[callKey]uint64{},
		dirty: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	j.spill = newSpill(cfg.Dir, j.run)
	if j.w, err = connect(ctx, drv); err != nil {
		return nil, err
	}
	if err := j.w.migrate(ctx); err != nil {
		return j, err
	}
	if err := j.w.prepare(ctx); err != nil {
		return j, err
	}
	j.Reader = newReader(cfg, drv)
	if err := j.w.within(func() error { return nil }); err != nil {
		return j, err
	}
	if err := j.openKey(ctx); err != nil {
		return j, err
	}
	if err := j.face(ctx); err != nil {
		return j, err
	}
	if j.lock, err = tryLock(runLockPath(cfg.Dir, j.run), true); err != nil {
		return j, err
	}
	if err := j.lock.setLow(j.low()); err != nil {
		return j, err
	}
	if err := j.recoverLocked(); err != nil {
		return j, err
	}
	return j, j.spill.room.fill()
}

// openKey loads the key, or makes it for a journal that is new.
func (j *Journal) openKey(ctx context.Context) error {
	lock, err := acquire(ctx, filepath.Join(j.cfg.Keys, keysLockFile))
	if err != nil {
		return err
	}
	j.key, err = loadKey(j.cfg.Keys)
	if errors.Is(err, fs.ErrNotExist) {
		err = j.firstKey()
	}
	if err := errors.Join(err, lock.release()); err != nil {
		return fmt.Errorf("the journal's key: %w", err)
	}
	want, err := j.chainKey()
	if err != nil {
		return err
	}
	public := j.key.Public().(ed25519.PublicKey)
	own := keyName(public)
	switch want {
	case own:
		if _, err := loadPublic(j.cfg.Keys); errors.Is(err, fs.ErrNotExist) {
			return writePublic(j.cfg.Keys, public)
		}
		return nil
	case "":
		return j.claim(ctx, own)
	}
	return fmt.Errorf("%w: the journal in %s was begun with the key %s; bring it back to %s, or move the journal away to begin a new one",
		ErrKey, j.cfg.Dir, want, j.cfg.Keys)
}

// firstKey makes a key, unless something was already signed by one.
func (j *Journal) firstKey() error {
	_, err := readCheckpoint(filepath.Join(j.cfg.Keys, checkpointFile))
	if j.w.head.seq > 0 || !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no %s in %s, and there is a journal that it signed; bring it back, or move both directories away to begin a new one",
			ErrKey, privateFile, j.cfg.Keys)
	}
	j.key, err = makeKey(j.cfg.Keys)
	return err
}

// mark is the part of key and prune entries that names the key.
type mark struct {
	Key string `json:"key"`
}

// chainKey is the key that the journal itself names; empty if it is new.
func (j *Journal) chainKey() (string, error) {
	if j.w.head.seq == 0 {
		return "", nil
	}
	text, err := j.w.lastMark()
	if err != nil {
		return "", err
	}
	var m mark
	if err := json.Unmarshal(text, &m); err != nil || m.Key == "" {
		return "", fmt.Errorf("%w: the journal names none; verify it", ErrKey)
	}
	return m.Key, nil
}

// claim begins the chain of a new journal with its key. A checkpoint of the
// empty journal is written first: from then on a missing one is suspicious.
func (j *Journal) claim(ctx context.Context, own string) error {
	if _, err := readCheckpoint(filepath.Join(j.cfg.Keys, checkpointFile)); errors.Is(err, fs.ErrNotExist) {
		if err := advance(ctx, j.cfg.Keys, j.key, head{}, j.now(), true); err != nil {
			return err
		}
	}
	body, err := json.Marshal(mark{own})
	if err != nil {
		return fmt.Errorf("naming the key: %w", err)
	}
	return j.w.within(func() error {
		_, err := j.w.append(j.note(kindKey, body))
		return err
	})
}

// note makes an entry that is about the journal itself.
func (j *Journal) note(k kind, body []byte) *op {
	o := newOp()
	o.entry = entry{kind: k, at: j.now().UnixNano(), body: body}
	o.ready(j.run)
	return o
}

// face holds the database against the checkpoint, with j.mu held. A contradiction is kept
// for Verify and does not stop the journal: a machine that lost power must
// come up again, and the evidence is safe.
func (j *Journal) face(ctx context.Context) error {
	cp, err := readCheckpoint(filepath.Join(j.cfg.Keys, checkpointFile))
	if err == nil {
		err = cp.check(j.key.Public().(ed25519.PublicKey))
	}
	if err == nil {
		ok, e := j.w.holds(cp.head())
		if e != nil {
			return e
		}
		if ok {
			return nil
		}
		err = fmt.Errorf("entry %d, which was there at %s, is missing or another one", cp.Seq, cp.Time)
	}
	j.cfg.Log.Error("the journal does not fit its checkpoint; verify it", "err", err)
	lock, e := acquire(ctx, filepath.Join(j.cfg.Keys, keysLockFile))
	if e != nil {
		return e
	}
	e = suspect(j.cfg.Keys, j.w.head.seq, err)
	if e == nil {
		e = advanceLocked(j.cfg.Keys, j.key, j.w.head, j.now(), true)
	}
	return errors.Join(e, lock.release())
}

// abandon gives back what a failed Open has taken.
func (j *Journal) abandon() error {
	var errs []error
	if j.Reader != nil {
		errs = append(errs, j.Reader.Close())
	}
	if j.w != nil {
		errs = append(errs, j.w.close())
	}
	if j.lock != nil {
		errs = append(errs, dropLock(j.lock, runLockPath(j.cfg.Dir, j.run)))
	}
	return errors.Join(errs...)
}
