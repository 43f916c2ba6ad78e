package store_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/store"
)

// forger appends entries as somebody can who may write the database and knows
// its format, but has no key: the chain it makes is perfect.
type forger struct {
	t    testing.TB
	db   *sql.DB
	seal []byte // what it puts where the seal belongs
}

type forged struct {
	kind, ref, at       int64
	call, outcome, body string
	run                 string
}

func (f *forger) add(e forged) (seq int64) {
	f.t.Helper()
	prev := make([]byte, 32)
	err := f.db.QueryRow(`SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1`).Scan(&seq, &prev)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		f.t.Fatal(err)
	}
	seq++
	texts := []string{e.call, "alice", "s1", "append_line", "", e.outcome, e.run, e.body}
	if e.kind > 3 {
		texts = []string{"", "", "", "", "", "", e.run, e.body}
	}
	b := prev
	for _, n := range []int64{seq, e.kind, e.at, e.ref, 0} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	for _, s := range texts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	hash := sha256.Sum256(b)
	args := []any{seq, e.kind, e.at, e.ref, 0}
	for _, s := range texts[:7] {
		args = append(args, s)
	}
	seal := f.seal
	if seal == nil {
		seal = []byte{}
	}
	_, err = f.db.Exec(`INSERT INTO entry VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`, append(args, hash[:], []byte(e.body), seal)...)
	if err != nil && strings.Contains(err.Error(), "entry.seq") {
		return f.add(e) // the journal was quicker: forge behind its entry
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return seq
}

// call forges a call with a result.
func (f *forger) call(id string) (begin, end int64) {
	begin = f.add(forged{kind: 1, call: id, body: `{"input":{},"input_hash":"abc"}`})
	end = f.add(forged{kind: 2, ref: begin, call: id, outcome: "done", body: `{"result":{"content":[{"type":"text","text":"666"}]}}`})
	return begin, end
}

// withoutSecrets is how somebody sees a journal who only has what is public.
func withoutSecrets(t testing.TB, cfg store.Config) store.Config {
	t.Helper()
	to := copied(t, cfg)
	remove(t, filepath.Join(keysOf(to), "private.pem"), filepath.Join(keysOf(to), "seal.pem"))
	return to
}

// mustConflict fails unless the call ID is refused because of a forged entry,
// which is named.
func mustConflict(t testing.TB, j *store.Journal, id string, seq int64) {
	t.Helper()
	old, err := j.Begin(t.Context(), newRecord(id))
	if old != nil || !errors.Is(err, store.ErrForged) || toolcrib.CodeOf(err) != toolcrib.CodeConflict {
		t.Fatalf("call %s is answered with %+v, %v", id, old, err)
	}
	for _, part := range []string{id, fmt.Sprintf("entry %d", seq)} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not name %q: %v", part, err)
		}
	}
}
