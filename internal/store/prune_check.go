package store

import (
	"context"
	"crypto/ed25519"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// unsound says why nothing is removed.
func unsound(format string, args ...any) error {
	return fmt.Errorf("%w: %s; run 'toolcrib journal verify', and keep a copy before you change anything",
		ErrUnsound, fmt.Sprintf(format, args...))
}

// checkRange checks a range that is to be removed as Verify would: it begins where
// the chain begins or where the last removal ended, no entry is missing, each
// builds on the one before, and each has the journal's seal. Without that the
// signature under the removal would make good what somebody did to the range:
// a row with another time, a row that is gone, a row that was put in.
func (j *Journal) checkRange(c cut) (*pruned, error) {
	prev, p, err := j.lastRemoval(c.first)
	if err != nil {
		return nil, err
	}
	p.From, p.Upto, p.Step = c.first, c.upto, p.Step+1
	if p.Begun == 0 {
		p.Begun = j.cfg.Now().UnixNano()
	}
	var e entry
	var scratch []byte
	seq := c.first - 1
	err = j.w.runOnce(`SELECT `+columns+` FROM entry WHERE seq <= $1 ORDER BY seq`, func(v []driver.Value) error {
		if err := e.scan(v); err != nil {
			return unsound("%v", err)
		}
		if e.seq != seq+1 {
			return unsound("entry %d is missing", seq+1)
		}
		if want := e.sumAfter(&prev, &scratch); want != e.hash {
			return unsound("entry %d is not as it was written", e.seq)
		}
		if fault := j.w.seal.fault(&e); fault != "" {
			return unsound("entry %d is %s: this journal did not write it", e.seq, fault)
		}
		if p.Count == 0 || e.at < p.Oldest {
			p.Oldest = e.at
		}
		if p.Count == 0 || e.at > p.Newest {
			p.Newest = e.at
		}
		seq, prev = e.seq, e.hash
		p.Count++
		return nil
	}, int64(c.upto))
	switch {
	case err != nil:
		return nil, err
	case seq != c.upto:
		return nil, unsound("entry %d is missing", seq+1)
	}
	p.Hash = hex.EncodeToString(prev[:])
	return p, nil
}

// lastRemoval finds the hash that the first entry builds on, and what is known of
// earlier removals. Entries that are gone without a word of the journal are not
// covered by a word about later ones.
func (j *Journal) lastRemoval(first uint64) (hash sum, p *pruned, err error) {
	if first == 1 {
		return sum{}, &pruned{}, nil
	}
	var e entry
	err = j.w.marks.each(func(v []driver.Value) error {
		if e.scan(v) != nil || e.kind != kindPrune || j.w.seal.fault(&e) != "" {
			return nil //nolint:nilerr // it is none that can be believed: another may be
		}
		var old pruned
		if json.Unmarshal(e.body, &old) != nil || old.Upto != first-1 {
			return nil //nolint:nilerr // likewise
		}
		raw, err := hex.DecodeString(old.Hash)
		if err != nil || len(raw) != len(hash) || !signed(j.key.Public().(ed25519.PublicKey), old.statement(e.seq), old.Sig) {
			return nil //nolint:nilerr // likewise
		}
		if old.Begun == 0 {
			old.Begun = e.at
		}
		hash, p = sum(raw), &pruned{Begun: old.Begun, Step: old.Step}
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return sum{}, nil, fmt.Errorf("looking for the last removal: %w", err)
	}
	if p == nil {
		return sum{}, nil, unsound("entries 1 to %d are gone, and no prune entry says so", first-1)
	}
	return hash, p, nil
}

const (
	// clockSlack is how far the clocks of processes and hosts may differ.
	clockSlack = 10 * time.Minute
	// clockJump is a gap between two entries that a wrong clock may have made.
	// Entries from before it go only once the clock has held for clockHeld.
	clockJump = 7 * 24 * time.Hour
	clockHeld = 24 * time.Hour
)

// tooOld gives the last entry that is too old, 0 for none: all up to the first
// that is young enough, also if a clock was turned back meanwhile. Waits says
// why none is, though some look so: the clock is not to be believed yet. Whoever
// sets the clock ahead by mistake must not lose the journal by it.
func (r *Reader) tooOld(ctx context.Context, s *sealer) (upto uint64, waits string, err error) {
	if r.cfg.MaxAge <= 0 {
		return 0, "", nil
	}
	now := r.cfg.Now()
	newest, err := r.sealedEntry(ctx, s, `ORDER BY seq DESC LIMIT 1`)
	if err != nil || newest.seq == 0 {
		return 0, "", err
	}
	young, err := r.sealedEntry(ctx, s, `WHERE at >= $1 ORDER BY seq LIMIT 1`, now.Add(-r.cfg.MaxAge).UnixNano())
	if err != nil || young.seq == 1 {
		return 0, "", err
	}
	gone := newest
	if young.seq > 0 {
		if gone, err = r.sealedEntry(ctx, s, `WHERE seq < $1 ORDER BY seq DESC LIMIT 1`, int64(young.seq)); err != nil || gone.seq == 0 {
			return 0, "", err
		}
	}
	if ahead := time.Unix(0, newest.at).Sub(now); ahead > clockSlack {
		return 0, fmt.Sprintf("the newest entry is of %s, which is after this clock's time: set the clock right", day(newest.at)), nil
	}
	kept, held := now, time.Duration(0)
	if young.seq > 0 {
		kept, held = time.Unix(0, young.at), time.Unix(0, newest.at).Sub(time.Unix(0, young.at))
	}
	if gap := kept.Sub(time.Unix(0, gone.at)); gap > clockJump && held < clockHeld {
		return 0, fmt.Sprintf("there is nothing between %s and %s, so the clock may be wrong: they go when entries of a whole day are behind that gap",
			day(gone.at), day(kept.UnixNano())), nil
	}
	return gone.seq, "", nil
}

func day(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339) }

// sealedEntry reads one entry to go by; its seq is 0 if there is none.
func (r *Reader) sealedEntry(ctx context.Context, s *sealer, which string, args ...any) (e entry, err error) {
	err = r.each(ctx, `SELECT `+columns+` FROM entry `+which, args, func(v []driver.Value) error {
		if err := e.scan(v); err != nil {
			return unsound("%v", err)
		}
		if fault := s.fault(&e); fault != "" {
			return unsound("entry %d is %s: this journal did not write it as it is", e.seq, fault)
		}
		e.body = nil // it is the row's
		return nil
	})
	return e, err
}
