package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/desk/desktest"
	"github.com/toolcrib/toolcrib/internal/store"
)

// deskConnector opens connections by a name, with the registered driver.
type deskConnector struct {
	drv driver.Driver
	dsn string
}

func (c deskConnector) Connect(context.Context) (driver.Conn, error) { return c.drv.Open(c.dsn) }
func (c deskConnector) Driver() driver.Driver                        { return c.drv }

// deskDriver is the database of the desk as the sqlite package would open it.
func deskDriver(cfg store.Config) (store.Driver, error) {
	path := filepath.Join(cfg.Dir, "desk.db")
	if err := store.PrivateFile(path); err != nil {
		return store.Driver{}, err
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return store.Driver{}, err
	}
	defer db.Close()
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	name := func(mode string) driver.Connector {
		u := url.URL{Scheme: "file", Path: slashed}
		return deskConnector{db.Driver(), u.String() + "?mode=" + mode + "&_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)"}
	}
	return store.Driver{
		Writer: name("rw"), Reader: name("rw"), Blank: deskConnector{db.Driver(), ":memory:"},
		Begin:      "BEGIN IMMEDIATE",
		Objects:    "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name",
		Migrations: os.DirFS(filepath.Join("sqlite", "migrations", "desk")),
	}, nil
}

func openDesk(t testing.TB, cfg store.Config) *store.Desk {
	t.Helper()
	s, err := store.OpenDesk(context.Background(), cfg, deskDriver)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestDeskStore(t *testing.T) {
	desktest.Store(t, func(t *testing.T) desk.Store { return openDesk(t, fresh(t)) })
}

// TestDeskTwoHandles: two openings of one database keep each other out, as two
// processes do: whoever reads before writing has not read what is old.
func TestDeskTwoHandles(t *testing.T) {
	cfg := fresh(t)
	handles := []*store.Desk{openDesk(t, cfg), openDesk(t, cfg)}
	const each = 20
	var all sync.WaitGroup
	for _, s := range handles {
		all.Go(func() {
			for range each {
				err := s.Update(t.Context(), func(tx desk.Tx) error {
					q, err := tx.Question("q-1")
					if err != nil && !errors.Is(err, desk.ErrNotFound) {
						return err
					}
					time.Sleep(time.Millisecond) // time for the other to come in between
					q.ID = "q-1"
					q.Waiting++
					return tx.PutQuestion(q)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	err := handles[0].View(t.Context(), func(tx desk.Tx) error {
		q, err := tx.Question("q-1")
		if q.Waiting != 2*each {
			t.Errorf("%d additions made %d", 2*each, q.Waiting)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// deskOver is a desk over a store, as a process has it.
func deskOver(s desk.Store) (*desk.Desk, error) {
	return desk.New(desk.Config{
		Store: s, Project: "/srv/project", Unattended: desk.Leave, Poll: 20 * time.Millisecond,
		RedactText: func(text string) string { return text }, RedactJSON: func(m json.RawMessage) json.RawMessage { return m },
	})
}

func deskAt(t testing.TB, cfg store.Config) (*desk.Desk, *store.Desk) {
	t.Helper()
	s := openDesk(t, cfg)
	d, err := deskOver(s)
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

func deskQuestion(preview string) toolcrib.Question {
	return toolcrib.Question{
		Call:  toolcrib.Call{ID: "c1", Tool: "write_file", Caller: toolcrib.Caller{Subject: "alice", Session: "s1", Frontend: "mcp"}},
		Spec:  toolcrib.Entry{Spec: toolcrib.Spec{Name: "write_file"}, Box: "files", Native: "write_file", Hash: "h"},
		Input: []byte(`{"path":"a.txt"}`), Effects: toolcrib.Writes, Preview: preview,
		Reasons: []toolcrib.Verdict{{Decision: toolcrib.Ask, Guard: "mode", Reason: "it writes"}},
	}
}

// left puts a question that nobody is there for, and gives its ID.
func left(t testing.TB, d *desk.Desk, preview string) string {
	t.Helper()
	if _, err := d.Approve(context.Background(), deskQuestion(preview)); !errors.Is(err, desk.ErrPending) {
		t.Fatalf("no question was left: %v", err)
	}
	list, err := d.Questions(context.Background(), desk.Filter{State: desk.Open})
	if err != nil || len(list) == 0 {
		t.Fatalf("questions: %v, %v", list, err)
	}
	return list[len(list)-1].ID
}

// TestDeskForgery: who can write the database but not the key directory makes
// no answer and no grant.
func TestDeskForgery(t *testing.T) {
	cfg := fresh(t)
	d, _ := deskAt(t, cfg)
	id := left(t, d, "-a\n+b\n")
	db, err := sql.Open("sqlite", filepath.Join(cfg.Dir, "desk.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var body []byte
	if err := db.QueryRow(`SELECT body FROM question WHERE id = ?`, id).Scan(&body); err != nil {
		t.Fatal(err)
	}
	var q desk.Question
	if err := json.Unmarshal(body, &q); err != nil {
		t.Fatal(err)
	}
	q.State, q.Reply = desk.Allowed, &desk.Given{Choice: desk.AllowOnce, By: "eve", At: time.Now(), Left: 5}
	forged, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	bound := (&desk.Grant{Subject: "alice", Tool: "write_file", Box: "files", Native: "write_file", Definition: q.Definition}).Bound()
	for name, c := range map[string]struct {
		text string
		args []any
	}{
		"answer":    {`UPDATE question SET body = ?, state = 'allowed', live = 1`, []any{forged}},
		"its state": {`UPDATE question SET state = 'allowed', live = 1`, nil},
		"its name":  {`UPDATE question SET id = 'q-other'`, nil},
		"grant": {`INSERT INTO granted VALUES ('g-eve', 'alice', ?, ?, 1, x'00', ?)`, []any{bound, q.Arguments, []byte(
			`{"id":"g-eve","scope":"always","subject":"alice","tool":"write_file","box":"files","native":"write_file","definition":"` + q.Definition +
				`","arguments":"` + q.Arguments + `","effects":"writes","asked":["mode\n"],"by":"alice","at":"2020-01-01T00:00:00Z"}`)}},
		"a question as a grant": {`INSERT INTO granted SELECT id, subject, ?, ?, 1, seal, body FROM question`, []any{bound, q.Arguments}},
	} {
		t.Run(name, func(t *testing.T) {
			var before []byte
			if err := db.QueryRow(`SELECT body FROM question`).Scan(&before); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(c.text, c.args...); err != nil {
				t.Fatal(err)
			}
			if got, err := d.Approve(t.Context(), deskQuestion("-a\n+b\n")); err == nil {
				t.Errorf("the forged row was believed: %+v", got)
			}
			if grants, err := d.Grants(t.Context(), desk.GrantFilter{}); err != nil || len(grants) != 0 {
				t.Errorf("grants: %+v, %v", grants, err)
			}
			for _, text := range []string{`DELETE FROM granted`, `DELETE FROM question`} {
				if _, err := db.Exec(text); err != nil {
					t.Fatal(err)
				}
			}
			left(t, d, "-a\n+b\n")
		})
	}
}

// TestDeskLostKey: without its secret nothing that was sealed counts.
func TestDeskLostKey(t *testing.T) {
	cfg := fresh(t)
	d, s := deskAt(t, cfg)
	id := left(t, d, "p")
	if _, err := d.Answer(t.Context(), id, desk.Reply{Choice: desk.AllowAlways}, "bob"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(cfg.Dir+"-key", "desk.pem")
	if info, err := os.Stat(key); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the secret: %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(cfg.Dir, "desk.db")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the database: %v, %v", info, err)
	}
	d, s = deskAt(t, cfg)
	if got, err := d.Approve(t.Context(), deskQuestion("p")); err != nil || got.Decision != toolcrib.Allow {
		t.Fatalf("after opening it again: %+v, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	d, _ = deskAt(t, cfg)
	if got, err := d.Approve(t.Context(), deskQuestion("p")); err == nil {
		t.Errorf("without the secret: %+v", got)
	}
}

func TestDeskClosed(t *testing.T) {
	d, s := deskAt(t, fresh(t))
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if got, err := d.Approve(t.Context(), deskQuestion("p")); err == nil {
		t.Errorf("a closed desk answers: %+v", got)
	}
	if _, err := d.Answer(t.Context(), "q-1", desk.Reply{Choice: desk.AllowOnce}, "bob"); err == nil {
		t.Error("a closed desk takes answers")
	}
}

// BenchmarkDeskGranted is a call that a grant covers, among a hundred grants.
func BenchmarkDeskGranted(b *testing.B) {
	d, _ := deskAt(b, fresh(b))
	for i := range 100 {
		q := deskQuestion("p")
		q.Input = fmt.Appendf(nil, `{"n":%d}`, i)
		if _, err := d.Approve(b.Context(), q); !errors.Is(err, desk.ErrPending) {
			b.Fatal(err)
		}
		list, err := d.Questions(b.Context(), desk.Filter{State: desk.Open})
		if err != nil || len(list) != 1 {
			b.Fatal(list, err)
		}
		if _, err := d.Answer(b.Context(), list[0].ID, desk.Reply{Choice: desk.AllowAlways}, "bob"); err != nil {
			b.Fatal(err)
		}
	}
	q := deskQuestion("p")
	q.Input = []byte(`{"n":99}`)
	for b.Loop() {
		if got, err := d.Approve(b.Context(), q); err != nil || got.Decision != toolcrib.Allow {
			b.Fatal(got, err)
		}
	}
}
