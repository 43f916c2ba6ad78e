package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
)

// interruptedBatch bounds how long one transaction keeps other writers out.
const interruptedBatch = 1000

// recover closes the calls of processes that have died.
func (j *Journal) recover(ctx context.Context) error {
	return underLock(ctx, filepath.Join(j.cfg.Dir, openLockFile), func() error {
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.recoverLocked()
	})
}

// recoverLocked does so under the open lock. Ends that a dead run could only
// spill come first: their calls were not interrupted.
func (j *Journal) recoverLocked() error {
	dead, err := deadRuns(j.cfg.Dir, j.run)
	if err != nil {
		return err
	}
	for i, d := range dead {
		if err := j.takeOver(d); err != nil {
			for _, d := range dead[i:] {
				err = errors.Join(err, d.lock.release())
			}
			return fmt.Errorf("cleaning up after run %s: %w", d.run, err)
		}
	}
	return nil
}

func (j *Journal) takeOver(d deadRun) error {
	if err := j.w.within(func() error { return j.takeSpill(d.run) }); err != nil {
		return err
	}
	for more := true; more; {
		n := 0
		if err := j.w.within(func() (err error) {
			n, more, err = j.interrupt(&d)
			return err
		}); err != nil {
			return err
		}
		if n > 0 {
			j.cfg.Log.Warn("calls were interrupted by the death of their process", "run", d.run, "calls", n)
			j.wrote(n)
		}
	}
	return d.removeFiles(j.cfg.Dir)
}

// interrupt closes some open calls of a dead run, and says how many and
// whether there may be more behind them. A begin that the journal did not
// write is left as it is: there was no such call.
func (j *Journal) interrupt(d *deadRun) (n int, more bool, err error) {
	body, err := json.Marshal(endBody{Message: "the process ended before the call did; its effect is unknown"})
	if err != nil {
		return 0, false, fmt.Errorf("writing an interruption: %w", err)
	}
	var found []entry
	rows, next := 0, d.low
	err = j.w.openOf.each(func(v []driver.Value) error {
		var e entry
		if err := e.scan(v); err != nil {
			return err
		}
		rows++
		next = e.seq + 1
		if j.w.seal.fault(&e) == "" {
			found = append(found, e)
		}
		return nil
	}, int64(d.low), d.run, int64(interruptedBatch))
	if err != nil {
		return 0, false, fmt.Errorf("looking for open calls: %w", err)
	}
	for _, e := range found {
		o := newOp()
		o.entry = entry{
			kind: kindInterrupted, at: j.cfg.Now().UnixNano(), ref: e.seq,
			call: e.call, subject: e.subject, session: e.session, tool: e.tool,
			outcome: string(toolcrib.Interrupted), body: body,
		}
		o.ready(j.run)
		if _, err := j.w.append(o); err != nil {
			return 0, false, err
		}
	}
	d.low = next
	return len(found), rows == interruptedBatch, nil
}
