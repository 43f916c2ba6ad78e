package store

import (
	"context"
	"crypto/ed25519"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// pruneBatch bounds how long one transaction keeps other writers out.
const pruneBatch = 2000

// pruned is the body of a prune entry: all entries up to one were removed, and
// that one had this hash, with which the rest of the chain begins.
type pruned struct {
	Upto  uint64 `json:"upto"`
	Hash  string `json:"hash"`
	Count int64  `json:"count"`
	Key   string `json:"key"`
	Sig   string `json:"sig"`
}

// statement is the text that is signed. The number of the prune entry stands
// in it, so that it cannot be used a second time elsewhere in the chain.
func (p *pruned) statement(seq uint64) []byte {
	return fmt.Appendf(nil, "toolcrib journal prune 1\n%d\n%d\n%s\n%d\n", seq, p.Upto, p.Hash, p.Count)
}

// prune removes what is too old or too much, a batch at a time.
func (j *Journal) prune(ctx context.Context) error {
	if j.cfg.MaxAge <= 0 && j.cfg.MaxBytes <= 0 {
		return nil
	}
	removed := int64(0)
	for ctx.Err() == nil {
		n, err := j.pruneSome()
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
	return j.w.once(j.drv.Fold, nil)
}

// pruneSome removes one batch and says how many entries that were.
func (j *Journal) pruneSome() (count int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err = j.w.within(func() error {
		upto, err := j.pruneTo()
		if err != nil || upto == 0 {
			return err
		}
		count, err = j.cutTo(upto)
		return err
	})
	if err != nil || count == 0 {
		return 0, err
	}
	j.wrote(1)
	if j.drv.Shrink != "" {
		if err := j.w.once(j.drv.Shrink, nil); err != nil {
			return count, fmt.Errorf("giving space back: %w", err)
		}
	}
	return count, nil
}

// pruneTo gives the last entry that may go now, 0 for none.
func (j *Journal) pruneTo() (uint64, error) {
	first, err := j.w.first.number()
	if err != nil || first == 0 {
		return 0, err
	}
	last := int64(j.w.head.seq)
	upto := int64(0)
	if j.cfg.MaxAge > 0 {
		// A prefix goes: the first entry that is young enough stays, and all
		// behind it, even if a clock was turned back meanwhile.
		young, err := j.oneNumber(`SELECT seq FROM entry WHERE seq >= $1 AND seq <= $2 AND at >= $3 ORDER BY seq LIMIT 1`,
			first, first+pruneBatch, j.now().Add(-j.cfg.MaxAge).UnixNano())
		if err != nil {
			return 0, err
		}
		if upto = young - 1; young == 0 {
			upto = min(first+pruneBatch, last)
		}
	}
	if j.cfg.MaxBytes > 0 {
		size, err := j.oneNumber(j.drv.Size)
		if err != nil {
			return 0, err
		}
		if over := size - j.cfg.MaxBytes; over > 0 {
			part := float64(over) / float64(size)
			upto = max(upto, first+int64(part*float64(last-first+1)))
		}
	}
	upto = min(upto, first+pruneBatch-1, last)
	if upto < first {
		return 0, nil
	}
	open, err := j.firstOpen(first, upto)
	if err != nil {
		return 0, err
	}
	if open > 0 {
		upto = open - 1
	}
	// To remove nothing but notes of earlier removals would only add another.
	calls, err := j.oneNumber(`SELECT count(*) FROM entry WHERE seq >= $1 AND seq <= $2 AND kind < 4`, first, upto)
	if err != nil || calls == 0 {
		return 0, err
	}
	return uint64(upto), nil
}

// firstOpen gives the first call in a range that has not ended; 0 if all have.
// A forged begin does not count: it would keep everything behind it for ever.
func (j *Journal) firstOpen(first, upto int64) (seq int64, err error) {
	var e entry
	err = j.w.once(`SELECT `+columns+` FROM entry b WHERE b.seq >= $1 AND b.seq <= $2 AND b.kind = 1
		AND NOT EXISTS (`+closeOf+`) ORDER BY b.seq`, func(v []driver.Value) error {
		if err := e.scan(v); seq == 0 && err == nil && j.w.seal.fault(&e) == "" {
			seq = int64(e.seq)
		}
		return nil
	}, first, upto)
	return seq, err
}

// cutTo removes all entries up to one and says so in the chain.
func (j *Journal) cutTo(upto uint64) (int64, error) {
	at, err := j.w.at(j.w.hashAt, int64(upto))
	if err != nil {
		return 0, err
	}
	if at.seq != upto {
		return 0, fmt.Errorf("entry %d is missing; verify the journal", upto)
	}
	p := pruned{Upto: upto, Hash: hex.EncodeToString(at.hash[:]), Key: keyName(j.key.Public().(ed25519.PublicKey))}
	if p.Count, err = j.oneNumber(`SELECT count(*) FROM entry WHERE seq <= $1`, int64(upto)); err != nil {
		return 0, err
	}
	p.Sig = sign(j.key, p.statement(j.w.head.seq+1))
	body, err := json.Marshal(p)
	if err != nil {
		return 0, fmt.Errorf("writing a prune entry: %w", err)
	}
	if _, err := j.w.append(j.note(kindPrune, body)); err != nil {
		return 0, err
	}
	if err := j.w.once(`DELETE FROM entry WHERE seq <= $1`, nil, int64(upto)); err != nil {
		return 0, fmt.Errorf("removing entries up to %d: %w", upto, err)
	}
	return p.Count, nil
}

// oneNumber asks for a number, 0 if there is none.
func (j *Journal) oneNumber(query string, args ...driver.Value) (n int64, err error) {
	err = j.w.once(query, func(v []driver.Value) error {
		n = max(asInt(v[0]), 0)
		return nil
	}, args...)
	return n, err
}
