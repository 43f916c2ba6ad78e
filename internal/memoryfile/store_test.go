package memoryfile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/memory"
)

// noon is when notes are written in tests.
var noon = time.Date(2026, 11, 17, 12, 0, 0, 0, time.Local)

var ann = toolcrib.Caller{Subject: "ann", Agent: "coder"}

func clean(toolcrib.Caller) string { return "" }

func open(t testing.TB, cfg Config) *Store {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = filepath.Join(t.TempDir(), "memory")
	}
	if cfg.Untrusted == nil {
		cfg.Untrusted = clean
	}
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return noon }
	}
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func keep(t testing.TB, s *Store, c toolcrib.Caller, target, content string) memory.Saved {
	t.Helper()
	saved, err := s.Append(t.Context(), c, memory.Entry{Target: target, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

// found gives the texts of what is found, with who wrote them.
func found(t testing.TB, s *Store, c toolcrib.Caller, query string) []string {
	t.Helper()
	f, err := s.Search(t.Context(), c, query, 10)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, n := range f.Notes {
		out = append(out, n.By+": "+n.Text)
	}
	return out
}

func file(t testing.TB, s *Store, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.cfg.Dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edit is what a person does: it writes a file as a whole.
func edit(t testing.TB, s *Store, name, content string) {
	t.Helper()
	at := filepath.Join(s.cfg.Dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestAppendAndFind(t *testing.T) {
	s := open(t, Config{})
	if got := found(t, s, ann, "go"); len(got) != 0 {
		t.Errorf("nothing was written: %v", got)
	}
	if saved := keep(t, s, ann, "long_term", "The build needs Go 1.26."); saved.File != "ann/coder/MEMORY.md" {
		t.Errorf("%+v", saved)
	}
	keep(t, s, ann, "long_term", "The person likes tea.\n\n- not coffee\n")
	if saved := keep(t, s, ann, "daily", "Fixed the build."); saved.File != "ann/coder/daily/2026-11-17.md" {
		t.Errorf("%+v", saved)
	}
	want := "# Memory\n\n- 2026-11-17 12:00 The build needs Go 1.26.\n- 2026-11-17 12:00 The person likes tea.\n\n  - not coffee\n"
	if got := file(t, s, "ann/coder/MEMORY.md"); got != want {
		t.Errorf("%q", got)
	}
	if got := file(t, s, "ann/coder/daily/2026-11-17.md"); got != "# 2026-11-17\n\n- 2026-11-17 12:00 Fixed the build.\n" {
		t.Errorf("%q", got)
	}
	for query, want := range map[string][]string{
		"builds":       {"agent: Fixed the build.", "agent: The build needs Go 1.26."},
		"what tea":     {"agent: The person likes tea.\n\n- not coffee"},
		"nothing here": {},
		"1.26":         {"agent: The build needs Go 1.26."},
		"offee":        {"agent: The person likes tea.\n\n- not coffee"}, // a part of a word
	} {
		if diff := cmp.Diff(want, found(t, s, ann, query)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

// Unicode: words without accents find those with them, and scripts without spaces
// are found by their characters.
func TestUnicode(t *testing.T) {
	s := open(t, Config{})
	for _, note := range []string{"Das Café öffnet um acht.", "用户喜欢绿茶", "Пользователь любит кофе", "👨‍👩‍👧 family photo", "مرحبا بالعالم"} {
		keep(t, s, ann, "long_term", note)
	}
	for query, want := range map[string]string{"cafe": "Café", "绿茶": "绿茶", "茶": "绿茶", "кофе": "кофе", "FAMILY": "👨‍👩‍👧", "بالعالم": "مرحبا"} {
		if got := found(t, s, ann, query); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %q", query, got)
		}
	}
}

// Every agent has its own, and what is for the person is there for all of them.
func TestWhoseMemory(t *testing.T) {
	s := open(t, Config{})
	callers := []toolcrib.Caller{
		ann, {Subject: "ann", Agent: "writer"}, {Subject: "bob", Agent: "coder"}, {Subject: "ann", Agent: "coder", Organisation: "acme"},
		{Subject: "Ann", Agent: "coder"}, {Subject: "ann@acme", Agent: "coder"}, {Subject: "", Agent: "coder"}, {Subject: "_", Agent: "_"}, {Subject: "ann", Agent: "Coder"},
		{Subject: "../ann", Agent: "coder"}, {Subject: "ann/coder", Agent: ".."}, {Subject: `ann\coder`, Agent: "."}, {Subject: "con", Agent: "nul.txt"}, {Subject: "com1", Agent: "a.."},
		{Subject: strings.Repeat("x", 300), Agent: "a"}, {Subject: strings.Repeat("x", 299) + "y", Agent: "a"}, {Subject: "a\x00b", Agent: "\n"}, {Subject: "ä", Agent: "coder"}, {Subject: "a\u0308", Agent: "coder"},
	}
	for i, c := range callers {
		keep(t, s, c, "long_term", fmt.Sprintf("the word of number%dx", i))
	}
	for i, c := range callers {
		want := []string{fmt.Sprintf("agent: the word of number%dx", i)}
		if diff := cmp.Diff(want, found(t, s, c, "word")); diff != "" {
			t.Errorf("%+v: %s", c, diff)
		}
	}
	if _, err := s.Append(t.Context(), ann, memory.Entry{Target: "long_term", Scope: "user", Content: "The person is called Ann: a word for all."}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []toolcrib.Caller{callers[0], callers[1], {Subject: "ann"}} {
		if got := found(t, s, c, "called"); len(got) != 1 {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if got := found(t, s, callers[2], "called"); len(got) != 0 {
		t.Errorf("bob: %v", got)
	}
	// Nothing lies outside of the folder, and every name is one on every system.
	err := filepath.WalkDir(filepath.Dir(s.cfg.Dir), func(path string, d os.DirEntry, err error) error {
		if !strings.HasPrefix(path, s.cfg.Dir) && path != filepath.Dir(s.cfg.Dir) {
			t.Errorf("outside: %s", path)
		}
		if name := d.Name(); d.IsDir() && strings.HasPrefix(path, s.cfg.Dir+string(filepath.Separator)) && (len(name) > 250 || strings.ContainsAny(name, "/\\:*?\"<>|\x00 ") || strings.ToLower(strings.ReplaceAll(name, "%", "")) == "" || strings.HasSuffix(name, ".")) {
			t.Errorf("the name %q", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// What a person writes stays as it is and is found at once; so is what was removed.
func TestPersonEdits(t *testing.T) {
	s := open(t, Config{})
	keep(t, s, ann, "long_term", "The server is called mars.")
	const name = "ann/coder/MEMORY.md"
	own := "# My notes\r\n\r\n## Servers\r\n\r\nThe server is venus now.\r\n* backups go to pluto\r\n\r\n    really\r\n***\r\nno newline at the end"
	edit(t, s, name, own)
	if diff := cmp.Diff([]string{"person: The server is venus now."}, found(t, s, ann, "server venus")[:1]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"person: backups go to pluto\n\n  really"}, found(t, s, ann, "pluto")); diff != "" {
		t.Error(diff)
	}
	f, err := s.Search(t.Context(), ann, "pluto", 1)
	if err != nil || f.Notes[0].Section != "Servers" || f.Notes[0].File != name+":6-8" {
		t.Errorf("%+v, %v", f, err)
	}
	if got := found(t, s, ann, "mars"); len(got) != 0 {
		t.Errorf("it was removed by hand: %v", got)
	}
	keep(t, s, ann, "long_term", "Jupiter is new.")
	if got := file(t, s, name); got != own+"\n- 2026-11-17 12:00 Jupiter is new.\n" {
		t.Errorf("%q", got)
	}
	if diff := cmp.Diff([]string{"agent: Jupiter is new."}, found(t, s, ann, "jupiter")); diff != "" {
		t.Error(diff)
	}
	// An edit of the same length in the same moment is seen, too.
	for i := range 20 {
		word := fmt.Sprintf("word%02d", i)
		edit(t, s, name, "The "+word+" counts.")
		if got := found(t, s, ann, word); len(got) != 1 {
			t.Fatalf("%s: %v", word, got)
		}
	}
	edit(t, s, "ann/coder/projects.md", "- a file of its own about saturn")
	if got := found(t, s, ann, "saturn"); len(got) != 1 {
		t.Errorf("a further file: %v", got)
	}
	if err := os.Remove(filepath.Join(s.cfg.Dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
	if got := found(t, s, ann, "counts"); len(got) != 0 {
		t.Errorf("a removed file: %v", got)
	}
}

// Processes and an editor that saves at the same time lose no note.
func TestManyProcesses(t *testing.T) {
	if dir := os.Getenv("MEMORYFILE_DIR"); dir != "" {
		s := open(t, Config{Dir: dir})
		for i := range 10 {
			keep(t, s, ann, "long_term", fmt.Sprintf("note %d of %d\nwith a second line", i, os.Getpid()))
		}
		return
	}
	s := open(t, Config{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestManyProcesses$")
			cmd.Env = append(os.Environ(), "MEMORYFILE_DIR="+s.cfg.Dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	for i := range 20 {
		all.Go(func() { keep(t, s, ann, "long_term", fmt.Sprintf("note %d of mine\nwith a second line", i)) })
	}
	all.Wait()
	notes := parse(file(t, s, "ann/coder/MEMORY.md"))
	seen := map[string]bool{}
	for _, n := range notes {
		if n.by != memory.ByAgent || !strings.HasSuffix(n.text, "\nwith a second line") || seen[n.text] {
			t.Errorf("%+v", n)
		}
		seen[n.text] = true
	}
	if len(notes) != 60 {
		t.Errorf("%d of 60 notes", len(notes))
	}
}

func TestRefused(t *testing.T) {
	s := open(t, Config{})
	for content, want := range map[string]string{
		strings.Repeat("x", 10<<20):    "at most 4000 are kept: nothing was written",
		strings.Repeat("ä", maxNote+1): "the note has 4001 characters",
		"\n":                           "the note has no text",
		"a\xffb":                       "no valid text",
	} {
		if saved, err := s.Append(t.Context(), ann, memory.Entry{Target: "daily", Content: content}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %+v, %v", content, saved, err)
		}
	}
	if _, err := os.Stat(s.cfg.Dir); err == nil {
		t.Error("what was refused has made a folder")
	}
	keep(t, s, ann, "long_term", strings.Repeat("ä", maxNote))
	// A file that is full, or no text, is left as it is.
	for _, c := range [][2]string{{strings.Repeat("x\n", maxFile/2), "A person has to shorten it"}, {"\xff\xfea\x00b\x00", "no UTF-8 text"}} {
		content, want := c[0], c[1]
		edit(t, s, "ann/coder/MEMORY.md", content)
		if _, err := s.Append(t.Context(), ann, memory.Entry{Target: "long_term", Content: "x"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
		if got := file(t, s, "ann/coder/MEMORY.md"); got != content {
			t.Errorf("it was changed: %.20q", got)
		}
	}
	edit(t, s, "ann/coder/other.md", "a note about neptune")
	f, err := s.Search(t.Context(), ann, "neptune", 5)
	if err != nil || len(f.Notes) != 1 || len(f.Skipped) != 1 || !strings.Contains(f.Skipped[0], "MEMORY.md: it is no UTF-8 text") {
		t.Errorf("%+v, %v", f, err)
	}
	edit(t, s, "ann/coder/MEMORY.md", strings.Repeat("x\n", maxFile))
	if f, err = s.Search(t.Context(), ann, "neptune", 5); err != nil || len(f.Notes) != 1 || len(f.Skipped) != 1 || !strings.Contains(f.Skipped[0], "longer than") {
		t.Errorf("%+v, %v", f, err)
	}
}
