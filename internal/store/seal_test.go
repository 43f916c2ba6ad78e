package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

func sealPath(cfg store.Config) string { return filepath.Join(keysOf(cfg), "seal.pem") }

// TestSealKey takes the secret of the seals away, or puts another in its place.
func TestSealKey(t *testing.T) {
	sound, stranger := journalWith(t, 5), journalWith(t, 5)
	for name, test := range map[string]struct {
		attack func(t *testing.T, cfg store.Config)
		kind   store.Fault
		seq    uint64
	}{
		"gone":    {func(t *testing.T, cfg store.Config) { remove(t, sealPath(cfg)) }, store.BadKey, 0},
		"spoiled": {func(t *testing.T, cfg store.Config) { writeFile(t, sealPath(cfg), []byte("x")) }, store.BadKey, 0},
		"short": {func(t *testing.T, cfg store.Config) {
			writeFile(t, sealPath(cfg), []byte("-----BEGIN TOOLCRIB JOURNAL SEAL KEY-----\nAAAA\n-----END TOOLCRIB JOURNAL SEAL KEY-----\n"))
		}, store.BadKey, 0},
		"another": {func(t *testing.T, cfg store.Config) { replaceKeys(t, cfg, stranger, "seal.pem") }, store.Forged, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := copied(t, sound)
			test.attack(t, cfg)
			mustFind(t, verify(t, cfg), test.kind, test.seq)
			before := listing(t, keysOf(cfg))["seal.pem"]
			j, err := sqlite.Open(context.Background(), cfg)
			if err == nil {
				t.Error("the journal goes on")
				shut(t, j)
			}
			if name != "spoiled" && name != "short" && !errors.Is(err, store.ErrKey) {
				t.Errorf("want ErrKey, got %v", err)
			}
			if listing(t, keysOf(cfg))["seal.pem"] != before {
				t.Error("a key was made")
			}
		})
	}
	t.Run("elsewhere", func(t *testing.T) {
		if r := mustBeSound(t, withoutSecrets(t, sound)); r.SealsUnchecked == "" {
			t.Error("nothing tells that the seals were not checked")
		}
		if r := mustBeSound(t, sound); r.SealsUnchecked != "" || r.Unsealed != 0 {
			t.Errorf("with the key: %+v", r)
		}
	})
}

// unsealed turns a closed journal into one as it was before there were seals.
func unsealed(t testing.TB, cfg store.Config) {
	t.Helper()
	db := attacker(t, cfg)
	db.SetMaxOpenConns(1)
	first := readFile(t, filepath.Join("sqlite", "migrations", "0001_entries.sql"))
	for _, step := range []string{
		`CREATE TABLE kept AS SELECT * FROM entry`, `DROP TABLE entry`, string(first),
		`INSERT INTO entry SELECT seq, kind, at, ref, duration, call, subject, session, tool, box, outcome, run, hash, body FROM kept`,
		`DROP TABLE kept`, `DELETE FROM schema_version WHERE version > 1`,
	} {
		run(t, db, step)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	remove(t, sealPath(cfg))
}

// TestUpgrade opens a journal from before there were seals.
func TestUpgrade(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	calls(t, j, "c", 10)
	begin(t, j, newRecord("lost"))
	shut(t, j)
	unsealed(t, cfg)
	for name, err := range map[string]error{
		"verify": second(sqlite.Verify(t.Context(), cfg)), "read": second(sqlite.OpenReader(t.Context(), cfg)),
	} {
		if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "open it for writing") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for round := range 2 {
		j = open(t, cfg)
		calls(t, j, string(rune('x'+round)), 5)
		if got, err := j.Get(t.Context(), "lost"); err != nil || got.Outcome != toolcrib.Interrupted {
			t.Errorf("the call that was open: %+v, %v", got, err)
		}
		mustConflict(t, j, "lost", 22)
		if old, err := j.Begin(t.Context(), newRecord("x0")); err != nil || old == nil {
			t.Errorf("a sealed call: %v, %v", old, err)
		}
		shut(t, j)
		if r := mustBeSound(t, cfg); r.Unsealed != 22 || r.Calls != 11+5*(round+1) {
			t.Errorf("%+v", r)
		}
	}
	if info, err := os.Stat(sealPath(cfg)); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the secret is open to others: %v %v", info, err)
	}
	t.Run("seal taken off", func(t *testing.T) {
		cfg := copied(t, cfg)
		run(t, attacker(t, cfg), `UPDATE entry SET seal = x'' WHERE seq = 23`)
		mustFindOnly(t, verify(t, cfg), store.Unsealed, 23)
	})
	t.Run("false seal on an old entry", func(t *testing.T) {
		cfg := copied(t, cfg)
		run(t, attacker(t, cfg), `UPDATE entry SET seal = (SELECT seal FROM entry WHERE seq = 23) WHERE seq = 5`)
		mustFindOnly(t, verify(t, cfg), store.Forged, 5)
	})
	t.Run("forged", func(t *testing.T) {
		cfg := copied(t, cfg)
		f := forger{t, attacker(t, cfg), nil}
		b, e := f.call("forged")
		mustFindOnly(t, verify(t, cfg), store.Unsealed, uint64(b), uint64(e))
	})
	t.Run("begun anew", func(t *testing.T) { // what the old one was allowed the new one is not
		cfg := copied(t, cfg)
		remove(t, cfg.Dir)
		shut(t, open(t, cfg))
		f := forger{t, attacker(t, cfg), nil}
		b, e := f.call("forged")
		r := verify(t, cfg)
		mustFind(t, r, store.Unsealed, uint64(b))
		mustFind(t, r, store.Unsealed, uint64(e))
	})
}

// TestUpgradeUnsigned: of a journal from before there were seals only what
// was signed is believed.
func TestUpgradeUnsigned(t *testing.T) {
	for name, test := range map[string]struct {
		attack func(cfg store.Config, cp []byte)
		from   uint64
	}{
		"behind the checkpoint": {func(cfg store.Config, cp []byte) { writeFile(t, checkpointPath(cfg), cp) }, 12},
		"no checkpoint":         {func(cfg store.Config, _ []byte) { remove(t, checkpointPath(cfg)) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := journalWith(t, 5)
			cp := readFile(t, checkpointPath(cfg))
			j := open(t, cfg)
			calls(t, j, "d", 5)
			shut(t, j)
			unsealed(t, cfg)
			test.attack(cfg, cp)
			for range 2 {
				shut(t, open(t, cfg))
				r := verify(t, cfg)
				for seq := test.from; seq <= 21; seq++ {
					mustFind(t, r, store.Unsealed, seq)
				}
				if r.Unsealed != int(test.from)-1 || r.After != 0 {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

// TestForgedSpill writes ends into the file of those that the database did
// not take, which lies beside it.
func TestForgedSpill(t *testing.T) {
	cfg := fresh(t)
	j, err := sqlite.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"genuine", "edited", "lent", "forged"} {
		begin(t, j, newRecord(id))
	}
	restore := refusing(t, cfg)
	for _, id := range []string{"genuine", "edited"} {
		end(t, j, newRecord(id))
	}
	if err := j.Close(context.Background()); err == nil {
		t.Error("Close does not tell that ends could not be written")
	}
	restore()
	files := spills(t, cfg)
	if len(files) != 1 {
		t.Fatalf("spill files: %v", files)
	}
	lines := strings.SplitAfter(string(readFile(t, files[0])), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], `"genuine"`) {
		t.Fatalf("%q", lines)
	}
	text := lines[0] +
		strings.Replace(lines[1], `"done"`, `"failed"`, 1) +
		strings.Replace(lines[0], `"genuine"`, `"lent"`, 1) +
		`{"at_ns":1,"call":"forged","subject":"alice","outcome":"done","ref":5,"body":{},"seal":""}` + "\n"
	writeFile(t, files[0], []byte(text))
	j = open(t, cfg)
	for id, want := range map[string]toolcrib.Outcome{
		"genuine": toolcrib.Done, "edited": toolcrib.Interrupted, "lent": toolcrib.Interrupted, "forged": toolcrib.Interrupted,
	} {
		if got, err := j.Get(t.Context(), id); err != nil || got.Outcome != want {
			t.Errorf("%s: want %s, got %s, %v", id, want, got.Outcome, err)
		}
	}
	mustBeSound(t, cfg)
}

// TestReplayedSpill puts an old spill file back when its call is forgotten and
// the call ID used again.
func TestReplayedSpill(t *testing.T) {
	cfg, c := aging(t)
	j := open(t, cfg)
	r := newRecord("one")
	r.Start = c.now()
	begin(t, j, r)
	restore := refusing(t, cfg)
	end(t, j, r)
	files := spills(t, cfg)
	if len(files) != 1 {
		t.Fatalf("spill files: %v", files)
	}
	kept := readFile(t, files[0])
	restore()
	recovered(t, j)
	shut(t, j)
	c.pass(2 * time.Hour)
	j = open(t, cfg)
	pruned(t, cfg, 4)
	again := newRecord("one")
	again.Start = c.now()
	begin(t, j, again)
	writeFile(t, files[0], kept)
	shut(t, open(t, cfg))
	if got, err := j.Get(t.Context(), "one"); err != nil || got.Outcome != "" {
		t.Errorf("the new call has the old end: %+v, %v", got, err)
	}
	if n := number(t, attacker(t, cfg), `SELECT count(*) FROM entry WHERE kind = 2`); n > 0 {
		t.Error("the old end was written again")
	}
	mustBeSound(t, cfg)
}
