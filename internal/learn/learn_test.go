package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
)

// stand is a listener with a clock of its own.
type stand struct {
	*Listener
	t     *testing.T
	clock time.Time
	path  string
}

func newStand(t *testing.T) *stand {
	s := &stand{t: t, clock: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), path: filepath.Join(t.TempDir(), "learned.json")}
	s.reopen()
	return s
}

// reopen is a restart of the program.
func (s *stand) reopen() {
	book := NewBook(s.path, 90*24*time.Hour)
	book.now = func() time.Time { return s.clock }
	s.Listener = &Listener{Book: book, Box: "finder", Tool: "search_tools", Profile: func(c toolcrib.Caller) string { return c.Agent }}
}

func ann() toolcrib.Caller { return toolcrib.Caller{Subject: "ann", Session: "s1", Agent: "coding"} }

func searched(c toolcrib.Caller, query string) *toolcrib.Record {
	input, err := json.Marshal(map[string]any{"query": query, "limit": 5})
	if err != nil {
		panic(err)
	}
	return &toolcrib.Record{Caller: c, Tool: "search_tools", Box: "finder", Native: "search_tools", Input: input, Outcome: toolcrib.Done,
		Result: json.RawMessage(`{"tools":[{"name":"evil","description":"text of strangers"}]}`)}
}

func called(c toolcrib.Caller, tool string) *toolcrib.Record {
	return &toolcrib.Record{Caller: c, Tool: tool, Box: "mail", Native: tool, Input: json.RawMessage(`{"to":"an argument"}`), Outcome: toolcrib.Done, Result: json.RawMessage(`"a result"`)}
}

func (s *stand) hear(records ...*toolcrib.Record) {
	for _, r := range records {
		s.Hear(s.t.Context(), r)
	}
}

func (s *stand) learned() string {
	s.t.Helper()
	pairs, err := s.Book.Pairs()
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, p := range pairs {
		lines = append(lines, fmt.Sprintf("%s %s→%s %d", p.Profile, p.Query, p.Tool, p.Times))
	}
	return strings.Join(lines, "; ")
}

// TestHear: what is learned, and all that is not.
func TestHear(t *testing.T) {
	with := func(r *toolcrib.Record, change func(*toolcrib.Record)) *toolcrib.Record { change(r); return r }
	bob := toolcrib.Caller{Subject: "bob", Session: "s1", Agent: "coding"}
	for _, c := range []struct {
		name    string
		records []*toolcrib.Record
		want    string
	}{
		{"a search and a call", []*toolcrib.Record{searched(ann(), "write to  Bob"), called(ann(), "send")}, "coding write to Bob→mail/send 1"},
		{"a search leads to one call", []*toolcrib.Record{searched(ann(), "mail"), called(ann(), "send"), called(ann(), "delete")}, "coding mail→mail/send 1"},
		{"other words", []*toolcrib.Record{searched(ann(), "write"), searched(ann(), "mail"), called(ann(), "send")}, "coding mail→mail/send 1; coding write→mail/send 1"},
		{"three at most", []*toolcrib.Record{searched(ann(), "a"), searched(ann(), "b"), searched(ann(), "c"), searched(ann(), "d"), called(ann(), "send")}, "coding b→mail/send 1; coding c→mail/send 1; coding d→mail/send 1"},
		{"again", []*toolcrib.Record{searched(ann(), "mail"), called(ann(), "send"), searched(ann(), "mail"), called(ann(), "send")}, "coding mail→mail/send 2"},
		{"a call that fails first", []*toolcrib.Record{searched(ann(), "mail"), with(called(ann(), "send"), func(r *toolcrib.Record) { r.Outcome = toolcrib.Broke }), called(ann(), "post")}, "coding mail→mail/post 1"},
		{"describing in between", []*toolcrib.Record{searched(ann(), "mail"), with(called(ann(), "describe_tool"), func(r *toolcrib.Record) { r.Box = "finder" }), called(ann(), "send")}, "coding mail→mail/send 1"},
		{"a call without a search", []*toolcrib.Record{called(ann(), "send")}, ""},
		{"a call of somebody else", []*toolcrib.Record{searched(ann(), "mail"), called(bob, "send")}, ""},
		{"another session", []*toolcrib.Record{searched(ann(), "mail"), with(called(ann(), "send"), func(r *toolcrib.Record) { r.Caller.Session = "s2" })}, ""},
		{"no session", []*toolcrib.Record{with(searched(ann(), "mail"), func(r *toolcrib.Record) { r.Caller.Session = "" }), with(called(ann(), "send"), func(r *toolcrib.Record) { r.Caller.Session = "" })}, ""},
		{"a call by a tool", []*toolcrib.Record{searched(ann(), "mail"), with(called(ann(), "send"), func(r *toolcrib.Record) { r.Parent = "p" })}, ""},
		{"a search by a tool", []*toolcrib.Record{with(searched(ann(), "mail"), func(r *toolcrib.Record) { r.Parent = "p" }), called(ann(), "send")}, ""},
		{"a repetition", []*toolcrib.Record{searched(ann(), "mail"), with(called(ann(), "send"), func(r *toolcrib.Record) { r.Replay = "p" })}, ""},
		{"a refused search", []*toolcrib.Record{with(searched(ann(), "mail"), func(r *toolcrib.Record) { r.Outcome = "denied" }), called(ann(), "send")}, ""},
		{"a secret in the query", []*toolcrib.Record{searched(ann(), "use the key [redacted] to mail"), called(ann(), "send")}, ""},
		{"a query that was not kept", []*toolcrib.Record{with(searched(ann(), ""), func(r *toolcrib.Record) { r.Input = json.RawMessage(`{"unrecorded":{"bytes":9}}`) }), called(ann(), "send")}, ""},
		{"a very long query", []*toolcrib.Record{searched(ann(), strings.Repeat("x", 201)), called(ann(), "send")}, ""},
	} {
		s := newStand(t)
		s.hear(c.records...)
		if got := s.learned(); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
		if text, _ := os.ReadFile(s.path); strings.Contains(string(text), "strangers") || strings.Contains(string(text), "argument") || strings.Contains(string(text), "result") {
			t.Errorf("%s: kept %s", c.name, text)
		}
	}
}

func TestWaits(t *testing.T) {
	s := newStand(t)
	s.hear(searched(ann(), "mail"))
	s.clock = s.clock.Add(11 * time.Minute)
	s.hear(called(ann(), "send"))
	if got := s.learned(); got != "" {
		t.Errorf("after eleven minutes: %s", got)
	}
	s.Silent = func() bool { return true }
	s.hear(searched(ann(), "mail"), called(ann(), "send"))
	if got := s.learned(); got != "" {
		t.Errorf("while the vault is locked: %s", got)
	}
}

// TestRestart: what was learned survives, and reaches other processes; it grows old.
func TestRestart(t *testing.T) {
	s := newStand(t)
	other := newStand(t)
	other.path = s.path
	other.reopen()
	before, err := other.Book.Version()
	if err != nil {
		t.Fatal(err)
	}
	s.hear(searched(ann(), "mail"), called(ann(), "send"))
	if after, err := other.Book.Version(); err != nil || after == before || other.learned() != "coding mail→mail/send 1" {
		t.Errorf("another process: %d, %v, %s", after, err, other.learned())
	}
	other.hear(searched(ann(), "post"), called(ann(), "send"))
	s.reopen()
	if got := s.learned(); got != "coding mail→mail/send 1; coding post→mail/send 1" {
		t.Errorf("after a restart: %s", got)
	}
	s.clock = s.clock.Add(91 * 24 * time.Hour)
	s.reopen()
	if got := s.learned(); got != "" {
		t.Errorf("after 91 days: %s", got)
	}
}

// TestDenied: what a person was led to and the guards denied is forgotten, what others were led to is not; a person's no
// about one call is none of that.
func TestDenied(t *testing.T) {
	s := newStand(t)
	other := ann()
	other.Agent = "full"
	bob := toolcrib.Caller{Subject: "bob", Session: "s2", Agent: "coding"}
	s.hear(searched(ann(), "mail"), called(ann(), "send"), searched(other, "mail"), called(other, "send"), searched(bob, "post"), called(bob, "send"))
	no := called(ann(), "send")
	no.Outcome = toolcrib.Outcome(toolcrib.CodeDenied)
	no.Verdicts = []toolcrib.Verdict{{Decision: toolcrib.Ask}}
	s.hear(no)
	if got := s.learned(); got != "coding mail→mail/send 1; coding post→mail/send 1; full mail→mail/send 1" {
		t.Errorf("a person's no: %s", got)
	}
	no.Verdicts = []toolcrib.Verdict{{Decision: toolcrib.Deny}}
	s.hear(no)
	if got := s.learned(); got != "coding post→mail/send 1; full mail→mail/send 1" {
		t.Errorf("a guard's no: %s", got)
	}
}

// TestJunk: whoever repeats junk fills its own room, and no other profile has it.
func TestJunk(t *testing.T) {
	s := newStand(t)
	bob := toolcrib.Caller{Subject: "bob", Session: "s2", Agent: "coding"}
	s.hear(searched(bob, "mail"), called(bob, "send"))
	var junk []Pair
	for i := range 3 * perProfile {
		s.clock = s.clock.Add(time.Second)
		junk = append(junk, Pair{"coding", "ann", fmt.Sprintf("junk %d", i), "mail/evil", 1, s.clock})
	}
	if err := s.Book.add(t.Context(), junk); err != nil {
		t.Fatal(err)
	}
	if got := s.Book.Of("coding"); len(got) != perSubject+1 {
		t.Errorf("%d pairs are kept", len(got))
	}
	if !strings.Contains(s.learned(), "coding mail→mail/send 1") || strings.Contains(s.learned(), "junk 0→") {
		t.Error("what bob taught is gone, or the oldest junk is not")
	}
	if got := s.Book.Of("full"); len(got) != 0 {
		t.Errorf("another profile has %v", got)
	}
}

func TestForget(t *testing.T) {
	s := newStand(t)
	s.hear(searched(ann(), "mail"), called(ann(), "send"), searched(ann(), "drop"), called(ann(), "delete"))
	if gone, err := s.Book.ForgetTool(t.Context(), "send"); err != nil || gone != 1 || s.learned() != "coding drop→mail/delete 1" {
		t.Errorf("%d, %v: %s", gone, err, s.learned())
	}
	if gone, err := s.Book.ForgetTool(t.Context(), "mail/other"); err != nil || gone != 0 {
		t.Errorf("%d, %v", gone, err)
	}
	if err := os.WriteFile(s.path, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Book.Pairs(); err == nil || !strings.Contains(err.Error(), "tools forget --all") {
		t.Errorf("a broken file: %v", err)
	}
	s.hear(searched(ann(), "mail"), called(ann(), "send")) // told in the log, and nothing worse
	if err := s.Book.Wipe(); err != nil || s.learned() != "" {
		t.Errorf("%v: %s", err, s.learned())
	}
	if err := s.Book.Wipe(); err != nil {
		t.Errorf("nothing to forget: %v", err)
	}
}

func TestManySessions(t *testing.T) {
	s := newStand(t)
	for i := range maxSessions + 10 {
		c := ann()
		c.Session = fmt.Sprint(i)
		s.hear(searched(c, "mail"))
	}
	if len(s.open) != maxSessions {
		t.Errorf("%d sessions wait", len(s.open))
	}
	s.clock = s.clock.Add(time.Hour)
	s.hear(searched(ann(), "mail"))
	if len(s.open) != 1 {
		t.Errorf("%d sessions wait after an hour", len(s.open))
	}
}

// FuzzRead: no file makes the book panic, or keep more than its bounds, and what it
// takes of a file is what it finds again in the one that it writes.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`[{"profile":"p","subject":"s","query":"q","tool":"b/t","times":1,"last":"2026-11-01T00:00:00Z"}]`))
	f.Add([]byte(`[{"times":-1,"last":"9999-01-01T00:00:00Z","query":"q","tool":"t"},{"times":9223372036854775807,"last":"2026-11-01T00:00:00+14:00","query":"\ufffd","tool":"t"}]`))
	f.Add([]byte(`[{"query":"q","tool":"t","last":"2026-11-01T00:00:00.123456789Z"},{"query":"q","tool":"t","last":"2026-11-01T00:00:01Z"},null]`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "learned.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		open := func() *Book {
			book := NewBook(path, time.Hour)
			book.now = func() time.Time { return time.Date(2026, 11, 1, 0, 30, 0, 0, time.UTC) }
			return book
		}
		book := open()
		pairs, err := book.Pairs()
		if err != nil {
			return
		}
		if len(pairs) > inAll {
			t.Errorf("%d pairs", len(pairs))
		}
		for i, p := range pairs {
			if p.Query == "" || p.Tool == "" || len(p.Query) > 4*maxQuery || p.Times < 1 || p.Last.After(book.now()) {
				t.Errorf("%+v is kept", p)
			}
			if i > 0 && p.sameAs(pairs[i-1]) {
				t.Errorf("%+v is kept twice", p)
			}
		}
		if _, err := book.Forget(context.Background(), func(Pair) bool { return false }); err != nil {
			t.Fatal(err)
		}
		again, err := open().Pairs()
		if d := cmp.Diff(pairs, again); err != nil || d != "" {
			t.Errorf("%v, (-read +written)\n%s", err, d)
		}
		if err := book.add(context.Background(), pairs); err != nil {
			t.Fatal(err)
		}
		for _, p := range book.pairs {
			if p.Times < 1 {
				t.Errorf("%+v was used once more", p)
			}
		}
	})
}
