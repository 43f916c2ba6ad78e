package store

import (
	"context"
	"crypto/ed25519"
	"database/sql/driver"
	"fmt"
	"time"
)

// pruneBatch bounds how long one transaction keeps other writers out.
const pruneBatch = 2000

// pruned is the body of a prune entry: the entries of a range were removed, and
// the last of them had this hash, with which the rest of the chain begins.
type pruned struct {
	From  uint64 `json:"from,omitempty"` // 0: written before there was more than Upto, Hash and Count
	Upto  uint64 `json:"upto"`
	Hash  string `json:"hash"`
	Count int64  `json:"count"`

	Oldest int64  `json:"oldest_ns,omitempty"` // the times of what was removed
	Newest int64  `json:"newest_ns,omitempty"`
	By     string `json:"by,omitempty"`       // the setting that asked for it, and who made it
	Begun  int64  `json:"begun_ns,omitempty"` // when the first entries of this journal were removed
	Step   int64  `json:"step,omitempty"`     // how many prune entries there were, with this one

	Key string `json:"key"`
	Sig string `json:"sig"`
}

// statement is the text that is signed. The number of the prune entry stands
// in it, so that it cannot be used a second time elsewhere in the chain.
func (p *pruned) statement(seq uint64) []byte {
	if p.From == 0 {
		return fmt.Appendf(nil, "toolcrib journal prune 1\n%d\n%d\n%s\n%d\n", seq, p.Upto, p.Hash, p.Count)
	}
	return fmt.Appendf(nil, "toolcrib journal prune 2\n%d\n%d\n%d\n%s\n%d\n%d\n%d\n%q\n%d\n%d\n",
		seq, p.From, p.Upto, p.Hash, p.Count, p.Oldest, p.Newest, p.By, p.Begun, p.Step)
}

// Prune removes what is too old or too much, a batch at a time, as the journal
// does by itself from time to time. It stops, and nothing is removed, where the
// journal is not as it was written: what is removed under a signature looks as
// if it had never been touched.
func (j *Journal) Prune(ctx context.Context) error {
	if j.cfg.MaxAge <= 0 && j.cfg.MaxBytes <= 0 {
		return nil
	}
	old, waits, err := j.tooOld(ctx, newSealer(j.seal))
	if err != nil {
		return err
	}
	if waits != "" {
		j.cfg.Log.Warn("old entries are kept for now", "why", waits)
	}
	removed := int64(0)
	for ctx.Err() == nil {
		n, err := j.pruneSome(old)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		removed += n
		time.Sleep(time.Millisecond) // others want to write as well
	}
	if removed == 0 {
		return ctx.Err()
	}
	j.cfg.Log.Info("old entries were removed", "entries", removed)
	if j.drv.Fold == "" {
		return ctx.Err()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.w.runOnce(j.drv.Fold, nil)
}

// pruneSome removes one batch and says how many entries that were. Old is the
// last entry that is too old.
func (j *Journal) pruneSome(old uint64) (count int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err = j.w.within(func() error {
		c, err := j.pruneTo(old)
		if err != nil || c.upto == 0 {
			return err
		}
		count, err = j.remove(c)
		return err
	})
	if err != nil || count == 0 {
		return 0, err
	}
	j.wrote(1)
	if j.drv.Shrink != "" {
		if err := j.w.runOnce(j.drv.Shrink, nil); err != nil {
			return count, fmt.Errorf("giving space back: %w", err)
		}
	}
	return count, nil
}

// cut is a range of entries that may go, and the setting that says so.
type cut struct {
	first, upto uint64
	by          string
}

// pruneTo gives the entries that may go now; upto is 0 if there are none.
func (j *Journal) pruneTo(old uint64) (cut, error) {
	first, err := j.w.first.number()
	if err == nil && first < 0 {
		err = unsound("there is an entry with the number %d", first)
	}
	if err != nil || first == 0 {
		return cut{}, err
	}
	last := int64(j.w.head.seq)
	upto, by := int64(old), setting("max_age", j.cfg.MaxAge, j.cfg.AgeFrom)
	if j.cfg.MaxBytes > 0 {
		size, err := j.oneNumber(j.drv.Size)
		if err != nil {
			return cut{}, err
		}
		if over := size - j.cfg.MaxBytes; over > 0 {
			part := float64(over) / float64(size)
			if n := first + int64(part*float64(last-first+1)); n > upto {
				upto, by = n, setting("max_size", j.cfg.MaxBytes, j.cfg.BytesFrom)
			}
		}
	}
	upto = min(upto, first+pruneBatch-1, last)
	if upto < first {
		return cut{}, nil
	}
	open, err := j.firstOpen(first, upto)
	if err != nil {
		return cut{}, err
	}
	if open > 0 {
		upto = open - 1
	}
	// To remove nothing but notes of earlier removals would only add another.
	calls, err := j.oneNumber(`SELECT count(*) FROM entry WHERE seq >= $1 AND seq <= $2 AND kind < 4`, first, upto)
	if err != nil || calls == 0 {
		return cut{}, err
	}
	return cut{uint64(first), uint64(upto), by}, nil
}

// setting tells which setting removed entries, and where it was made.
func setting(name string, value any, from string) string {
	text := fmt.Sprintf("journal.%s %v", name, value)
	if from != "" {
		text += " (" + from + ")"
	}
	return text
}

// firstOpen gives the first call in a range that has not ended; 0 if all have.
// A forged begin does not count: it would keep everything behind it for ever.
func (j *Journal) firstOpen(first, upto int64) (seq int64, err error) {
	var e entry
	err = j.w.runOnce(`SELECT `+columns+` FROM entry b WHERE b.seq >= $1 AND b.seq <= $2 AND b.kind = 1
		AND NOT EXISTS (`+closeOf+`) ORDER BY b.seq`, func(v []driver.Value) error {
		if err := e.scan(v); seq == 0 && err == nil && j.w.seal.fault(&e) == "" {
			seq = int64(e.seq)
		}
		return nil
	}, first, upto)
	return seq, err
}

// remove takes entries out and says so in the chain, once it is sure that they
// are what the journal wrote.
func (j *Journal) remove(c cut) (int64, error) {
	p, err := j.checkRange(c)
	if err != nil {
		return 0, err
	}
	p.By, p.Key = c.by, keyName(j.key.Public().(ed25519.PublicKey))
	p.Sig = sign(j.key, p.statement(j.w.head.seq+1))
	if err := j.appendNote(kindPrune, p); err != nil {
		return 0, err
	}
	if err := j.w.runOnce(`DELETE FROM entry WHERE seq <= $1`, nil, int64(c.upto)); err != nil {
		return 0, fmt.Errorf("removing entries up to %d: %w", c.upto, err)
	}
	return p.Count, nil
}

// oneNumber asks for a number, 0 if there is none.
func (j *Journal) oneNumber(query string, args ...driver.Value) (n int64, err error) {
	err = j.w.runOnce(query, func(v []driver.Value) error {
		n = max(asInt(v[0]), 0)
		return nil
	}, args...)
	return n, err
}
