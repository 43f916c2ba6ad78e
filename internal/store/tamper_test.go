package store_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// TestTamperings changes a journal in every way that whoever can write its files
// has, and goes on with it. What was done is told before and after: the journal is
// not opened, or verifying finds it for ever.
func TestTamperings(t *testing.T) {
	sound, before := journalWith(t, 6), journalWith(t, 3)
	sql := func(queries ...string) func(*testing.T, store.Config) {
		return func(t *testing.T, cfg store.Config) {
			db := attacker(t, cfg)
			for _, q := range queries {
				run(t, db, q)
			}
		}
	}
	gone := func(names ...string) func(*testing.T, store.Config) {
		return func(t *testing.T, cfg store.Config) {
			for _, name := range names {
				remove(t, filepath.Join(keysOf(cfg), name))
			}
		}
	}
	both := func(steps ...func(*testing.T, store.Config)) func(*testing.T, store.Config) {
		return func(t *testing.T, cfg store.Config) {
			for _, step := range steps {
				step(t, cfg)
			}
		}
	}
	database := func(t *testing.T, cfg store.Config) { remove(t, cfg.Dir) }
	for name, attack := range map[string]func(*testing.T, store.Config){
		"all times":                 sql(`UPDATE entry SET at = 0`),
		"first times":               sql(`UPDATE entry SET at = 0 WHERE seq <= 2`),
		"tail":                      sql(`DELETE FROM entry WHERE seq > 11`),
		"tail and checkpoint":       both(sql(`DELETE FROM entry WHERE seq > 11`), gone("checkpoint.json")),
		"head":                      sql(`DELETE FROM entry WHERE seq < 3`),
		"middle":                    sql(`DELETE FROM entry WHERE seq = 5`),
		"everything":                sql(`DELETE FROM entry`),
		"everything and checkpoint": both(sql(`DELETE FROM entry`), gone("checkpoint.json")),
		"database":                  database,
		"database and checkpoint":   both(database, gone("checkpoint.json")),
		"all but the first":         sql(`DELETE FROM entry WHERE seq > 1`),
		"all but first, checkpoint": both(sql(`DELETE FROM entry WHERE seq > 1`), gone("checkpoint.json")),
		"keys":                      gone("private.pem", "public.pem", "seal.pem", "checkpoint.json"),
		"seal":                      gone("seal.pem"),
		"private, public, check":    gone("private.pem", "public.pem", "checkpoint.json"),
		"checkpoint":                gone("checkpoint.json"),
		"everything and seal":       both(sql(`DELETE FROM entry`), gone("seal.pem")),
		"everything, seal, check":   both(sql(`DELETE FROM entry`), gone("seal.pem", "checkpoint.json")),
		"trigger":                   sql(`CREATE TRIGGER t BEFORE INSERT ON entry BEGIN SELECT raise(ignore); END`),
		"outcome":                   sql(`UPDATE entry SET outcome = 'failed' WHERE seq = 3`),
		"body":                      sql(`UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), 'text', 'tixt') AS BLOB)`),
		"subject":                   sql(`UPDATE entry SET subject = 'x'`),
		"no seals":                  sql(`UPDATE entry SET seal = x''`),
		"version":                   sql(`UPDATE schema_version SET version = 99 WHERE version = 2`),
		"an index without a row": both( // by which a call could run twice
			sql(`PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, 'kind < 4', 'kind < 0') WHERE name = 'entry_call'`),
			sql(`REINDEX entry_call`),
			sql(`PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, 'kind < 0', 'kind < 4') WHERE name = 'entry_call'`)),
		"no version":                 sql(`DELETE FROM schema_version WHERE version = 2`),
		"a row twice":                sql(`INSERT INTO entry SELECT seq+100,kind,at,ref,duration,'zz',subject,session,tool,box,outcome,run,hash,body,seal FROM entry WHERE seq = 3`),
		"two rows change places":     sql(`UPDATE entry SET seq = -3 WHERE seq = 3`, `UPDATE entry SET seq = 3 WHERE seq = 5`, `UPDATE entry SET seq = 5 WHERE seq = -3`),
		"another's checkpoint":       func(t *testing.T, cfg store.Config) { replaceKeys(t, cfg, before, "checkpoint.json") },
		"everything, another's keys": both(sql(`DELETE FROM entry`), func(t *testing.T, cfg store.Config) { replaceKeys(t, cfg, before, "checkpoint.json") }),
	} {
		t.Run(name, func(t *testing.T) {
			cfg := copied(t, sound)
			attack(t, cfg)
			if r := verify(t, cfg); r.OK() {
				t.Errorf("nothing is found: %+v", r)
			}
			j, err := sqlite.Open(context.Background(), cfg)
			if err != nil {
				return // it does not go on, and everything is as it was found
			}
			calls(t, j, "next", 2)
			shut(t, j)
			for range 2 {
				if r := verify(t, cfg); r.OK() {
					t.Errorf("nothing is found after the next call: %+v", r)
				}
				j := open(t, cfg)
				shut(t, j)
			}
		})
	}
}

// TestBirthIsNotSuspicious: a process that dies while it makes the journal leaves
// nothing behind that a later one is blamed for.
func TestBirthIsNotSuspicious(t *testing.T) {
	for name, left := range map[string][]string{
		"only the public key":   {"public.pem"},
		"before the checkpoint": {"public.pem", "seal.pem"},
		"before the private":    {"public.pem", "seal.pem", "checkpoint.json"},
		"before the first row":  {"public.pem", "seal.pem", "checkpoint.json", "private.pem"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, birth := born(t)
			remove(t, cfg.Dir)
			writeFile(t, checkpointPath(cfg), birth)
			for file := range listing(t, keysOf(cfg)) {
				keep := false
				for _, l := range left {
					keep = keep || l == file
				}
				if !keep {
					remove(t, filepath.Join(keysOf(cfg), file))
				}
			}
			j := open(t, cfg)
			calls(t, j, "c", 2)
			shut(t, j)
			mustBeSound(t, cfg)
		})
	}
}

// born is a journal in which nothing stands yet, and the checkpoint of that moment,
// which the keeper may be quick to replace.
func born(t *testing.T) (store.Config, []byte) {
	t.Helper()
	for range 1000 {
		cfg := fresh(t)
		j := open(t, cfg)
		birth := readFile(t, checkpointPath(cfg))
		shut(t, j)
		if bytes.Contains(birth, []byte(`"seq":0,`)) {
			return cfg, birth
		}
	}
	t.Fatal("no checkpoint of an empty journal was seen")
	return store.Config{}, nil
}
