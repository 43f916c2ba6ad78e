package store

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Verify checks a journal without making or changing anything. A journal that
// is gone while its checkpoint is still there is a finding and not an error.
func Verify(ctx context.Context, cfg Config, makeDriver func(Config) (Driver, error)) (Report, error) {
	r, err := openReader(cfg, makeDriver)
	if errors.Is(err, ErrNoJournal) {
		return verifyNothing(cfg, err)
	}
	if err != nil {
		return Report{}, err
	}
	report, err := r.Verify(ctx)
	return report, errors.Join(err, r.Close())
}

func verifyNothing(cfg Config, cause error) (Report, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return Report{}, err
	}
	cp, err := readCheckpoint(filepath.Join(cfg.Keys, checkpointFile))
	if err != nil {
		if _, e := os.Stat(filepath.Join(cfg.Keys, privateFile)); e != nil {
			return Report{}, cause
		}
		var r Report
		r.add(Finding{Kind: BadCheckpoint, Detail: "there is a key, and neither a journal nor a good checkpoint: whatever was recorded with it is gone: " + err.Error()})
		return r, nil
	}
	if cp.Seq == 0 {
		return Report{}, cause
	}
	r := Report{Checkpoint: cp}
	r.add(Finding{TailCut, cp.Seq, "", "there is no journal, and at " + cp.Time + " it had this entry"})
	return r, nil
}

// verification is the state of one check.
type verification struct {
	Report
	reader *Reader
	tx     *sql.Tx
	key    ed25519.PublicKey // nil: unknown

	witness []witness // what was signed about points of the chain
	prunes  []prunedAt
	sealer  *sealer // nil: the seals cannot be checked
	foreign spans   // what the journal says it did not write
	chain   chain
	open    map[uint64]callKey // begins without an end
}

// witness is a checkpoint that the chain has to agree with.
type witness struct {
	*Checkpoint
	file string
	met  bool // the chain goes through it
}

// Verify checks the whole journal: every entry against the chain, the chain
// against the checkpoint, and every end against its begin. It reads all
// entries and keeps only open calls in memory. Other processes may go on
// writing meanwhile. What is wrong is in the Report; an error means that it
// could not be checked.
func (r *Reader) Verify(ctx context.Context) (Report, error) {
	v := &verification{reader: r, open: map[uint64]callKey{}}
	// The checkpoint is read before the database: entries that come meanwhile
	// do not contradict it, the other way round they would.
	v.readWitnesses()
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Report{}, fmt.Errorf("verifying: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // it wrote nothing
	v.tx = tx
	for _, step := range []func(context.Context) error{
		v.schema, v.marks, v.entries, v.duplicates, v.integrity, v.retention,
	} {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil {
				return Report{}, fmt.Errorf("verifying: %w", ctx.Err())
			}
			if errors.Is(err, ErrSchema) {
				return Report{}, err
			}
			v.add(Finding{Kind: Damaged, Seq: v.chain.last.seq, Detail: "reading stopped behind this entry: " + err.Error()})
		}
	}
	v.conclude()
	return v.Report, nil
}

// readWitnesses reads the key, the checkpoint and the evidence of earlier
// contradictions.
func (v *verification) readWitnesses() {
	dir := v.reader.cfg.Keys
	key, err := loadPublic(dir)
	if err != nil {
		v.add(Finding{Kind: BadKey, Detail: "the public key cannot be read: " + err.Error()})
	}
	v.key = key
	if v.sealer, v.SealsUnchecked, err = sealForReading(dir); err != nil {
		v.add(Finding{Kind: BadKey, Detail: v.SealsUnchecked + ": " + err.Error()})
	}
	path := filepath.Join(dir, checkpointFile)
	cp, err := readCheckpoint(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.add(Finding{Kind: BadCheckpoint, Detail: "there is none at " + path + ": whether the end was cut off cannot be told"})
	case err != nil:
		v.add(Finding{Kind: BadCheckpoint, Detail: err.Error()})
	case v.believe(cp, checkpointFile):
		v.Checkpoint = cp
	}
	aside, err := filepath.Glob(filepath.Join(dir, suspectPattern))
	if err != nil { // only of a bad pattern
		v.add(Finding{Kind: BadCheckpoint, Detail: err.Error()})
	}
	slices.Sort(aside)
	for _, path := range aside {
		name := filepath.Base(path)
		if cp, err := readCheckpoint(path); err != nil {
			v.add(Finding{Kind: BadCheckpoint, Detail: "there was no good checkpoint when the journal went on; see " + name})
		} else {
			v.believe(cp, name)
		}
	}
}

// believe takes a checkpoint as a witness if its signature is good.
func (v *verification) believe(cp *Checkpoint, file string) bool {
	if v.key != nil {
		if err := cp.check(v.key); err != nil {
			v.add(Finding{Kind: BadCheckpoint, Seq: cp.Seq, Detail: file + ": " + err.Error()})
			return false
		}
	}
	v.witness = append(v.witness, witness{Checkpoint: cp, file: file, met: cp.Seq == 0})
	return true
}

// marks reads the prune entries, which say where the chain begins, and the
// disown entries, which say what in it is not the journal's.
func (v *verification) marks(ctx context.Context) error {
	var foreign []span
	err := eachRow(ctx, v.tx, `SELECT seq, kind, body, at FROM entry WHERE kind IN (5, 6) AND kind >= 4 ORDER BY seq`, nil, func(row []driver.Value) error {
		seq := uint64(asInt(row[0]))
		text, _ := row[2].([]byte)
		// Of one that cannot be read the chain will show that it was changed.
		if kind(asInt(row[1])) == kindPrune {
			p := prunedAt{seq: seq}
			if err := json.Unmarshal(text, &p.pruned); err == nil {
				v.removal(p, asInt(row[3]))
			}
			return nil
		}
		var d disowned
		if err := json.Unmarshal(text, &d); err == nil && (v.key == nil || signed(v.key, d.statement(seq), d.Sig)) {
			foreign = append(foreign, d.span)
		}
		return nil
	})
	v.foreign = merged(foreign)
	return err
}

// entries goes through the chain.
func (v *verification) entries(ctx context.Context) error {
	var e entry
	return eachRow(ctx, v.tx, `SELECT `+columns+` FROM entry ORDER BY seq`, nil, func(row []driver.Value) error {
		v.Entries++
		err := e.scan(row)
		if err == nil && int64(e.seq) < 1 {
			err = fmt.Errorf("it has the number %d", int64(e.seq))
			e.seq = 0
		}
		if err != nil {
			call, _ := row[5].(string)
			v.add(Finding{Kind: Changed, Seq: e.seq, Call: call, Detail: err.Error()})
			if e.seq > 0 {
				v.chain.start(head{seq: e.seq}, false)
			}
			return nil
		}
		if v.First == 0 {
			v.First = e.seq
			v.begin(e.seq)
		}
		v.checkEntry(&e)
		v.call(&e)
		return nil
	})
}

// begin finds the hash that the first entry builds on.
func (v *verification) begin(first uint64) {
	if first == 1 {
		v.chain.start(head{}, true)
		return
	}
	v.chain.start(head{seq: first - 1}, false)
	i := slices.IndexFunc(v.prunes, func(p prunedAt) bool { return p.Upto == first-1 })
	if i < 0 {
		v.add(Finding{Kind: Missing, Seq: 1, Detail: fmt.Sprintf("entries 1 to %d are gone, and no prune entry says so", first-1)})
		return
	}
	p := v.prunes[i]
	hash, err := hex.DecodeString(p.Hash)
	if err != nil || len(hash) != len(sum{}) || v.key != nil && !signed(v.key, p.statement(p.seq), p.Sig) {
		v.add(Finding{Kind: Missing, Seq: 1, Detail: fmt.Sprintf("entries 1 to %d are gone, and the prune entry %d that says so is not signed by the journal's key", first-1, p.seq)})
		return
	}
	v.chain.start(head{first - 1, sum(hash)}, true)
}

// call keeps account of begins and ends.
func (v *verification) call(e *entry) {
	switch {
	case e.kind == kindBegin:
		v.Calls++
		v.open[e.seq] = e.key()
	case e.kind.closes():
		k, ok := v.open[e.ref]
		switch {
		case ok && k == e.key():
			delete(v.open, e.ref)
		case e.ref < v.First: // its begin was pruned
		default:
			v.add(Finding{Orphan, e.seq, e.call, fmt.Sprintf("it closes entry %d, which is no open begin of this call", e.ref)})
		}
	case e.kind == kindKey || e.kind == kindPrune || e.kind == kindDisown:
		var m mark
		if err := json.Unmarshal(e.body, &m); err != nil || v.key != nil && m.Key != keyName(v.key) {
			v.add(Finding{BadKey, e.seq, "", "it names the key " + m.Key + ", which is not the one in the key directory"})
		}
	default:
		v.add(Finding{Changed, e.seq, e.call, "there is no entry of " + e.kind.String()})
	}
}

// duplicates looks for calls that begin or end twice. The index forbids it; it
// may have been taken away.
func (v *verification) duplicates(ctx context.Context) error {
	return eachRow(ctx, v.tx, `SELECT max(seq), call, count(*) FROM entry WHERE kind < 4
		GROUP BY call, subject, kind, ref HAVING count(*) > 1 LIMIT 1000`, nil, func(row []driver.Value) error {
		call, _ := row[1].(string)
		v.add(Finding{Duplicate, uint64(asInt(row[0])), call, fmt.Sprintf("there are %d entries of this kind for one call", asInt(row[2]))})
		return nil
	})
}

// integrity asks the database whether it is whole: by a damaged index a call
// could run twice.
func (v *verification) integrity(ctx context.Context) error {
	if v.reader.drv.Check == "" {
		return nil
	}
	return eachRow(ctx, v.tx, v.reader.drv.Check, nil, func(row []driver.Value) error {
		if text := fmt.Sprint(row[0]); text != "ok" {
			v.add(Finding{Kind: Damaged, Detail: text})
		}
		return nil
	})
}
