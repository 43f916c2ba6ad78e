package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// TestForgedTail appends calls that never were, in a well-made chain, behind
// the signed head of a closed journal.
func TestForgedTail(t *testing.T) {
	sound := journalWith(t, 10)
	var genuine []byte
	if err := attacker(t, sound).QueryRow(`SELECT seal FROM entry WHERE seq = 21`).Scan(&genuine); err != nil || len(genuine) != 16 {
		t.Fatalf("the seal %x, %v", genuine, err)
	}
	for name, test := range map[string]struct {
		seal []byte
		want store.Fault
	}{
		"no seal": {nil, store.Unsealed}, "guessed seal": {make([]byte, 16), store.Forged}, "another's seal": {genuine, store.Forged},
		"short seal": {genuine[:1], store.Forged}, "long seal": {append(genuine[:16:16], 0), store.Forged},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := copied(t, sound)
			signed := readFile(t, checkpointPath(cfg))
			f := forger{t, attacker(t, cfg), test.seal}
			for i := range 50 {
				f.call(fmt.Sprint("forged", i))
			}
			check := func(r store.Report, want store.Fault, findings int) {
				t.Helper()
				for i := range 100 {
					if f := mustFind(t, r, want, uint64(22+i)); f.Call != fmt.Sprint("forged", i/2) {
						t.Errorf("the call is not named: %v", f)
					}
				}
				if len(r.Findings) != findings {
					t.Errorf("%d findings: %v", len(r.Findings), r.Findings)
				}
			}
			check(verify(t, cfg), test.want, 100)
			if r := mustBeSound(t, withoutSecrets(t, cfg)); r.After != 100 || r.SealsUnchecked == "" {
				t.Errorf("without the key: %+v", r)
			}
			for round := range 3 {
				j := open(t, cfg)
				mustConflict(t, j, "forged7", 36)
				calls(t, j, fmt.Sprint("later", round, "-"), 3)
				shut(t, j)
				r := verify(t, cfg)
				check(r, test.want, 100)
				if want := 21 + 100 + 1 + 6*(round+1); r.Entries != want || r.After != 0 || r.SealsUnchecked != "" {
					t.Errorf("round %d: want %d entries, all of them signed: %+v", round, want, r)
				}
				// Now that the head is signed, the journal itself says so to all.
				r = verify(t, withoutSecrets(t, cfg))
				check(r, store.Forged, 100)
				if r.After != 0 {
					t.Errorf("without the key: %+v", r)
				}
				// As if the process had died before it signed: what was said is not
				// said again.
				writeFile(t, checkpointPath(cfg), signed)
			}
		})
	}
}

// TestForgedWhileOpen appends forged calls between those of a process that is
// at work. It must not sign over them in silence.
func TestForgedWhileOpen(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	f := forger{t, attacker(t, cfg), make([]byte, 16)}
	var bad []int64
	for i := range 5 {
		calls(t, j, fmt.Sprint("c", i, "-"), 3)
		b, e := f.call(fmt.Sprint("forged", i))
		bad = append(bad, b, e)
		mustConflict(t, j, fmt.Sprint("forged", i), b)
	}
	calls(t, j, "last", 1)
	for deadline := time.Now().Add(time.Minute); verify(t, cfg).After > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the head is not signed")
		}
	}
	for _, cfg := range []store.Config{cfg, withoutSecrets(t, cfg)} {
		r := verify(t, cfg)
		for _, seq := range bad {
			mustFind(t, r, store.Forged, uint64(seq))
		}
		if len(r.Findings) != len(bad) {
			t.Errorf("innocents are blamed: %v", r.Findings)
		}
	}
}

// TestForgedAnswer changes what is recorded of a genuine call.
func TestForgedAnswer(t *testing.T) {
	cfg := journalWith(t, 3)
	db := attacker(t, cfg)
	seqOf := func(call string, kind int) int64 {
		return number(t, db, `SELECT seq FROM entry WHERE call = ? AND kind = ?`, call, kind)
	}
	run(t, db, `UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), '"ok"', '"no"') AS BLOB) WHERE call = 'c0' AND kind = 2`)
	run(t, db, `UPDATE entry SET outcome = 'failed' WHERE call = 'c1' AND kind = 2`)
	run(t, db, `UPDATE entry SET tool = 'other' WHERE call = 'c2' AND kind = 1`)
	j := open(t, cfg)
	mustConflict(t, j, "c0", seqOf("c0", 2))
	mustConflict(t, j, "c1", seqOf("c1", 2))
	mustConflict(t, j, "c2", seqOf("c2", 1))
	// The call ID of a genuine entry cannot be lent to another call either.
	run(t, db, `UPDATE entry SET call = 'mine' WHERE call = 'c0'`)
	mustConflict(t, j, "mine", seqOf("mine", 1))
}

// TestForgedEnd closes a running call under the hands of its process, and
// another one before it begins.
func TestForgedEnd(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	f := forger{t, attacker(t, cfg), nil}
	r := newRecord("one")
	begin(t, j, r)
	seq := f.add(forged{kind: 2, ref: int64(r.Seq), call: "one", outcome: "done", body: `{}`})
	if err := j.End(t.Context(), ended(r)); !errors.Is(err, store.ErrForged) || !strings.Contains(err.Error(), "one") {
		t.Errorf("End: %v", err)
	}
	mustConflict(t, j, "one", seq)
	early := f.add(forged{kind: 2, ref: seq + 2, call: "two", outcome: "done", body: `{}`})
	r = newRecord("two")
	begin(t, j, r)
	if r.Seq != uint64(early)+1 {
		t.Fatalf("entry %d was not foreseen", r.Seq)
	}
	mustConflict(t, j, "two", early)
	shut(t, j)
	report := verify(t, cfg)
	mustFind(t, report, store.Unsealed, uint64(seq))
	mustFind(t, report, store.Unsealed, uint64(early))
	mustFind(t, report, store.Orphan, uint64(early))
}

// TestForgedMark forges what the journal says about itself.
func TestForgedMark(t *testing.T) {
	for name, e := range map[string]forged{
		"key":     {kind: 4, body: `{"key":"bXkga2V5"}`},
		"garbage": {kind: 4, body: `x`},
		"disown":  {kind: 6, body: `{"from":1,"upto":21,"key":"","sig":""}`},
		"prune":   {kind: 5, body: `{"upto":5,"hash":"","count":5}`},
		"no kind": {kind: 7, body: `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := journalWith(t, 10)
			f := forger{t, attacker(t, cfg), make([]byte, 16)}
			f.add(e)
			j := open(t, cfg)
			calls(t, j, "later", 3)
			shut(t, j)
			for _, cfg := range []store.Config{cfg, withoutSecrets(t, cfg)} {
				r := verify(t, cfg)
				mustFind(t, r, store.Forged, 22)
				for _, f := range r.Findings {
					if f.Seq != 22 {
						t.Errorf("an innocent entry is blamed: %v", f)
					}
				}
			}
		})
	}
}

// TestForgedNumber puts an entry at the end of all numbers.
func TestForgedNumber(t *testing.T) {
	cfg := journalWith(t, 3)
	db := attacker(t, cfg)
	run(t, db, `INSERT INTO entry SELECT 9223372036854775807, kind, at, ref, duration, 'q', subject, session, tool, box, outcome, run, hash, body, seal FROM entry WHERE seq = 7`)
	for range 2 {
		if j, err := sqlite.Open(t.Context(), cfg); !errors.Is(err, store.ErrForged) {
			t.Fatal(j, err)
		}
	}
	mustFind(t, verify(t, cfg), store.Forged, 1<<63-1)
	if n := number(t, db, `SELECT count(*) FROM entry WHERE seq < 1`); n > 0 {
		t.Errorf("%d entries have numbers that overflowed", n)
	}
}

// TestForgedOpenCall forges begins that never end: they must not be closed as
// if there had been such calls, and not be signed away either.
func TestForgedOpenCall(t *testing.T) {
	cfg, c := aging(t)
	j := open(t, cfg)
	some(t, j, c, "old", 10)
	shut(t, j)
	f := forger{t, attacker(t, cfg), nil}
	const dead = "00000000000000aa"
	for i := range 101 {
		f.add(forged{kind: 1, call: fmt.Sprint("forged", i), at: c.now().UnixNano(), run: dead, body: `{}`})
	}
	writeFile(t, filepath.Join(cfg.Dir, "run-"+dead+".lock"), nil)
	j = open(t, cfg)
	if n := number(t, f.db, `SELECT count(*) FROM entry WHERE kind = 3`); n > 0 {
		t.Errorf("%d calls that never were are interrupted", n)
	}
	some(t, j, c, "behind", 10)
	shut(t, j)
	c.pass(2 * time.Hour)
	j = open(t, cfg)
	some(t, j, c, "new", 1)
	if err := j.Prune(t.Context()); !errors.Is(err, store.ErrUnsound) {
		t.Error(err)
	}
	mustFind(t, verify(t, cfg), store.Unsealed, 22)
}
