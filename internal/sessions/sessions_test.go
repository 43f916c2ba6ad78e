package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/model"
)

var ann, bob = Owner{Subject: "ann"}, Owner{Subject: "bob"}

func store(t testing.TB, change func(*Config)) *Store {
	t.Helper()
	cfg := Config{Dir: t.TempDir()}
	if change != nil {
		change(&cfg)
	}
	return New(cfg)
}

func create(t testing.TB, s *Store, o Owner, messages ...model.Message) string {
	t.Helper()
	w, err := s.Create(Info{Owner: o, Title: "a title", Project: "/p", Agent: "coder", Model: "small"})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range messages {
		if err := w.Add(m, fmt.Sprint("call-", i), ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.Info().ID
}

// talk is a conversation with this many turns, each with a call.
func talk(turns int) []model.Message {
	var out []model.Message
	for i := range turns {
		call := model.ToolCall{ID: fmt.Sprint("c", i), Name: "look", Arguments: json.RawMessage(`{"at":"x"}`)}
		out = append(out, model.Text(model.User, fmt.Sprint("question ", i)), model.Message{Role: model.Assistant, Calls: []model.ToolCall{call}},
			model.Message{Role: model.Tool, CallID: call.ID, Name: "look", Parts: []model.Part{{Text: "seen"}}}, model.Text(model.Assistant, fmt.Sprint("answer ", i)))
	}
	return out
}

func TestKeptAndResumed(t *testing.T) {
	s := store(t, nil)
	id := create(t, s, ann, talk(2)...)
	was, err := s.Load(ann, id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(talk(2), was.Messages()); diff != "" || was.Turns() != 2 || was.Fault != nil {
		t.Errorf("%d turns, %v\n%s", was.Turns(), was.Fault, diff)
	}
	if i := was.Info; i.Title != "a title" || i.Agent != "coder" || i.Model != "small" || i.Project != "/p" || i.Created.IsZero() || i.Updated.IsZero() || i.Size == 0 {
		t.Errorf("%+v", i)
	}
	if was.Entries[2].Call != "call-2" {
		t.Errorf("%+v", was.Entries[2])
	}
	w, _, err := s.Resume(ann, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Resume(ann, id); !errors.Is(err, ErrInUse) {
		t.Errorf("two go on with it: %v", err)
	}
	if err := s.Remove(ann, id); !errors.Is(err, ErrInUse) {
		t.Errorf("it was removed meanwhile: %v", err)
	}
	if err := w.Add(model.Text(model.User, "more"), "", ""); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(model.Text(model.User, "late"), "", ""); err == nil {
		t.Error("written after Close")
	}
	if was, err = s.Load(ann, id); err != nil || was.Turns() != 3 {
		t.Errorf("%v", err)
	}
}

// TestPrivate: nobody finds the sessions of another, by whatever name.
func TestPrivate(t *testing.T) {
	s := store(t, nil)
	id := create(t, s, ann, talk(1)...)
	for _, o := range []Owner{bob, {}, {Subject: "ann", Organisation: "x"}, {Organisation: "ann"}} {
		for _, name := range []string{id, "../" + filepath.Base(s.dir(ann)) + "/" + id, s.dir(ann) + "/" + id, id + "/../" + id, ".." + id, ""} {
			if _, err := s.Load(o, name); !errors.Is(err, ErrNotFound) {
				t.Errorf("%v finds %q: %v", o, name, err)
			}
			if _, _, err := s.Resume(o, name); !errors.Is(err, ErrNotFound) {
				t.Errorf("%v goes on with %q: %v", o, name, err)
			}
			if _, err := s.Branch(o, name, -1); !errors.Is(err, ErrNotFound) {
				t.Errorf("%v branches %q: %v", o, name, err)
			}
			if err := s.Remove(o, name); !errors.Is(err, ErrNotFound) {
				t.Errorf("%v removes %q: %v", o, name, err)
			}
			if _, err := s.Find(o, name, ""); !errors.Is(err, ErrNotFound) {
				t.Errorf("%v finds %q: %v", o, name, err)
			}
		}
		if list, err := s.List(o, Filter{Delegated: true}); len(list) > 0 || err != nil {
			t.Errorf("%v lists %v, %v", o, list, err)
		}
	}
	// A file that was copied over is still ann's.
	if err := os.MkdirAll(s.dir(bob), 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.dir(ann), id+ending))
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir(bob), id+ending), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(bob, id); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	if list, err := s.List(bob, Filter{}); len(list) > 0 || err == nil {
		t.Errorf("%v, %v", list, err)
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(filepath.Join(s.dir(ann), id+ending)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	const key = "hunter2-and-more"
	s := store(t, func(c *Config) {
		c.Redact = func(line json.RawMessage) json.RawMessage {
			return bytes.ReplaceAll(line, []byte(key), []byte("[redacted]"))
		}
	})
	w, err := s.Create(Info{Owner: ann, Title: "my key is " + key})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(model.Text(model.User, "my key is "+key), "", ""); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.dir(ann), w.Info().ID+ending))
	if err != nil || bytes.Contains(text, []byte(key)) || bytes.Count(text, []byte("[redacted]")) != 2 {
		t.Errorf("%s, %v", text, err)
	}
	// Without a word of its own, what looks like a secret is one.
	plainly := store(t, nil)
	id := create(t, plainly, ann, model.Text(model.User, "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"))
	if text, err := os.ReadFile(filepath.Join(plainly.dir(ann), id+ending)); err != nil || bytes.Contains(text, []byte("MIIEpAIBAAKCAQEA")) {
		t.Errorf("%s, %v", text, err)
	}
	// While the vault is locked nobody knows what a secret is.
	locked := store(t, func(c *Config) { c.Locked = func() error { return errors.New("locked") } })
	if _, err := locked.Create(Info{Owner: ann}); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("%v", err)
	}
}

func TestBranch(t *testing.T) {
	s := store(t, nil)
	id := create(t, s, ann, talk(3)...)
	for _, tt := range []struct{ at, turns int }{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {-1, 3}} {
		info, err := s.Branch(ann, id, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		if info.Parent != id || info.Turns != tt.turns || info.ID == id || info.Agent != "coder" {
			t.Errorf("%d: %+v", tt.at, info)
		}
		made, err := s.Load(ann, info.ID)
		if err != nil || made.Turns() != tt.turns {
			t.Fatalf("%d: %v", tt.at, err)
		}
		if diff := cmp.Diff(talk(tt.turns), append([]model.Message(nil), made.Messages()...)); diff != "" && tt.turns > 0 {
			t.Error(diff)
		}
	}
	if _, err := s.Branch(ann, id, 4); err == nil || !strings.Contains(err.Error(), "3 turns") {
		t.Errorf("%v", err)
	}
	if list, err := s.List(ann, Filter{Parent: id}); len(list) != 5 || err != nil {
		t.Errorf("%d, %v", len(list), err)
	}
}

func TestRemoveTakesDelegatesToo(t *testing.T) {
	s := store(t, nil)
	id := create(t, s, ann, talk(1)...)
	w, err := s.Create(Info{ID: id + ".dlg-12345678", Owner: ann, Parent: id, Call: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if list, _ := s.List(ann, Filter{}); len(list) != 1 {
		t.Errorf("%v", list)
	}
	if list, _ := s.List(ann, Filter{Delegated: true}); len(list) != 2 {
		t.Errorf("%v", list)
	}
	if err := s.Remove(ann, id); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(s.dir(ann))
	if err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestBounds(t *testing.T) {
	s := store(t, func(c *Config) { c.MaxBytes = 4000 })
	w, err := s.Create(Info{Owner: ann})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for range 100 {
		if err = w.Add(model.Text(model.User, strings.Repeat("x", 100)), "", ""); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrFull) || w.size > 4000 {
		t.Errorf("%d bytes, %v", w.size, err)
	}
	if was, err := s.Load(ann, w.Info().ID); err != nil || was.Fault != nil || was.Turns() < 10 {
		t.Errorf("%v", err)
	}
}

func TestFindAndSweep(t *testing.T) {
	now := time.Now()
	s := store(t, func(c *Config) { c.MaxAge = time.Hour; c.Now = func() time.Time { return now } })
	id := create(t, s, ann, talk(1)...)
	short := id[strings.LastIndexByte(id, '-')+1:]
	for _, name := range []string{id, id[:len(id)-2], short, "last"} {
		if got, err := s.Find(ann, name, ""); got != id || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := s.Find(ann, "last", "/elsewhere"); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	other := create(t, s, ann)
	if _, err := s.Find(ann, id[:4], ""); err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("%v", err)
	}
	if n, err := s.Sweep(ann); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	now = now.Add(2 * time.Hour)
	if n, err := s.Sweep(ann); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// TestMany: ten thousand sessions are listed at once.
func TestMany(t *testing.T) {
	s := store(t, nil)
	if err := os.MkdirAll(s.dir(ann), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		at := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
		info := Info{Version: version, ID: NewID(at), Owner: ann, Title: fmt.Sprint("session ", i), Created: at}
		line, err := json.Marshal(info)
		if err == nil {
			err = os.WriteFile(filepath.Join(s.dir(ann), info.ID+ending), append(line, '\n'), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	list, err := s.List(ann, Filter{Limit: 20})
	few := time.Since(start)
	if err != nil || len(list) != 20 || list[0].Title != "session 9999" || list[19].Title != "session 9980" {
		t.Fatalf("%v, %v", list, err)
	}
	start = time.Now()
	all, err := s.List(ann, Filter{})
	if err != nil || len(all) != 10_000 {
		t.Fatalf("%d, %v", len(all), err)
	}
	t.Logf("20 in %v, 10,000 in %v", few, time.Since(start))
	if few > 2*time.Second {
		t.Errorf("20 of 10,000 took %v", few)
	}
}

func TestValidID(t *testing.T) {
	for _, id := range []string{"", ".", "..", "a/b", "a\\b", "A", "a..b", "-a", ".a", "a b", "ä", strings.Repeat("a", 200), "a\x00", "a\n", "con:", "~"} {
		if ValidID(id) {
			t.Errorf("%q is one", id)
		}
	}
	for range 100 {
		if id := NewID(time.Now()); !ValidID(id) || !ValidID(id+".dlg-0a1b2c3d") {
			t.Errorf("%q is none", id)
		}
	}
}
