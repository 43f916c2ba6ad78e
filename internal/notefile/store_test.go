package notefile

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/notes"
)

func open(t testing.TB, cfg Config) *Store {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = filepath.Join(t.TempDir(), "notes")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s, err := Open(cfg)
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

func put(t testing.TB, s *Store, c toolcrib.Caller, key, value string) error {
	t.Helper()
	return s.Change(t.Context(), c, func(n *notes.Notes) error {
		if n.Pad == nil {
			n.Pad = map[string]string{}
		}
		n.Pad[key] = value
		return nil
	})
}

func get(t testing.TB, s *Store, c toolcrib.Caller) notes.Notes {
	t.Helper()
	n, err := s.Read(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var ann = toolcrib.Caller{Subject: "ann", Session: "s"}

// Two people, two sessions and two organisations never share, whatever they are
// called; agents and dialects of one conversation do.
func TestWhoseNotes(t *testing.T) {
	s := open(t, Config{})
	if n := get(t, s, ann); len(n.Todos)+len(n.Pad) > 0 {
		t.Errorf("notes of nobody: %v", n)
	}
	if _, err := os.Lstat(s.cfg.Dir); err == nil {
		t.Error("who only reads makes a directory")
	}
	if err := put(t, s, ann, "k", "ann's"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []toolcrib.Caller{
		{Subject: "bob", Session: "s"}, {Subject: "ann", Session: "t"}, {Subject: "ann"}, {Session: "s"}, {Subject: "anns"}, {Subject: "an", Session: "ns"},
		{Subject: "ann", Session: "s", Organisation: "o"}, {Organisation: "ann", Subject: "s"}, {Subject: "../ann", Session: "s"}, {Subject: "ANN", Session: "S"},
	} {
		if n := get(t, s, c); len(n.Pad) > 0 || Same(c, ann) {
			t.Errorf("%+v reads %v", c, n)
		}
	}
	for _, c := range []toolcrib.Caller{{Subject: "ann", Session: "s", Agent: "coder"}, {Subject: "ann", Session: "s", Dialect: "agenticx", Frontend: "mcp"}} {
		if n := get(t, s, c); n.Pad["k"] != "ann's" || !Same(c, ann) {
			t.Errorf("%+v reads %v", c, n)
		}
	}
	// Another process goes on with them.
	if n := get(t, open(t, Config{Dir: s.cfg.Dir}), ann); n.Pad["k"] != "ann's" {
		t.Errorf("after a restart: %v", n)
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(s.cfg.Dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

func TestRefusedChangesNothing(t *testing.T) {
	s := open(t, Config{})
	if err := put(t, s, ann, "k", "v"); err != nil {
		t.Fatal(err)
	}
	no := errors.New("no")
	if err := s.Change(t.Context(), ann, func(n *notes.Notes) error {
		n.Pad["k"], n.Todos = "other", []notes.Todo{{Content: "x"}}
		return no
	}); !errors.Is(err, no) {
		t.Error(err)
	}
	if diff := cmp.Diff(notes.Notes{Pad: map[string]string{"k": "v"}}, get(t, s, ann)); diff != "" {
		t.Error(diff)
	}
}

// TestManyProcesses: changes of processes that write at once are all there.
func TestManyProcesses(t *testing.T) {
	if dir := os.Getenv("NOTEFILE_DIR"); dir != "" {
		s := open(t, Config{Dir: dir})
		for i := range 5 {
			if err := put(t, s, ann, fmt.Sprintf("%d-%d", os.Getpid(), i), "v"); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	s := open(t, Config{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestManyProcesses$")
			cmd.Env = append(os.Environ(), "NOTEFILE_DIR="+s.cfg.Dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	for i := range 10 {
		all.Go(func() {
			if err := put(t, s, ann, fmt.Sprintf("own-%d", i), "v"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := get(t, s, ann); len(n.Pad) != 30 {
		t.Errorf("%d of 30 keys: %v", len(n.Pad), n.Keys())
	}
}

func TestChangesAreTold(t *testing.T) {
	s := open(t, Config{})
	var told []Change
	stop := s.Watch(func(c Change) { told = append(told, c) })
	todo := func(list ...notes.Todo) {
		if err := s.Change(t.Context(), ann, func(n *notes.Notes) error { n.Todos = list; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	todo(notes.Todo{Content: "a", Status: notes.Pending})
	todo(notes.Todo{Content: "a", Status: notes.Pending}) // the same
	todo(notes.Todo{Content: "a", Status: notes.Completed})
	if err := errors.Join(put(t, s, ann, "k", "1"), put(t, s, ann, "k", "2")); err != nil {
		t.Fatal(err)
	}
	todo()
	stop()
	todo(notes.Todo{Content: "b", Status: notes.Pending})
	want := []Change{{ann, true, true, nil}, {ann, false, true, nil}, {ann, true, false, []string{"k"}}, {ann, false, false, []string{"k"}}, {ann, true, true, nil}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	if list, err := s.Todos(t.Context(), ann); err != nil || len(list) != 1 || list[0].Content != "b" {
		t.Errorf("%v, %v", list, err)
	}
}

// What a session had read when it wrote counts when another process goes on with it.
func TestTaintComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "n")
	var had Taint
	s := open(t, Config{Dir: dir, Taint: func(toolcrib.Caller) Taint { return had }})
	had = Taint{Untrusted: "web/fetch_page"}
	if err := put(t, s, ann, "k", "v"); err != nil {
		t.Fatal(err)
	}
	had = Taint{Private: "files/read_file"}
	if err := put(t, s, ann, "k", "w"); err != nil { // what was read cannot be unread
		t.Fatal(err)
	}
	if err := put(t, s, toolcrib.Caller{Subject: "bob"}, "k", "v"); err != nil {
		t.Fatal(err)
	}
	var carried []string
	next := open(t, Config{Dir: dir, Carry: func(c toolcrib.Caller, t Taint) { carried = append(carried, c.Subject+" "+t.Private+" "+t.Untrusted) }})
	get(t, next, toolcrib.Caller{Subject: "carl"})
	get(t, next, ann)
	if err := put(t, next, toolcrib.Caller{Subject: "bob"}, "k", "v"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ann files/read_file web/fetch_page", "bob files/read_file "}, carried); diff != "" {
		t.Error(diff)
	}
}

// aged makes the notes of a session look old.
func aged(t *testing.T, s *Store, c toolcrib.Caller, age time.Duration) {
	t.Helper()
	at := time.Now().Add(-age)
	if err := os.Chtimes(filepath.Join(s.cfg.Dir, nameOf(c)+kept), at, at); err != nil {
		t.Fatal(err)
	}
}

// Old notes go, and nobody finds them gone without being told.
func TestOldNotesAreTold(t *testing.T) {
	var log bytes.Buffer
	s := open(t, Config{MaxAge: 48 * time.Hour, Log: slog.New(slog.NewTextHandler(&log, nil))})
	bob := toolcrib.Caller{Subject: "bob", Session: "b"}
	if err := errors.Join(put(t, s, ann, "k", "v"), put(t, s, bob, "k", "v")); err != nil {
		t.Fatal(err)
	}
	aged(t, s, ann, 49*time.Hour)
	next := open(t, Config{Dir: s.cfg.Dir, MaxAge: 48 * time.Hour, Log: s.cfg.Log})
	if _, err := next.Read(t.Context(), ann); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "2 days (toolboxes.notes.max_age)") {
		t.Errorf("ann: %v", err)
	}
	if !strings.Contains(log.String(), "subject=ann session=s todos=0 keys=1") {
		t.Errorf("the log: %s", log.String())
	}
	if n := get(t, next, bob); n.Pad["k"] != "v" {
		t.Errorf("bob: %v", n)
	}
	if list, err := next.Todos(t.Context(), ann); err != nil || list != nil {
		t.Errorf("a screen: %v, %v", list, err)
	}
	if err := put(t, next, ann, "k", "new"); err != nil {
		t.Fatal(err)
	}
	if n := get(t, next, ann); n.Pad["k"] != "new" {
		t.Errorf("afterwards: %v", n)
	}
}

func TestTooManySessions(t *testing.T) {
	s := open(t, Config{Sessions: 3})
	who := func(i int) toolcrib.Caller { return toolcrib.Caller{Subject: fmt.Sprint(i)} }
	for i := range 3 {
		if err := put(t, s, who(i), "k", "v"); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(t, s, who(3), "k", "v"); err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("a fourth: %v", err)
	}
	aged(t, s, who(1), 2*time.Hour)
	if err := put(t, s, who(3), "k", "v"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(t.Context(), who(1)); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "max_sessions") {
		t.Errorf("the oldest: %v", err)
	}
	for _, i := range []int{0, 2, 3} {
		if n := get(t, s, who(i)); n.Pad["k"] != "v" {
			t.Errorf("%d: %v", i, n)
		}
	}
}

// Files that are none of ours, damaged, or something else altogether.
func TestOddFiles(t *testing.T) {
	s := open(t, Config{})
	if err := put(t, s, ann, "k", "v"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.cfg.Dir, nameOf(ann)+kept)
	if err := os.WriteFile(file, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(t.Context(), ann); err == nil || !strings.Contains(err.Error(), "a person has to look at") {
		t.Errorf("a broken file: %v", err)
	}
	if err := put(t, s, ann, "k", "v"); err == nil {
		t.Error("a broken file was overwritten")
	}
	if text, err := os.ReadFile(file); string(text) != "{broken" {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := Open(Config{}); err == nil {
		t.Error("no directory: it opened")
	}
	if _, err := Open(Config{Dir: "x", MaxAge: -1}); err == nil {
		t.Error("a negative bound: it opened")
	}
}
