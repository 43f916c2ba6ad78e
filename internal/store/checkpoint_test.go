package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

func keysOf(cfg store.Config) string { return cfg.Dir + "-key" }

func checkpointPath(cfg store.Config) string { return filepath.Join(keysOf(cfg), "checkpoint.json") }

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCheckpointWhileOpen waits for the checkpoint that is written in the
// background.
func TestCheckpointWhileOpen(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	calls(t, j, "c", 10)
	var r store.Report
	for range 100 {
		if r = mustBeSound(t, cfg); r.After == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if r.After != 0 || r.Entries != 21 || r.Calls != 10 || r.Open != 0 || r.First != 1 || r.Head != 21 {
		t.Errorf("after two seconds: %+v", r)
	}
	begin(t, j, newRecord("open"))
	if r = mustBeSound(t, cfg); r.Open != 1 || r.After != 1 {
		t.Errorf("with an open call: %+v", r)
	}
}

func TestCheckpointAttacked(t *testing.T) {
	sound := journalWith(t, 10)
	stranger := journalWith(t, 30)
	for name, test := range map[string]struct {
		attack func(t *testing.T, cfg store.Config)
		kind   store.Fault
		seq    uint64
	}{
		"deleted": {func(t *testing.T, cfg store.Config) { remove(t, checkpointPath(cfg)) }, store.BadCheckpoint, 0},
		"emptied": {func(t *testing.T, cfg store.Config) { writeFile(t, checkpointPath(cfg), nil) }, store.BadCheckpoint, 0},
		"of another": {func(t *testing.T, cfg store.Config) {
			writeFile(t, checkpointPath(cfg), readFile(t, checkpointPath(stranger)))
		}, store.BadCheckpoint, 61},
		"seq":       {edited(func(c *store.Checkpoint) { c.Seq-- }), store.BadCheckpoint, 20},
		"hash":      {edited(func(c *store.Checkpoint) { c.Hash = c.Hash[1:] + c.Hash[:1] }), store.BadCheckpoint, 21},
		"time":      {edited(func(c *store.Checkpoint) { c.Time = "2020-01-01T00:00:00Z" }), store.BadCheckpoint, 21},
		"sig":       {edited(func(c *store.Checkpoint) { c.Sig = otherLetter(c.Sig[:1]) + c.Sig[1:] }), store.BadCheckpoint, 21},
		"no key":    {func(t *testing.T, cfg store.Config) { remove(t, filepath.Join(keysOf(cfg), "public.pem")) }, store.BadKey, 0},
		"other key": {func(t *testing.T, cfg store.Config) { replaceKeys(t, cfg, stranger, "public.pem") }, store.BadKey, 1},
		"all keys": {func(t *testing.T, cfg store.Config) {
			replaceKeys(t, cfg, stranger, "public.pem", "private.pem", "checkpoint.json")
		}, store.BadKey, 1},
		"no database":    {func(t *testing.T, cfg store.Config) { remove(t, cfg.Dir) }, store.TailCut, 21},
		"database of it": {func(t *testing.T, cfg store.Config) { replaceDatabase(t, cfg, stranger) }, store.TailCut, 21},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := copied(t, sound)
			test.attack(t, cfg)
			mustFind(t, verify(t, cfg), test.kind, test.seq)
		})
	}
}

func edited(change func(*store.Checkpoint)) func(*testing.T, store.Config) {
	return func(t *testing.T, cfg store.Config) {
		var c store.Checkpoint
		if err := json.Unmarshal(readFile(t, checkpointPath(cfg)), &c); err != nil {
			t.Fatal(err)
		}
		change(&c)
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, checkpointPath(cfg), text)
	}
}

func replaceKeys(t *testing.T, cfg, from store.Config, names ...string) {
	for _, name := range names {
		writeFile(t, filepath.Join(keysOf(cfg), name), readFile(t, filepath.Join(keysOf(from), name)))
	}
}

func replaceDatabase(t *testing.T, cfg, from store.Config) {
	remove(t, cfg.Dir)
	if err := os.CopyFS(cfg.Dir, os.DirFS(from.Dir)); err != nil {
		t.Fatal(err)
	}
}

// TestOlderCheckpoint puts an older genuine checkpoint back. Alone it proves
// less, and says nothing false; with the database cut to the same point it is
// an older state of everything, which cannot be told from the truth. That is
// the limit of what is kept on one machine; the package comment says so.
func TestOlderCheckpoint(t *testing.T) {
	cfg := journalWith(t, 10)
	old := readFile(t, checkpointPath(cfg))
	j := open(t, cfg)
	calls(t, j, "d", 10)
	shut(t, j)
	writeFile(t, checkpointPath(cfg), old)
	if r := mustBeSound(t, cfg); r.After != 20 {
		t.Errorf("want 20 entries behind the old checkpoint, got %d", r.After)
	}
	run(t, attacker(t, cfg), `DELETE FROM entry WHERE seq > 21`)
	mustBeSound(t, cfg)
	run(t, attacker(t, cfg), `DELETE FROM entry WHERE seq > 20`)
	mustFindOnly(t, verify(t, cfg), store.TailCut, 21)
}

// TestEvidenceStays: going on after an attack must not hide it.
func TestEvidenceStays(t *testing.T) {
	for name, test := range map[string]struct {
		attack func(t *testing.T, cfg store.Config)
		kind   store.Fault
		seq    uint64
	}{
		"tail cut":           {func(t *testing.T, cfg store.Config) { run(t, attacker(t, cfg), `DELETE FROM entry WHERE seq > 15`) }, store.TailCut, 21},
		"no database":        {func(t *testing.T, cfg store.Config) { remove(t, cfg.Dir) }, store.TailCut, 21},
		"no checkpoint":      {func(t *testing.T, cfg store.Config) { remove(t, checkpointPath(cfg)) }, store.BadCheckpoint, 0},
		"spoiled checkpoint": {func(t *testing.T, cfg store.Config) { writeFile(t, checkpointPath(cfg), []byte("{}")) }, store.BadCheckpoint, 0},
		"edited checkpoint":  {edited(func(c *store.Checkpoint) { c.Seq = 5 }), store.BadCheckpoint, 5},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := journalWith(t, 10)
			test.attack(t, cfg)
			for round := range 3 {
				j := open(t, cfg)
				calls(t, j, string(rune('x'+round)), 20)
				shut(t, j)
			}
			r := verify(t, cfg)
			mustFind(t, r, test.kind, test.seq)
			if r.After != 0 {
				t.Errorf("the journal did not go on: %+v", r)
			}
		})
	}
}

// TestCutWhileOpen cuts the end off under the hands of a process that has
// written it. It knows what it wrote, checkpoint or not.
func TestCutWhileOpen(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	calls(t, j, "c", 10)
	run(t, attacker(t, cfg), `DELETE FROM entry WHERE seq > 15`)
	r := newRecord("next")
	begin(t, j, r)
	calls(t, j, "d", 10)
	shut(t, j)
	mustFind(t, verify(t, cfg), store.TailCut, 21)
}

// TestKeyIsNeverReplaced: a journal that was signed by one key does not go on
// with another.
func TestKeyIsNeverReplaced(t *testing.T) {
	sound := journalWith(t, 5)
	stranger := journalWith(t, 5)
	for name, attack := range map[string]func(t *testing.T, cfg store.Config){
		"no private key":   func(t *testing.T, cfg store.Config) { remove(t, filepath.Join(keysOf(cfg), "private.pem")) },
		"no key directory": func(t *testing.T, cfg store.Config) { remove(t, keysOf(cfg)) },
		"another key":      func(t *testing.T, cfg store.Config) { replaceKeys(t, cfg, stranger, "private.pem", "public.pem") },
		"another directory": func(t *testing.T, cfg store.Config) {
			replaceKeys(t, cfg, stranger, "private.pem", "public.pem", "checkpoint.json")
		},
		"no key, no database": func(t *testing.T, cfg store.Config) { remove(t, cfg.Dir, filepath.Join(keysOf(cfg), "private.pem")) },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := copied(t, sound)
			attack(t, cfg)
			before := listing(t, keysOf(cfg))
			j, err := sqlite.Open(context.Background(), cfg)
			if err == nil {
				shut(t, j)
			}
			if !errors.Is(err, store.ErrKey) {
				t.Errorf("want ErrKey, got %v", err)
			}
			if after := listing(t, keysOf(cfg)); before["private.pem"] != after["private.pem"] {
				t.Error("a key was made")
			}
		})
	}
}

// listing gives the files below a directory and what is in them.
func listing(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return files
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files[e.Name()] = string(readFile(t, filepath.Join(dir, e.Name())))
	}
	return files
}

func TestKeyIsKept(t *testing.T) {
	cfg := journalWith(t, 1)
	before := readFile(t, filepath.Join(keysOf(cfg), "private.pem"))
	j := open(t, cfg)
	calls(t, j, "d", 1)
	shut(t, j)
	if !bytes.Equal(before, readFile(t, filepath.Join(keysOf(cfg), "private.pem"))) {
		t.Error("the key was replaced")
	}
	remove(t, filepath.Join(keysOf(cfg), "public.pem"))
	shut(t, open(t, cfg)) // the private key is there, so the public one can be written again
	mustBeSound(t, cfg)
}

// otherLetter is a letter of base64 that is not this one.
func otherLetter(l string) string {
	if l == "A" {
		return "B"
	}
	return "A"
}
