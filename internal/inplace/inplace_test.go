package inplace

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// plain opens files as they are.
type plain struct{}

func (plain) Open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }
func (plain) Remove(path string) error           { return os.Remove(path) }

func put(t *testing.T, name string, text []byte) string {
	t.Helper()
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func notes(t *testing.T) Dir {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kept")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return Dir(dir)
}

// TestCutOff: wherever a write was cut off, the old content comes back, and
// nothing else is touched.
func TestCutOff(t *testing.T) {
	dir, file := notes(t), filepath.Join(t.TempDir(), "f")
	for _, c := range [][2]string{{"old text", "the new and longer text"}, {"the old and longer text", "new"}, {"same length", "equal sizes"}, {"", "new"}, {"old", ""}} {
		for k := 0; k <= len(c[1]); k++ {
			now := c[1][:k]
			if k < len(c[0]) {
				now += c[0][k:]
			}
			n := &note{Path: file, old: []byte(c[0]), data: []byte(c[1])}
			if err := n.save(dir.file(file)); err != nil {
				t.Fatal(err)
			}
			put(t, file, []byte(now))
			told, err := dir.Mend(plain{})
			want := c[0]
			if now == c[1] {
				want = c[1]
			}
			if got := string(read(t, file)); err != nil || got != want || (len(told) > 0) != (now != c[0] && now != c[1]) || dir.Pending(file) {
				t.Errorf("%q to %q cut off at %d: %q, %q, %v", c[0], c[1], k, got, told, err)
			}
		}
	}
}

// TestChangedSince: what somebody wrote after the write was cut off stays, and
// so does the old content.
func TestChangedSince(t *testing.T) {
	dir, file := notes(t), put(t, filepath.Join(t.TempDir(), "f"), []byte("by a person"))
	n := &note{Path: file, old: []byte("precious"), data: []byte("new")}
	if err := n.save(dir.file(file)); err != nil {
		t.Fatal(err)
	}
	told, err := dir.Mend(plain{})
	left, _ := filepath.Glob(filepath.Join(string(dir), "*.left"))
	if err != nil || len(told) != 1 || string(read(t, file)) != "by a person" || len(left) != 1 || !strings.Contains(told[0], left[0]) || !bytes.Contains(read(t, left[0]), []byte("precious")) {
		t.Errorf("told %q, left %q, %v", told, left, err)
	}
	if told, err := dir.Mend(plain{}); err != nil || len(told) > 0 {
		t.Errorf("it is told again: %q, %v", told, err)
	}
}

// TestNewFile: a new file that had only begun is removed.
func TestNewFile(t *testing.T) {
	dir := notes(t)
	for _, now := range []string{"", "be", "begun"} {
		file := put(t, filepath.Join(t.TempDir(), "f"), []byte(now))
		if err := (&note{Path: file, New: true, data: []byte("begun")}).save(dir.file(file)); err != nil {
			t.Fatal(err)
		}
		_, err := dir.Mend(plain{})
		_, lerr := os.Lstat(file)
		if err != nil || errors.Is(lerr, fs.ErrNotExist) != (now != "begun") {
			t.Errorf("%q: %v, %v", now, err, lerr)
		}
	}
}

// TestKilled kills a process that writes all the time. What is mended then is
// always one of the two contents.
func TestKilled(t *testing.T) {
	a, b := bytes.Repeat([]byte("old\n"), 1<<19), bytes.Repeat([]byte("the new one\n"), 1<<18)
	if file := os.Getenv("INPLACE_TEST_FILE"); file != "" {
		dir := Dir(os.Getenv("INPLACE_TEST_DIR"))
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		for {
			if err := errors.Join(dir.Write(file, f, a, b, false), dir.Write(file, f, b, a, false)); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir, file := notes(t), filepath.Join(t.TempDir(), "f")
	cut := 0
	for i := range 8 {
		put(t, file, a)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "INPLACE_TEST_FILE="+file, "INPLACE_TEST_DIR="+string(dir))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); !dir.Pending(file) && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(i) * time.Millisecond) // so that it is killed at another point each time
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		told, err := dir.Mend(plain{})
		if now := read(t, file); err != nil || !bytes.Equal(now, a) && !bytes.Equal(now, b) || dir.Pending(file) {
			t.Fatalf("%d bytes, told %q, %v", len(now), told, err)
		}
		cut += len(told)
	}
	t.Logf("%d of 8 were cut off", cut)
}

func FuzzNote(f *testing.F) {
	f.Add([]byte("{\"path\":\"/f\",\"sum\":\"\",\"old\":3}\noldnew"), []byte("old"))
	f.Fuzz(func(t *testing.T, text, now []byte) {
		name := put(t, filepath.Join(t.TempDir(), "n"), text)
		n, err := readNote(name)
		if err != nil {
			t.Fatal(err)
		}
		if n != nil {
			n.torn(now)
		}
		n = &note{Path: "/f", old: text, data: now}
		if err := n.save(name); err != nil {
			t.Fatal(err)
		}
		again, err := readNote(name)
		if err != nil || again == nil || !bytes.Equal(again.old, text) || !bytes.Equal(again.data, now) {
			t.Fatalf("%v, %v", again, err)
		}
	})
}
