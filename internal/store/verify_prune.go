package store

import (
	"context"
	"fmt"
	"time"
)

// prunedAt is a prune entry and where it stands.
type prunedAt struct {
	pruned
	seq uint64
}

// removal takes a prune entry into the report, and holds it against the one
// before: between two removals nothing may vanish.
func (v *verification) removal(p prunedAt, at int64) {
	if v.key != nil && !signed(v.key, p.statement(p.seq), p.Sig) {
		// Whether it is needed to explain where the chain begins, begin says.
		v.add(Finding{Forged, p.seq, "", "it says that entries were removed, and is not signed by the journal's key"})
		v.prunes = append(v.prunes, p)
		return
	}
	missing := func(format string, args ...any) {
		v.add(Finding{Missing, p.seq, "", fmt.Sprintf(format, args...)})
	}
	if p.From > 0 && p.Count != int64(p.Upto-p.From+1) {
		missing("it says that entries %d to %d were removed, and that they were %d", p.From, p.Upto, p.Count)
	}
	if n := len(v.prunes); n > 0 && p.From > 0 && v.prunes[n-1].Upto+1 != p.From {
		missing("it says that entries %d to %d were removed, and the removal before ended with %d", p.From, p.Upto, v.prunes[n-1].Upto)
	}
	v.prunes = append(v.prunes, p)
	told := Pruned{Entry: p.seq, At: moment(at), From: p.From, Upto: p.Upto, Count: p.Count, By: p.By, Step: p.Step}
	if p.From > 0 {
		told.Oldest, told.Newest, told.Begun = moment(p.Oldest), moment(p.Newest), moment(p.Begun)
	}
	v.Pruned = append(v.Pruned, told)
}

func moment(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// retention says why entries that look too old are still there. What is wrong
// with them the other steps have found.
func (v *verification) retention(ctx context.Context) error {
	if v.sealer == nil {
		return nil
	}
	_, waits, err := v.reader.tooOld(ctx, v.sealer)
	if err != nil && ctx.Err() != nil {
		return err
	}
	if v.Kept = waits; err != nil {
		v.Kept = err.Error()
	}
	return nil
}
