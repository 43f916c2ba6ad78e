//go:build unix

package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestFilesRace exchanges a file for links and pipes while it is read, looked
// at and walked over, thousands of times.
func TestFilesRace(t *testing.T) {
	g := newGrounds(t)
	g.put(t, "in/.env", "SECRET\n")
	g.put(t, "in/.git/config", "SECRET\n")
	f := g.open(t, files.Options{}, "w in")
	kinds := []func(string) error{
		func(p string) error { return os.Symlink("../out/secret.txt", p) },
		func(p string) error { return os.WriteFile(p, []byte("fine\n"), 0o644) },
		func(p string) error { return os.Symlink(".env", p) },
		func(p string) error { return os.WriteFile(p, []byte("fine\n"), 0o644) },
		func(p string) error { return syscall.Mkfifo(p, 0o644) },
		func(p string) error { return os.Symlink(filepath.Join(g.in, "a.txt"), p) },
		func(p string) error { return os.Symlink(".git/config", p) },
	}
	var over atomic.Bool
	var turns atomic.Int64
	var group sync.WaitGroup
	group.Go(func() {
		next, path := filepath.Join(g.in, "next"), filepath.Join(g.in, "flip")
		for i := 0; !over.Load(); i++ {
			if kinds[i%len(kinds)](next) == nil && os.Rename(next, path) == nil {
				turns.Add(1)
			}
		}
	})
	defer group.Wait()
	defer over.Store(true)
	rounds, fine := 0, 0
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && (turns.Load() < 5000 || fine < 20); rounds++ {
		data, _, err := f.ReadFile("flip", 100)
		if strings.Contains(string(data), "SECRET") {
			t.Fatal("a read was led astray")
		}
		if err == nil {
			fine++
		}
		if path, err := f.Real("flip"); err == nil && !strings.HasPrefix(path, g.in+"/") || strings.HasSuffix(path, ".env") {
			t.Fatalf("a name leads to %s", path)
		}
		if err := f.Walk(t.Context(), ".", func(d *files.Folder) error {
			for _, name := range []string{"flip", ".env"} {
				s, err := d.Open(name)
				if err != nil {
					continue
				}
				buf := make([]byte, 100)
				n, _ := s.Read(buf)
				if err := s.Close(); err != nil || strings.Contains(string(buf[:n]), "SECRET") {
					return errors.Join(errors.New("a walk was led astray"), err)
				}
			}
			d.Entries = nil
			return nil
		}, nil); err != nil {
			t.Fatal(err)
		}
	}
	over.Store(true)
	group.Wait()
	t.Logf("%d exchanges during %d rounds, %d reads of a real file", turns.Load(), rounds, fine)
	if turns.Load() < 1000 || fine == 0 {
		t.Error("too few for a race")
	}
	if g.read(t, "out/secret.txt") != "SECRET\n" || g.read(t, "in/.env") != "SECRET\n" {
		t.Error("something outside changed")
	}
}

// TestFilesDirRace exchanges a directory for a link to a protected one beside
// it, which os.Root alone would follow.
func TestFilesDirRace(t *testing.T) {
	g := newGrounds(t)
	g.put(t, "in/.git/hooks/x", "SECRET\n")
	g.put(t, "in/d/x", "fine\n")
	g.link(t, ".git/hooks", "in/l")
	f := g.open(t, files.Options{}, "w in")
	var over atomic.Bool
	var turns atomic.Int64
	var group sync.WaitGroup
	group.Go(func() {
		d, l, x := filepath.Join(g.in, "d"), filepath.Join(g.in, "l"), filepath.Join(g.in, "x")
		for !over.Load() {
			if os.Rename(d, x) == nil && os.Rename(l, d) == nil && os.Rename(d, l) == nil && os.Rename(x, d) == nil {
				turns.Add(1)
			}
		}
	})
	defer group.Wait()
	defer over.Store(true)
	fine := 0
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && (turns.Load() < 20000 || fine < 20); {
		data, _, err := f.ReadFile("d/x", 100)
		if strings.Contains(string(data), "SECRET") {
			t.Fatal("a read was led astray")
		}
		if err == nil {
			fine++
		}
		if err := f.Walk(t.Context(), "d", func(d *files.Folder) error {
			if s, err := d.Open("x"); err == nil {
				buf := make([]byte, 100)
				n, _ := s.Read(buf)
				if err := s.Close(); err != nil || strings.Contains(string(buf[:n]), "SECRET") {
					return errors.Join(errors.New("led astray"), err)
				}
			}
			return nil
		}, nil); err != nil && strings.Contains(err.Error(), "astray") {
			t.Fatal(err)
		}
	}
	over.Store(true)
	group.Wait()
	t.Logf("%d exchanges, %d reads of the real file", turns.Load(), fine)
	if turns.Load() < 1000 || fine == 0 {
		t.Error("too few for a race")
	}
}

// TestFilesWaitsForNothing: what is no file is refused at once.
func TestFilesWaitsForNothing(t *testing.T) {
	g := newGrounds(t)
	if err := syscall.Mkfifo(filepath.Join(g.in, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	g.link(t, "fifo", "in/link")
	f := g.open(t, files.Options{Trash: filepath.Join(g.base, "trash")}, "w in")
	done := make(chan error)
	go func() {
		for _, name := range []string{"fifo", "link", "fifo/x"} {
			if _, _, err := f.ReadFile(name, 10); err == nil {
				done <- fmt.Errorf("%s was read", name)
			}
			if _, err := f.Stamp(name); err == nil && name != "fifo/x" {
				done <- fmt.Errorf("%s has a stamp", name)
			}
			if err := f.WriteFile(name, []byte("x"), nil); err == nil {
				done <- fmt.Errorf("%s was written", name)
			}
		}
		if _, err := f.Remove("fifo"); err == nil {
			done <- fmt.Errorf("a pipe was removed")
		}
		close(done)
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("something waits for a pipe")
	}
}

func TestFilesHardLinks(t *testing.T) {
	g := newGrounds(t)
	g.put(t, "in/.env", "SECRET\n")
	g.put(t, "in/deep/repo/.git/config", "SECRET\n")
	g.put(t, "home/.ssh/id", "SECRET\n")
	g.put(t, "home/.netrc", "SECRET\n")
	for name, target := range map[string]string{"in/h1": "in/.env", "in/h2": "in/deep/repo/.git/config", "in/h3": "home/.ssh/id", "in/h4": "home/.netrc", "in/fine": "in/a.txt"} {
		if err := os.Link(filepath.Join(g.base, target), filepath.Join(g.base, name)); err != nil {
			t.Fatal(err)
		}
	}
	f := g.open(t, files.Options{Protected: protection(t, filepath.Join(g.base, "home"))}, "w in")
	if data, _, err := f.ReadFile("fine", 10); string(data) != "a\n" || err != nil {
		t.Errorf("a harmless hard link: %q, %v", data, err)
	}
	for _, name := range []string{"h1", "h2", "h3", "h4"} {
		if data, _, err := f.ReadFile(name, 10); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		err := f.Walk(t.Context(), ".", func(d *files.Folder) error {
			d.Entries = nil
			if s, err := d.Open(name); err == nil {
				return fmt.Errorf("%s was opened on a walk: %w", name, s.Close())
			}
			return nil
		}, nil)
		if err != nil {
			t.Error(err)
		}
	}
	// To write to one is to make a file of its own.
	if err := f.WriteFile("h1", []byte("mine"), nil); err != nil || g.read(t, "in/.env") != "SECRET\n" || g.read(t, "in/h1") != "mine" {
		t.Errorf("writing to a hard link: %v", err)
	}
}

// FuzzPath: whatever the name, it leads into the grant, past what is
// protected, or nowhere.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"a.txt", "../out/secret.txt", "up/out/secret.txt", "/etc/passwd", "dir/../..", "loop/x", ".git/config", ".GIT/hooks/x", "./.env", "abs/secret.txt", "l1/l2/b.txt", "dir/./b.txt\x00", "up/in/dir/b.txt"} {
		f.Add(seed)
	}
	g := newGrounds(f)
	g.put(f, "in/.env", "SECRET\n")
	g.put(f, "in/.git/config", "SECRET\n")
	g.put(f, "in/.git/hooks/x", "SECRET\n")
	g.link(f, "..", "in/up")
	g.link(f, g.out, "in/abs")
	g.link(f, "loop", "in/loop")
	g.link(f, "dir", "in/l1")
	g.link(f, "../dir", "in/dir/l2")
	g.link(f, ".git", "in/g")
	handle := g.open(f, files.Options{}, "w in")
	f.Fuzz(func(t *testing.T, name string) {
		if path, err := handle.Real(name); err == nil && path != g.in && !strings.HasPrefix(path, g.in+"/") {
			t.Errorf("%q leads to %s", name, path)
		}
		if data, _, err := handle.ReadFile(name, 1000); err == nil && strings.Contains(string(data), "SECRET") {
			t.Errorf("%q gives away %q", name, data)
		}
		if _, err := handle.Stat(name); err != nil && strings.Contains(err.Error(), g.base) && !strings.Contains(name, g.base) {
			t.Errorf("%q: the text tells where we are: %v", name, err)
		}
		if err := handle.Walk(t.Context(), name, func(d *files.Folder) error {
			for _, e := range d.Entries {
				if e.Name == "secret.txt" || e.Name == ".env" || e.Name == "hooks" {
					t.Errorf("%q lists %s", name, e.Name)
				}
			}
			return nil
		}, nil); err == nil && strings.Contains(name, "\x00") {
			t.Errorf("%q was walked", name)
		}
	})
}
