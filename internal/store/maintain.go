package store

import (
	"context"
	"errors"
	"time"
)

const (
	checkpointEvery = 200 * time.Millisecond
	retryEvery      = 250 * time.Millisecond
	pruneEvery      = time.Hour
	pruneAfter      = 20000 // entries
)

// maintain is the goroutine that looks after the journal until ctx ends: it signs
// the head while entries arrive, writes what was spilled as soon as that works
// again, and removes what is too old.
func (j *Journal) maintain(ctx context.Context) {
	defer close(j.stopped)
	retry := time.NewTicker(retryEvery)
	defer retry.Stop()
	prune := time.NewTimer(0)
	defer prune.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-j.dirty:
			select {
			case <-ctx.Done():
				return
			case <-time.After(checkpointEvery):
			}
			err = j.checkpoint(ctx)
			if j.mustPrune() {
				prune.Reset(0)
			}
		case <-retry.C:
			if !j.degraded.Load() {
				continue
			}
			if err := j.drain(); err != nil { // that was said when it began
				j.cfg.Log.Debug("the journal still cannot write", "err", err)
			}
		case <-prune.C:
			err = j.Prune(ctx)
			prune.Reset(pruneEvery)
		}
		if err != nil && ctx.Err() == nil {
			j.cfg.Log.Error("looking after the journal", "err", err)
		}
	}
}

func (j *Journal) mustPrune() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.since < pruneAfter {
		return false
	}
	j.since = 0
	return true
}

// checkpoint signs the head, once it is settled who wrote what it builds on.
func (j *Journal) checkpoint(ctx context.Context) error {
	h, cut, err := j.disownForeign(ctx)
	if err != nil {
		return err
	}
	j.mu.Lock()
	err = j.lock.setLow(j.low())
	j.mu.Unlock()
	if err != nil {
		return err
	}
	if cut != nil {
		if err := j.reportCut(ctx, *cut, h); err != nil {
			return err
		}
	}
	return j.sign(ctx, h)
}

// sign writes a checkpoint for a head that is settled. The database is flushed
// first: a checkpoint that survives a power cut which its entries do not
// survive would cry wolf.
func (j *Journal) sign(ctx context.Context, h head) error {
	if j.drv.Flush != nil {
		if err := j.drv.Flush(); err != nil {
			return err
		}
	}
	return advance(ctx, j.cfg.Keys, j.key, h, j.cfg.Now())
}

// reportCut keeps the evidence that entries this process has written were
// taken away under its hands: a checkpoint of the point that is gone.
func (j *Journal) reportCut(ctx context.Context, gone, h head) error {
	j.cfg.Log.Error("entries of the journal have vanished while it was open; verify it", "entry", gone.seq)
	if err := advance(ctx, j.cfg.Keys, j.key, gone, j.cfg.Now()); err != nil {
		return err
	}
	j.mu.Lock()
	j.w.cut = nil
	_, why, err := j.checkpointFits()
	j.mu.Unlock()
	if err != nil || why == nil {
		return err
	}
	return j.replaceCheckpoint(ctx, h, why)
}

// closeAll is Close.
func (j *Journal) closeAll(ctx context.Context) error {
	j.queue.close()
	j.stop()
	<-j.stopped
	var errs []error
	if j.degraded.Load() {
		errs = append(errs, j.drain())
	}
	errs = append(errs, j.checkpoint(ctx))
	j.mu.Lock()
	defer j.mu.Unlock()
	errs = append(errs, j.spill.close(), j.Reader.Close(), j.w.close())
	// The lock file stays, unlocked, if it has something to tell.
	if len(j.open) == 0 && j.spill.count == 0 {
		errs = append(errs, dropLock(j.lock, runLockPath(j.cfg.Dir, j.run)))
	} else {
		errs = append(errs, j.lock.release())
	}
	return errors.Join(errs...)
}
