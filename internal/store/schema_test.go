package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

func TestSchema(t *testing.T) {
	cfg := journalWith(t, 2)
	db := attacker(t, cfg)
	run(t, db, `INSERT INTO schema_version VALUES (99, '0099_future', 'x')`)
	for name, err := range map[string]error{
		"open": second(sqlite.Open(t.Context(), cfg)), "read": second(sqlite.OpenReader(t.Context(), cfg)),
	} {
		if !errors.Is(err, store.ErrSchema) {
			t.Errorf("%s a newer journal: %v", name, err)
		}
	}
	mustFind(t, verify(t, cfg), store.Schema, 0)
	run(t, db, `DELETE FROM schema_version WHERE version > 1`)
	mustFind(t, verify(t, cfg), store.Schema, 0)
}

// TestAltered adds to the schema and takes from it: verifying says so, and
// the journal does not write into tables that are no longer its own.
func TestAltered(t *testing.T) {
	sound := journalWith(t, 5)
	for name, test := range map[string]struct {
		attack []string
		named  string
	}{
		"trigger that removes": {[]string{`CREATE TRIGGER tr AFTER INSERT ON entry BEGIN DELETE FROM entry WHERE seq = new.seq; END`}, "trigger tr on entry"},
		"trigger that ignores": {[]string{`CREATE TRIGGER tr BEFORE INSERT ON entry WHEN new.kind = 2 BEGIN SELECT RAISE(IGNORE); END`}, "trigger tr on entry"},
		"harmless trigger":     {[]string{`CREATE TRIGGER tr AFTER DELETE ON schema_version BEGIN SELECT 1; END`}, "trigger tr on schema_version"},
		"view":                 {[]string{`CREATE VIEW v AS SELECT * FROM entry`}, "view v"},
		"table":                {[]string{`CREATE TABLE other (x)`}, "table other"},
		"column":               {[]string{`ALTER TABLE entry ADD COLUMN extra TEXT`}, "table entry"},
		"index added":          {[]string{`CREATE UNIQUE INDEX i ON entry (hash)`}, "index i on entry"},
		"index dropped":        {[]string{`DROP INDEX entry_call`}, "index entry_call"},
		"index not unique":     {[]string{`DROP INDEX entry_call`, `CREATE INDEX entry_call ON entry (call, subject, kind, ref) WHERE kind < 4`}, "index entry_call"},
		"index of another": {[]string{
			`DROP INDEX entry_mark`, `CREATE INDEX entry_mark ON schema_version (name)`,
		}, "index entry_mark"},
		"entry a view":  {[]string{`ALTER TABLE entry RENAME TO kept`, `CREATE VIEW entry AS SELECT * FROM kept WHERE tool <> 'x'`}, "view entry"},
		"table dropped": {[]string{`DROP TABLE entry`}, "table entry"},
		"text rewritten": {[]string{
			`PRAGMA writable_schema = 1`, `UPDATE sqlite_schema SET sql = replace(sql, 'subject  TEXT    NOT NULL', 'subject  TEXT    NOT NULL COLLATE NOCASE') WHERE name = 'entry'`,
		}, "table entry"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := copied(t, sound)
			db := attacker(t, cfg)
			db.SetMaxOpenConns(1)
			for _, step := range test.attack {
				run(t, db, step)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 { // refusing does not mend, and does not hide
				r := verify(t, cfg)
				if !slices.ContainsFunc(r.Findings, func(f store.Finding) bool { return f.Kind == store.Schema && strings.Contains(f.Detail, test.named) }) {
					t.Errorf("want %q named, got %v", test.named, r.Findings)
				}
				j, err := sqlite.Open(context.Background(), cfg)
				if err == nil {
					shut(t, j)
				}
				if !errors.Is(err, store.ErrAltered) || !strings.Contains(err.Error(), test.named) {
					t.Errorf("Open: %v", err)
				}
			}
		})
	}
}

// TestAlteredWhileOpen adds a trigger that swallows ends under the hands of a
// process that is at work.
func TestAlteredWhileOpen(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	r := newRecord("one")
	begin(t, j, r)
	db := attacker(t, cfg)
	run(t, db, `CREATE TRIGGER tr BEFORE INSERT ON entry WHEN new.kind = 2 BEGIN SELECT RAISE(IGNORE); END`)
	end(t, j, r) // it is kept in a file
	if _, err := j.Begin(t.Context(), newRecord("two")); !errors.Is(err, store.ErrDegraded) {
		t.Errorf("Begin: %v", err)
	}
	if !j.Degraded() {
		t.Error("not degraded")
	}
	run(t, db, `DROP TRIGGER tr`)
	recovered(t, j)
	if got, err := j.Get(t.Context(), "one"); err != nil || got.Outcome != toolcrib.Done {
		t.Errorf("the end is lost: %+v %v", got, err)
	}
	calls(t, j, "later", 3)
	run(t, db, `VACUUM`) // changes the schema's number and nothing else
	calls(t, j, "last", 3)
	mustBeSound(t, cfg)
}

// TestDuplicates writes a call twice after taking the index away.
func TestDuplicates(t *testing.T) {
	cfg := journalWith(t, 5)
	db := attacker(t, cfg)
	run(t, db, `DROP INDEX entry_call`)
	run(t, db, `INSERT INTO entry SELECT seq + 10, kind, at, ref, duration, call, subject, session, tool, box, outcome, run, hash, body, seal FROM entry WHERE seq = 2`)
	mustFind(t, verify(t, cfg), store.Duplicate, 12)
}
