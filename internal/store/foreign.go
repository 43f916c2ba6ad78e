package store

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
)

// span is a range of entries, both ends included; the zero span has none.
type span struct {
	From uint64 `json:"from"`
	Upto uint64 `json:"upto"`
}

// with gives the smallest span that has what both have.
func (s span) with(t span) span {
	switch {
	case s.Upto == 0:
		return t
	case t.Upto == 0:
		return s
	}
	return span{min(s.From, t.From), max(s.Upto, t.Upto)}
}

// disowned is the body of a disown entry: the entries of a span stand in the
// chain, and the journal did not write them. To take them out would break the
// chain, and to sign over them in silence would make them true.
type disowned struct {
	span
	Key string `json:"key"`
	Sig string `json:"sig"`
}

// statement is the text that is signed, so that who cannot check seals can
// believe it. The number of the disown entry stands in it, so that it cannot be
// used a second time.
func (d *disowned) statement(seq uint64) []byte {
	return fmt.Appendf(nil, "toolcrib journal disown 1\n%d\n%d\n%d\n", seq, d.From, d.Upto)
}

// unsealedRun is a run of entries without a good seal, and the call of the first.
type unsealedRun struct {
	span
	call string
}

// unsealedRuns looks at the seals of a span and gives what is not sealed and not
// disowned yet.
func (r *Reader) unsealedRuns(ctx context.Context, s *sealer, in span) ([]unsealedRun, error) {
	if in.Upto == 0 {
		return nil, nil
	}
	var found []unsealedRun
	var known []span
	running := false
	var e entry
	err := r.each(ctx, `SELECT `+columns+` FROM entry WHERE seq >= $1 AND seq <= $2 ORDER BY seq`, []any{int64(in.From), int64(in.Upto)}, func(row []driver.Value) error {
		e = entry{}
		if err := e.scan(row); err == nil && s.fault(&e) == "" {
			running = false
			var d disowned
			if e.kind == kindDisown && json.Unmarshal(e.body, &d) == nil {
				known = append(known, d.span)
			}
			return nil
		}
		if !running {
			running = true
			found = append(found, unsealedRun{span{e.seq, e.seq}, e.call})
		}
		found[len(found)-1].Upto = e.seq
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("checking the seals of entries %d to %d: %w", in.From, in.Upto, err)
	}
	told := merged(known)
	return slices.DeleteFunc(found, func(f unsealedRun) bool { return told.around(f.From).Upto >= f.Upto }), nil
}

// disown says in the chain which entries are not the journal's.
func (j *Journal) disown(found []unsealedRun) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.w.within(func() error {
		for _, f := range found {
			d := disowned{span: f.span, Key: keyName(j.key.Public().(ed25519.PublicKey))}
			d.Sig = sign(j.key, d.statement(j.w.head.seq+1))
			if err := j.appendNote(kindDisown, d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range found {
		j.cfg.Log.Error("the journal has entries that it did not write; verify it", "from", f.From, "upto", f.Upto, "call", f.call)
	}
	j.wrote(len(found))
	return nil
}

// disownForeign accounts for what others wrote: it is sealed, or disowned in the
// chain. The head it gives, and no other, may be signed. cut is what this
// process found missing meanwhile.
func (j *Journal) disownForeign(ctx context.Context) (h head, cut *head, err error) {
	for {
		j.mu.Lock()
		h, cut = j.w.head, j.w.cut
		todo := j.w.foreign
		j.w.foreign = span{}
		j.mu.Unlock()
		found, err := j.unsealedRuns(ctx, newSealer(j.seal), todo)
		if err == nil && len(found) == 0 {
			return h, cut, nil
		}
		if err == nil {
			err = j.disown(found)
		}
		if err != nil {
			j.mu.Lock()
			j.w.foreign = j.w.foreign.with(todo)
			j.mu.Unlock()
			return head{}, nil, err
		}
	}
}

// spans is a set of entries: ranges in order that do not touch.
type spans []span

// merged puts ranges in order.
func merged(list []span) spans {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.From, b.From) })
	var out spans
	for _, s := range list {
		if n := len(out); n > 0 && s.From <= out[n-1].Upto {
			out[n-1].Upto = max(out[n-1].Upto, s.Upto)
			continue
		}
		out = append(out, s)
	}
	return out
}

// around gives the range that an entry is in; the zero span if it is in none.
func (s spans) around(seq uint64) span {
	i, found := slices.BinarySearchFunc(s, seq, func(x span, seq uint64) int {
		switch {
		case x.Upto < seq:
			return -1
		case x.From > seq:
			return 1
		}
		return 0
	})
	if !found {
		return span{}
	}
	return s[i]
}
