package durable

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain is also the process that dies in the middle of a write.
func TestMain(m *testing.M) {
	if point := os.Getenv("DURABLE_DIE_AT"); point != "" {
		at := func(p Point) {
			if p == Point(point) {
				os.Exit(7)
			}
		}
		_, err := Replacement{Locked: os.Getenv("DURABLE_LOCKED") != "", At: at}.Write(os.Args[1], []byte(after), 0o600)
		if err != nil {
			os.Exit(8)
		}
		os.Exit(0)
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program that a test starts would wait for a second at its end
	os.Exit(m.Run())
}

const before, after = "what was there before", "what is there afterwards, and longer"

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// TestDeath: whoever dies at any point of a write leaves the old or the new
// content whole, and the next write works.
func TestDeath(t *testing.T) {
	for _, locked := range []string{"", "yes"} {
		for i, point := range []Point{Made, Half, Written, Synced, Renamed, Done} {
			path := filepath.Join(t.TempDir(), "file")
			if err := Replace(path, []byte(before), 0o640); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], path)
			cmd.Env = append(os.Environ(), "DURABLE_DIE_AT="+string(point), "DURABLE_LOCKED="+locked)
			err := cmd.Run()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 7 {
				t.Fatalf("%s: the child did not die there: %v", point, err)
			}
			want := before
			if i >= 4 {
				want = after
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", point, got, err)
			}
			if err := (func() error { _, err := Replacement{Locked: true}.Write(path, []byte("next"), 0o600); return err })(); err != nil {
				t.Errorf("%s: the next write: %v", point, err)
			}
			if left := names(t, filepath.Dir(path)); locked != "" && !slices.Equal(left, []string{"file"}) {
				t.Errorf("%s: %v are left", point, left)
			}
		}
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, mode := range []fs.FileMode{0o600, 0o644} {
		if err := Replace(path, []byte(after), mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != mode {
			t.Errorf("%v, %v", info, err)
		}
	}
	// What cannot be replaced stays, and nothing is left beside it.
	if err := os.MkdirAll(filepath.Join(dir, "full", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, locked := range []bool{false, true} {
		if _, err := (Replacement{Locked: locked}).Write(filepath.Join(dir, "full"), nil, 0o600); err == nil || !strings.Contains(err.Error(), "full") {
			t.Errorf("a directory was replaced: %v", err)
		}
	}
	if _, err := (Replacement{SyncDir: func(string) (bool, error) { return false, errors.New("no") }}).Write(path, nil, 0o600); err == nil {
		t.Error("a directory that cannot be flushed is no error")
	}
	if err := Replace(filepath.Join(dir, "missing", "file"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a missing directory: %v", err)
	}
	if left := names(t, dir); !slices.Equal(left, []string{"file", "full"}) {
		t.Errorf("%v are left", left)
	}
}

// TestManyWriters: of writers without a lock each writes all or nothing.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 20 {
				if err := Replace(path, bytes.Repeat([]byte{byte('a' + i)}, 5000), 0o600); err != nil {
					t.Error(err)
					return
				}
				if got, err := os.ReadFile(path); err != nil || len(got) != 5000 || strings.Trim(string(got), string(got[:1])) != "" {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			}
		})
	}
	all.Wait()
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if f, err := TryLock(path, false); f != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%v, %v", f, err)
	}
	first, err := TryLock(path, true)
	if err != nil || first == nil {
		t.Fatal(err)
	}
	if second, err := TryLock(path, true); second != nil || err != nil {
		t.Fatalf("two hold it: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	got := make(chan error, 1)
	go func() {
		f, err := Lock(context.Background(), path)
		if err == nil {
			err = f.Close()
		}
		got <- err
	}()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}
