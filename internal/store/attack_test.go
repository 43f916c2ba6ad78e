package store_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// copied is a copy of a closed journal, to be spoiled.
func copied(t testing.TB, cfg store.Config) store.Config {
	t.Helper()
	to := cfg
	to.Dir = filepath.Join(t.TempDir(), "journal")
	to.Keys = to.Dir + "-key"
	for from, dir := range map[string]string{cfg.Dir: to.Dir, cfg.Dir + "-key": to.Keys} {
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestOneByte changes one byte in every column of every table.
func TestOneByte(t *testing.T) {
	sound := journalWith(t, 20)
	mustBeSound(t, copied(t, sound))
	db := attacker(t, copied(t, sound))
	rows, err := db.Query(`SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	random := rand.New(rand.NewPCG(1, 2))
	columns := 0
	for rows.Next() {
		var table, column, typ string
		if err := rows.Scan(&table, &column, &typ); err != nil {
			t.Fatal(err)
		}
		columns++
		t.Run(table+"."+column, func(t *testing.T) {
			for range 3 {
				cfg := copied(t, sound)
				seq := spoil(t, cfg, random, table, column, typ)
				r := verify(t, cfg)
				switch {
				case table == "schema_version":
					mustFind(t, r, store.Schema, 0)
				case column == "seal":
					mustFindOnly(t, r, store.Forged, seq)
				case column == "seq":
					mustFind(t, r, store.Missing, seq)
					f := mustFind(t, r, store.Reordered, seq+1<<40)
					if !strings.Contains(f.Detail, fmt.Sprintf("entry %d", seq)) {
						t.Errorf("the old place is not named: %v", f)
					}
				default:
					f := mustFind(t, r, store.Changed, seq)
					if want := callAt(t, cfg, seq); f.Call != want {
						t.Errorf("want call %q named, got %v", want, f)
					}
				}
			}
		})
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if columns != 15+3 {
		t.Errorf("%d columns were tried", columns)
	}
}

func callAt(t testing.TB, cfg store.Config, seq uint64) (call string) {
	t.Helper()
	if err := attacker(t, cfg).QueryRow(`SELECT call FROM entry WHERE seq = ?`, seq).Scan(&call); err != nil {
		t.Fatal(err)
	}
	return call
}

// spoil changes one byte of a column in a row it chooses.
func spoil(t testing.TB, cfg store.Config, random *rand.Rand, table, column, typ string) uint64 {
	t.Helper()
	db := attacker(t, cfg)
	n := number(t, db, `SELECT count(*) FROM `+table)
	at := random.Int64N(n)
	if column == "seq" && at == n-1 {
		at-- // the last entry is told from a cut end; see TestRenumber
	}
	rowid := number(t, db, fmt.Sprintf(`SELECT rowid FROM %s ORDER BY rowid LIMIT 1 OFFSET %d`, table, at))
	set := func(value any) {
		run(t, db, fmt.Sprintf(`UPDATE %s SET %s = ? WHERE rowid = ?`, table, column), value, rowid)
	}
	read := func(into any) {
		if err := db.QueryRow(fmt.Sprintf(`SELECT %s FROM %s WHERE rowid = ?`, column, table), rowid).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case column == "seq":
		set(rowid + 1<<40)
	case typ == "INTEGER":
		var v int64
		read(&v)
		set(v ^ 1<<(8*random.IntN(7)+3))
	case typ == "TEXT":
		var v string
		read(&v)
		b := []byte(v + "x") // an empty one gets a byte
		b[random.IntN(len(b))] ^= 4
		set(string(b))
	case typ == "BLOB":
		var b []byte
		read(&b)
		b[random.IntN(len(b))] ^= 1
		set(b)
	default:
		t.Fatalf("no idea how to spoil %s", typ)
	}
	return uint64(rowid)
}

func TestRemoved(t *testing.T) {
	sound := journalWith(t, 20) // entries 1 to 41: the key, 20 begins, 20 ends
	for name, test := range map[string]struct {
		attack string
		check  func(t *testing.T, r store.Report)
	}{
		"first":  {`DELETE FROM entry WHERE seq = 1`, func(t *testing.T, r store.Report) { mustFindOnly(t, r, store.Missing, 1) }},
		"prefix": {`DELETE FROM entry WHERE seq <= 11`, func(t *testing.T, r store.Report) { mustFind(t, r, store.Missing, 1) }},
		"middle": {`DELETE FROM entry WHERE seq = 20`, func(t *testing.T, r store.Report) {
			mustFind(t, r, store.Missing, 20)
			if !slices.ContainsFunc(r.Findings, func(f store.Finding) bool { return f.Kind == store.Missing && f.Detail == "the entry is gone" }) {
				t.Errorf("one entry that is gone is told as %v", r.Findings)
			}
		}},
		"some": {`DELETE FROM entry WHERE seq BETWEEN 20 AND 22 OR seq = 30`, func(t *testing.T, r store.Report) {
			mustFind(t, r, store.Missing, 20)
			mustFind(t, r, store.Missing, 30)
		}},
		"last":  {`DELETE FROM entry WHERE seq = 41`, func(t *testing.T, r store.Report) { mustFindOnly(t, r, store.TailCut, 41) }},
		"tail":  {`DELETE FROM entry WHERE seq >= 30`, func(t *testing.T, r store.Report) { mustFindOnly(t, r, store.TailCut, 41) }},
		"all":   {`DELETE FROM entry`, func(t *testing.T, r store.Report) { mustFindOnly(t, r, store.TailCut, 41) }},
		"table": {`DROP TABLE entry`, func(t *testing.T, r store.Report) { mustFind(t, r, store.TailCut, 41) }},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := copied(t, sound)
			run(t, attacker(t, cfg), test.attack)
			test.check(t, verify(t, cfg))
		})
	}
}

// TestSwapped lets two entries change places, next to each other and apart.
func TestSwapped(t *testing.T) {
	sound := journalWith(t, 20)
	for _, pair := range [][2]uint64{{10, 11}, {10, 12}, {10, 30}, {2, 41}, {1, 2}} {
		t.Run(fmt.Sprint(pair), func(t *testing.T) {
			cfg := copied(t, sound)
			db := attacker(t, cfg)
			for _, step := range [][2]uint64{{pair[0], 1000}, {pair[1], pair[0]}, {1000, pair[1]}} {
				run(t, db, `UPDATE entry SET seq = ? WHERE seq = ?`, step[1], step[0])
			}
			r := verify(t, cfg)
			for i, seq := range pair {
				f := mustFind(t, r, store.Reordered, seq)
				if want := fmt.Sprintf("it was written as entry %d", pair[1-i]); f.Detail != want || f.Call != callAt(t, cfg, seq) {
					t.Errorf("want %q, got %v", want, f)
				}
			}
			for _, f := range r.Findings {
				if f.Kind == store.Changed || f.Kind == store.Missing {
					t.Errorf("an innocent entry is blamed: %v", f)
				}
			}
		})
	}
	t.Run("before a forged one", func(t *testing.T) {
		cfg := copied(t, sound)
		db := attacker(t, cfg)
		for _, step := range [][2]uint64{{10, 1000}, {11, 10}, {1000, 11}} {
			run(t, db, `UPDATE entry SET seq = ? WHERE seq = ?`, step[1], step[0])
		}
		run(t, db, `UPDATE entry SET seal = zeroblob(16) WHERE seq = 12`)
		mustFind(t, verify(t, cfg), store.Forged, 12)
	})
	t.Run("bodies", func(t *testing.T) {
		cfg := copied(t, sound)
		db := attacker(t, cfg)
		// Two begins whose content differs: all of it but the hash changes places.
		run(t, db, `DROP INDEX entry_call`)
		run(t, db, `CREATE TABLE kept AS SELECT * FROM entry`)
		run(t, db, `UPDATE entry SET (kind, at, ref, duration, call, outcome, box, body) =
			(SELECT kind, at, ref, duration, call, outcome, box, body FROM kept WHERE kept.seq = 50 - entry.seq) WHERE seq IN (20, 30)`)
		r := verify(t, cfg)
		mustFind(t, r, store.Reordered, 20)
		mustFind(t, r, store.Reordered, 30)
	})
}

func TestRenumbered(t *testing.T) {
	sound := journalWith(t, 20)
	t.Run("last", func(t *testing.T) {
		cfg := copied(t, sound)
		run(t, attacker(t, cfg), `UPDATE entry SET seq = 50 WHERE seq = 41`)
		mustFind(t, verify(t, cfg), store.Reordered, 50)
	})
	t.Run("negative", func(t *testing.T) {
		cfg := copied(t, sound)
		run(t, attacker(t, cfg), `UPDATE entry SET seq = -5 WHERE seq = 20`)
		r := verify(t, cfg)
		mustFind(t, r, store.Missing, 20)
		mustFind(t, r, store.Changed, 0)
	})
	t.Run("shifted", func(t *testing.T) { // one is removed and the gap closed
		cfg := copied(t, sound)
		db := attacker(t, cfg)
		run(t, db, `DELETE FROM entry WHERE seq = 20`)
		for seq := 21; seq <= 41; seq++ {
			run(t, db, `UPDATE entry SET seq = ? WHERE seq = ?`, seq-1, seq)
		}
		r := verify(t, cfg)
		mustFind(t, r, store.Changed, 20)
		mustFind(t, r, store.TailCut, 41)
	})
}

// TestFileBytes flips bytes of the database file itself. Whatever can still
// be read of a journal that verifies must be what was written.
func TestFileBytes(t *testing.T) {
	sound := journalWith(t, 60)
	want := export(t, copied(t, sound))
	random := rand.New(rand.NewPCG(3, 4))
	found := 0
	const flips = 120
	for range flips {
		cfg := copied(t, sound)
		path := filepath.Join(cfg.Dir, "journal.db")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at, bit := random.IntN(len(data)), byte(1)<<random.IntN(8)
		data[at] ^= bit
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := sqlite.Verify(context.Background(), cfg)
		if err != nil || !r.OK() {
			found++
			continue
		}
		if got := export(t, cfg); got != want {
			t.Errorf("flipping %#x at %d changes the journal and is not found", bit, at)
		}
	}
	if found < flips/3 {
		t.Errorf("only %d of %d flips were found", found, flips)
	}
	t.Logf("%d of %d flips were found, the others changed nothing that is read", found, flips)
}

func export(t testing.TB, cfg store.Config) string {
	t.Helper()
	r, err := sqlite.OpenReader(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out bytes.Buffer
	if err := r.Export(context.Background(), &out, store.Filter{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
