package store_test

import (
	"bytes"
	"database/sql"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/store"
)

// told is a log that a test looks into.
type told struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *told) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *told) has(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), part)
}

func (l *told) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// keepsAll opens a journal that would prune, and fails unless it says why it
// does not, and has every entry it had.
func keepsAll(t *testing.T, cfg store.Config, why string) {
	t.Helper()
	db := attacker(t, cfg)
	before := number(t, db, `SELECT min(seq) FROM entry`)
	var log told
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	j := open(t, cfg)
	for deadline := time.Now().Add(2 * time.Minute); !log.has(why); time.Sleep(5 * time.Millisecond) {
		if first := number(t, db, `SELECT min(seq) FROM entry`); first != before {
			t.Fatalf("entries %d to %d were removed; verify says %+v", before, first-1, verify(t, cfg).Findings)
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing says %q:\n%s", why, log.String())
		}
	}
	// The journal goes on writing.
	r := newRecord("after")
	r.Start = time.Time{}
	begin(t, j, r)
	end(t, j, r)
	shut(t, j)
	if first := number(t, db, `SELECT min(seq) FROM entry`); first != before {
		t.Errorf("entries %d to %d were removed in the end", before, first-1)
	}
}

// TestPruneErasesNoEvidence does to old entries what somebody can who may write
// the database, and lets the journal prune: it must not sign that away.
func TestPruneErasesNoEvidence(t *testing.T) {
	cfg, c := aging(t)
	keeping := cfg
	keeping.MaxAge = 0
	j := open(t, keeping)
	some(t, j, c, "old", 10)
	c.pass(30 * time.Minute)
	some(t, j, c, "mid", 10)
	shut(t, j)
	attacks := map[string]func(t *testing.T, db *sql.DB){
		"a time of young rows": func(t *testing.T, db *sql.DB) {
			run(t, db, `UPDATE entry SET at = 0 WHERE seq BETWEEN 22 AND 30`)
		},
		"the time of all rows": func(t *testing.T, db *sql.DB) { run(t, db, `UPDATE entry SET at = 0 WHERE kind < 4`) },
		"a time ahead": func(t *testing.T, db *sql.DB) {
			run(t, db, `UPDATE entry SET at = at + 1000000000000000 WHERE seq = 8`)
		},
		"an outcome":       func(t *testing.T, db *sql.DB) { run(t, db, `UPDATE entry SET outcome = 'denied' WHERE seq = 5`) },
		"a body":           func(t *testing.T, db *sql.DB) { run(t, db, `UPDATE entry SET body = x'7b7d' WHERE seq = 6`) },
		"a missing row":    func(t *testing.T, db *sql.DB) { run(t, db, `DELETE FROM entry WHERE seq = 6`) },
		"a missing call":   func(t *testing.T, db *sql.DB) { run(t, db, `DELETE FROM entry WHERE call = 'old3'`) },
		"missing old rows": func(t *testing.T, db *sql.DB) { run(t, db, `DELETE FROM entry WHERE seq BETWEEN 2 AND 7`) },
		"a seal": func(t *testing.T, db *sql.DB) {
			run(t, db, `UPDATE entry SET seal = x'00112233445566778899aabbccddeeff' WHERE seq = 9`)
		},
		"no seals": func(t *testing.T, db *sql.DB) { run(t, db, `UPDATE entry SET seal = x'' WHERE seq < 15`) },
		"swapped rows": func(t *testing.T, db *sql.DB) {
			run(t, db, `UPDATE entry SET seq = 1000 WHERE seq = 4`)
			run(t, db, `UPDATE entry SET seq = 4 WHERE seq = 6`)
			run(t, db, `UPDATE entry SET seq = 6 WHERE seq = 1000`)
		},
		"a row before all": func(t *testing.T, db *sql.DB) {
			run(t, db, `INSERT INTO entry SELECT -3, kind, at, ref, duration, 'q', subject, session, tool, box, outcome, run, hash, body, seal FROM entry WHERE seq = 2`)
		},
		"a forged row": func(t *testing.T, db *sql.DB) {
			f := forger{t, db, nil}
			f.add(forged{kind: 1, call: "q", body: `{}`})
		},
		"a forged removal": func(t *testing.T, db *sql.DB) {
			run(t, db, `DELETE FROM entry WHERE seq BETWEEN 2 AND 7`)
			f := forger{t, db, nil}
			f.add(forged{kind: 5, body: `{"from":1,"upto":7,"hash":"","count":7,"key":"","sig":""}`})
		},
	}
	for name, attack := range attacks {
		t.Run("age, "+name, func(t *testing.T) {
			cfg := copied(t, cfg)
			cfg.MaxAge = 45 * time.Minute
			now := c.now().Add(30 * time.Minute) // those of the first half are too old
			if name != "a time of young rows" && name != "the time of all rows" {
				now = now.Add(30 * time.Minute) // and all are
			}
			cfg.Now = func() time.Time { return now }
			attack(t, attacker(t, cfg))
			keepsAll(t, cfg, "is not as it was written")
			if r := verify(t, cfg); r.OK() || r.Removed() != "" {
				t.Errorf("%+v", r)
			}
		})
		t.Run("size, "+name, func(t *testing.T) {
			cfg := copied(t, cfg)
			cfg.MaxAge, cfg.MaxBytes = 0, 1
			attack(t, attacker(t, cfg))
			keepsAll(t, cfg, "is not as it was written")
			if r := verify(t, cfg); r.OK() {
				t.Error("nothing is found")
			}
		})
	}
}

// TestPruneOfPruned goes on from an earlier removal. (A journal whose only
// removal was changed or is gone does not open: its key is not known.)
func TestPruneOfPruned(t *testing.T) {
	cfg, c := aging(t)
	keeping := cfg
	keeping.MaxAge = 0
	j := open(t, keeping)
	some(t, j, c, "old", 10)
	c.pass(2 * time.Hour)
	some(t, j, c, "mid", 10)
	shut(t, j)
	j = open(t, cfg)
	pruned(t, cfg, 22)
	shut(t, j)
	c.pass(2 * time.Hour)
	for name, attack := range map[string]string{
		"more":  `DELETE FROM entry WHERE seq <= 25`,
		"other": `UPDATE entry SET outcome = 'denied' WHERE seq = 25`,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := copied(t, cfg)
			run(t, attacker(t, cfg), attack)
			keepsAll(t, cfg, "is not as it was written")
			if r := verify(t, cfg); r.OK() {
				t.Error("nothing is found")
			}
		})
	}
	t.Run("untouched", func(t *testing.T) {
		cfg := copied(t, cfg)
		cfg.AgeFrom = "config.yaml:3"
		j := open(t, cfg)
		r := pruned(t, cfg, 42)
		shut(t, j)
		if len(r.Pruned) == 0 {
			t.Fatal("the removal is not told")
		}
		last := r.Pruned[len(r.Pruned)-1]
		if last.From != 22 || last.Upto < 41 || last.Count != int64(last.Upto-last.From+1) || last.Step != 2 || !strings.Contains(last.By, "journal.max_age 1h0m0s (config.yaml:3)") {
			t.Errorf("%+v", last)
		}
		for _, part := range []string{"entries 1 to ", "in 2 steps", "journal.max_age", "config.yaml:3"} {
			if !strings.Contains(r.Removed(), part) {
				t.Errorf("no %q in %q", part, r.Removed())
			}
		}
	})
}

// TestPruneByWrongClock turns the clock: what is not old must not go because a
// clock says so.
func TestPruneByWrongClock(t *testing.T) {
	cfg, c := aging(t)
	cfg.MaxAge = 90 * 24 * time.Hour
	j := open(t, cfg)
	for range 10 {
		some(t, j, c, c.now().String(), 2)
		c.pass(24 * time.Hour)
	}
	shut(t, j)
	const year = 365 * 24 * time.Hour

	t.Run("ahead", func(t *testing.T) {
		cfg := copied(t, cfg)
		ahead := &clock{}
		ahead.pass(time.Duration(c.ns.Load()) + year)
		cfg.Now = ahead.now
		keepsAll(t, cfg, "the clock may be wrong")
		keepsAll2 := func() { // a call of that time makes no difference
			j := open(t, cfg)
			some(t, j, ahead, ahead.now().String(), 1)
			if err := j.Prune(t.Context()); err != nil {
				t.Error(err)
			}
			shut(t, j)
			if r := mustBeSound(t, cfg); r.First != 1 || r.Kept == "" {
				t.Errorf("%+v", r)
			}
		}
		keepsAll2()
		// After a day of it, it is the time.
		ahead.pass(25 * time.Hour)
		j := open(t, cfg)
		some(t, j, ahead, ahead.now().String(), 1)
		if err := j.Prune(t.Context()); err != nil {
			t.Error(err)
		}
		shut(t, j)
		if r := mustBeSound(t, cfg); r.First == 1 || r.Kept != "" {
			t.Errorf("after a day: %+v", r)
		}
	})
	t.Run("behind", func(t *testing.T) {
		cfg := copied(t, cfg)
		behind := &clock{}
		behind.pass(time.Duration(c.ns.Load()) - year)
		cfg.Now = behind.now
		j := open(t, cfg)
		some(t, j, behind, "back", 3) // they are of last year, and the newest all the same
		cfg.Now = c.now
		if err := j.Prune(t.Context()); err != nil {
			t.Error(err)
		}
		shut(t, j)
		if r := mustBeSound(t, cfg); r.First != 1 {
			t.Errorf("%+v", r)
		}
		j = open(t, cfg)
		if err := j.Prune(t.Context()); err != nil {
			t.Error(err)
		}
		shut(t, j)
		if r := mustBeSound(t, cfg); r.First != 1 {
			t.Errorf("with the clock set right: %+v", r)
		}
	})
	t.Run("ahead and back", func(t *testing.T) {
		cfg := copied(t, cfg)
		ahead := &clock{}
		ahead.pass(time.Duration(c.ns.Load()) + year)
		cfg.Now = ahead.now
		j := open(t, cfg)
		some(t, j, ahead, "ahead", 2)
		shut(t, j)
		cfg.Now = c.now
		j = open(t, cfg)
		if err := j.Prune(t.Context()); err != nil {
			t.Error(err)
		}
		shut(t, j)
		if r := mustBeSound(t, cfg); r.First != 1 {
			t.Errorf("%+v", r)
		}
	})
}
