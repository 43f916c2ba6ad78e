package store

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
)

// Open opens a journal for writing, and makes it if there is none. Calls whose
// process has died are closed as interrupted. Drivers call it; see
// internal/store/sqlite. makeDriver prepares the connections once the directory is
// there and nobody else is opening the journal.
func Open(ctx context.Context, cfg Config, makeDriver func(Config) (Driver, error)) (*Journal, error) {
	var j *Journal
	err := opening(ctx, cfg, openLockFile, func(cfg Config) (err error) {
		j, err = open(ctx, cfg, makeDriver)
		return err
	})
	if err != nil {
		if j != nil {
			err = errors.Join(err, j.abandon())
		}
		return nil, err
	}
	j.queue = newQueue(j.write)
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	j.stop = stop
	go j.maintain(life)
	return j, nil
}

// opening fills in the configuration, makes the directories, and runs open while
// no other process opens the same thing.
func opening(ctx context.Context, cfg Config, lockFile string, open func(Config) error) error {
	cfg, err := cfg.filled()
	if err != nil {
		return err
	}
	for _, dir := range []string{cfg.Dir, cfg.Keys} {
		if err := privateDir(dir); err != nil {
			return err
		}
	}
	return underLock(ctx, filepath.Join(cfg.Dir, lockFile), func() error { return open(cfg) })
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
	if err := j.catchUp(ctx); err != nil {
		return j, err
	}
	if j.lock, err = tryLock(runLockPath(cfg.Dir, j.run)); err != nil {
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

// appendNote writes an entry that is about the journal itself.
func (j *Journal) appendNote(k kind, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing an entry of kind %s: %w", k, err)
	}
	o := newOp()
	o.entry = entry{kind: k, at: j.cfg.Now().UnixNano(), body: text}
	o.ready(j.run)
	_, err = j.w.append(o)
	return err
}

// catchUp looks at what happened while the journal was closed: does it still
// fit its checkpoint, and who wrote what came after it? What is wrong is kept
// for Verify and does not stop the journal: a machine that lost power must
// come up again, and the evidence is safe.
func (j *Journal) catchUp(ctx context.Context) error {
	cp, why, err := j.checkpointFits()
	if err != nil {
		return err
	}
	if why == nil { // up to it the chain is signed
		if j.w.foreign.From = max(j.w.foreign.From, cp.Seq+1); j.w.foreign.From > j.w.foreign.Upto {
			j.w.foreign = span{}
		}
	}
	unsigned := j.w.foreign != (span{})
	h, _, err := j.disownForeign(ctx)
	switch {
	case err != nil:
		return err
	case why != nil:
		return j.replaceCheckpoint(ctx, h, why)
	case unsigned:
		// The next one need not look again, however soon this process dies.
		return j.sign(ctx, h)
	}
	return nil
}

// checkpointFits holds the database against the checkpoint, with j.mu held; why says
// what does not fit.
func (j *Journal) checkpointFits() (cp *Checkpoint, why, err error) {
	cp, why = readCheckpoint(filepath.Join(j.cfg.Keys, checkpointFile))
	if why == nil {
		why = cp.check(j.key.Public().(ed25519.PublicKey))
	}
	if why != nil {
		return nil, why, nil
	}
	ok, err := j.w.holds(cp.head())
	if err == nil && !ok {
		why = fmt.Errorf("entry %d, which was there at %s, is missing or another one", cp.Seq, cp.Time)
	}
	return cp, why, err
}

// replaceCheckpoint puts a checkpoint that does not fit aside and signs h instead.
func (j *Journal) replaceCheckpoint(ctx context.Context, h head, why error) error {
	j.cfg.Log.Error("the journal does not fit its checkpoint; verify it", "err", why)
	return underLock(ctx, filepath.Join(j.cfg.Keys, keysLockFile), func() error {
		if err := setAside(j.cfg.Keys, h.seq, why); err != nil {
			return err
		}
		return advanceLocked(j.cfg.Keys, j.key, h, j.cfg.Now(), true)
	})
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
