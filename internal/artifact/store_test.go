package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

func openStore(t testing.TB, cfg Config) *Store {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = filepath.Join(t.TempDir(), "artifacts")
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

func put(t testing.TB, s *Store, who toolcrib.Caller, text string) string {
	t.Helper()
	id, err := s.Put(who, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func ann() toolcrib.Caller {
	return toolcrib.Caller{Subject: "ann", Organisation: "acme", Session: "s1"}
}

func has(t testing.TB, s *Store, who toolcrib.Caller, id string) bool {
	t.Helper()
	_, _, err := s.Read(who, id, 0, 1)
	if err != nil && !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func TestStore(t *testing.T) {
	s := openStore(t, Config{})
	id := put(t, s, ann(), "0123456789")
	for _, c := range []struct {
		offset int64
		limit  int
		want   string
	}{{0, 100, "0123456789"}, {0, 3, "012"}, {8, 3, "89"}, {10, 3, ""}, {99, 3, ""}, {1 << 62, 1 << 20, ""}, {3, 0, ""}} {
		part, total, err := s.Read(ann(), id, c.offset, c.limit)
		if err != nil || total != 10 || string(part) != c.want {
			t.Errorf("%d, %d: %q of %d, %v", c.offset, c.limit, part, total, err)
		}
	}
	again := openStore(t, Config{Dir: s.cfg.Dir}) // another process
	if !has(t, again, ann(), id) {
		t.Error("it did not outlive the store that wrote it")
	}
	if runtime.GOOS != "windows" {
		err := filepath.Walk(s.cfg.Dir, func(path string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s is open to others: %v", path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestOnlyTheirOwn: what belongs to one caller is not there for any other, and
// no ID leads to anything but an artifact.
func TestOnlyTheirOwn(t *testing.T) {
	s := openStore(t, Config{})
	id := put(t, s, ann(), "secret")
	for name, who := range map[string]toolcrib.Caller{
		"other subject":      {Subject: "bob", Organisation: "acme", Session: "s1"},
		"other organisation": {Subject: "ann", Organisation: "other", Session: "s1"},
		"no organisation":    {Subject: "ann", Session: "s1"},
		"other session":      {Subject: "ann", Organisation: "acme", Session: "s2"},
		"no session":         {Subject: "ann", Organisation: "acme"},
		"nobody":             {},
		"letters moved":      {Subject: "meann", Organisation: "ac", Session: "s1"},
		"NUL":                {Subject: "ann\x00s1", Organisation: "acme"},
	} {
		if has(t, s, who, id) {
			t.Errorf("%s can read it", name)
		}
	}
	same := ann()
	same.Agent, same.Frontend, same.Dialect, same.Token = "coder", "mcp", "ovos", "t"
	if !has(t, s, same, id) {
		t.Error("another way in is another caller")
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.cfg.Dir), "outside"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", ".", "..", "/", "../outside", "../../etc/passwd", id + "." + owner(ann()), id + "/", "/" + id, strings.ToUpper(id), id + "\x00",
		" " + id, id[1:], id + "a", "..%2foutside", `..\outside`, "new-" + id, strings.Repeat("a", 1<<20), strings.Repeat(".", 26), strings.Repeat("/", 26), "con", "aaaaaaaaaaaaaaaaaaaaaaaaa1",
	} {
		if part, _, err := s.Read(ann(), bad, 0, 100); !errors.Is(err, ErrNotFound) {
			t.Errorf("%.40q: %q, %v", bad, part, err)
		}
	}
	for _, c := range [][2]int{{-1, 5}, {0, -1}} {
		if _, _, err := s.Read(ann(), id, int64(c[0]), c[1]); !errors.Is(err, ErrNotFound) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestLinksInTheStore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege on Windows")
	}
	dir := t.TempDir()
	s := openStore(t, Config{Dir: filepath.Join(dir, "artifacts")})
	outside := filepath.Join(dir, "outside")
	if err := os.WriteFile(outside, []byte("not yours"), 0o600); err != nil {
		t.Fatal(err)
	}
	bob := toolcrib.Caller{Subject: "bob"}
	of := put(t, s, bob, "of bob")
	for name, target := range map[string]string{"outside": outside, "inside": of + "." + owner(bob), "up": "../outside", "directory": "."} {
		id := newID()
		link := filepath.Join(s.cfg.Dir, id+"."+owner(ann()))
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if part, _, err := s.Read(ann(), id, 0, 100); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %q, %v", name, part, err)
		}
		put(t, s, ann(), "x")
		if _, err := os.Lstat(link); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the link is still there: %v", name, err)
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "not yours" {
		t.Errorf("what a link led to has changed: %q, %v", text, err)
	}
	if !has(t, s, bob, of) {
		t.Error("what a link led to is gone")
	}
	moved := filepath.Join(dir, "moved")
	if err := os.Symlink(s.cfg.Dir, moved); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: moved}); err == nil {
		t.Error("a link was opened as the directory")
	}
}

// use gives how much the directory holds, and of an owner.
func use(t testing.TB, s *Store, who toolcrib.Caller) (total, own int64, count int) {
	t.Helper()
	list, err := s.list()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		total += k.size
		if k.owner == owner(who) {
			own += k.size
			count++
		}
	}
	return total, own, count
}

func TestBounds(t *testing.T) {
	clock := &cribtest.Clock{}
	s := openStore(t, Config{PerCaller: 1000, Total: 2500, Count: 5, MaxAge: time.Hour, Now: clock.Now})
	var ids []string
	for range 20 {
		ids = append(ids, put(t, s, ann(), strings.Repeat("x", 300)))
		clock.Advance(time.Second)
		if _, own, count := use(t, s, ann()); own > 1000 || count > 5 {
			t.Fatalf("%d bytes in %d", own, count)
		}
	}
	for i, id := range ids {
		if has(t, s, ann(), id) != (i >= 17) {
			t.Errorf("%d: the newest three should be there", i)
		}
	}
	for i := range 30 {
		put(t, s, toolcrib.Caller{Subject: fmt.Sprint("other", i)}, strings.Repeat("y", 400))
		clock.Advance(time.Second)
		if total, _, _ := use(t, s, ann()); total > 2500 {
			t.Fatalf("%d bytes in all", total)
		}
	}
	for range 12 {
		put(t, s, ann(), "z")
	}
	if _, _, count := use(t, s, ann()); count != 5 {
		t.Errorf("%d small ones, want 5", count)
	}
	if _, err := s.Put(ann(), make([]byte, 1001)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("more than there may be: %v", err)
	}
	id := put(t, s, ann(), "last")
	clock.Advance(time.Hour)
	if !has(t, s, ann(), id) {
		t.Error("gone before its time")
	}
	clock.Advance(time.Second)
	if has(t, s, ann(), id) {
		t.Error("it is too old and still read")
	}
	put(t, s, ann(), "new")
	if total, _, _ := use(t, s, ann()); total != 3 {
		t.Errorf("%d bytes are left after all have had their time", total)
	}
	clock.Advance(-48 * time.Hour) // the clock was wrong, and is set
	if id = put(t, s, ann(), "now"); !has(t, s, ann(), id) {
		t.Error("a clock that was set back keeps new ones out")
	}
	if total, _, _ := use(t, s, ann()); total != 3 {
		t.Errorf("%d bytes: what comes from the future stays", total)
	}
}

// TestLitter: what a process left that died, and what is not ours.
func TestLitter(t *testing.T) {
	clock := &cribtest.Clock{}
	s := openStore(t, Config{Now: clock.Now})
	draft, foreign := filepath.Join(s.cfg.Dir, draftPrefix+newID()), filepath.Join(s.cfg.Dir, "notes.txt")
	for _, path := range []string{draft, foreign} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, clock.Now(), clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, ann(), "x")
	if _, err := os.Stat(draft); err != nil {
		t.Errorf("a file that is being written was removed: %v", err)
	}
	clock.Advance(2 * time.Hour)
	put(t, s, ann(), "x")
	if _, err := os.Stat(draft); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that nobody finishes stays: %v", err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("a file that is not ours was removed: %v", err)
	}
}

func TestTogether(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "artifacts")
	stores := []*Store{openStore(t, Config{Dir: dir, Total: 10_000, PerCaller: 5000}), openStore(t, Config{Dir: dir, Total: 10_000, PerCaller: 5000})}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s, who := stores[i%2], toolcrib.Caller{Subject: fmt.Sprint(i)}
			want := bytes.Repeat([]byte{byte('a' + i)}, 500)
			for range 30 {
				id, err := s.Put(who, want)
				if err != nil {
					t.Error(err)
					return
				}
				if got, _, err := s.Read(who, id, 0, 1000); err == nil && !bytes.Equal(got, want) || err != nil && !errors.Is(err, ErrNotFound) {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
	put(t, stores[0], ann(), "x")
	if total, _, _ := use(t, stores[0], ann()); total > 10_000 {
		t.Errorf("%d bytes in all", total)
	}
}
