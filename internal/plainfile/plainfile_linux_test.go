package plainfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// TestReadDoesNotWait: a pipe that takes the place of a file, at whatever moment,
// keeps nobody waiting.
func TestReadDoesNotWait(t *testing.T) {
	dir := t.TempDir()
	file, plain, pipe, next := filepath.Join(dir, "file"), filepath.Join(dir, "plain"), filepath.Join(dir, "pipe"), filepath.Join(dir, "next")
	if err := errors.Join(os.WriteFile(plain, []byte("x"), 0o600), syscall.Mkfifo(pipe, 0o600), os.Link(plain, file)); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				if err := errors.Join(os.Link([]string{pipe, plain}[i%2], next), os.Rename(next, file)); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	read := make(chan struct{})
	go func() {
		defer close(read)
		for range 20_000 {
			if text, err := plainfile.Read(file, 10); err == nil && string(text) != "x" {
				t.Errorf("%q", text)
			}
		}
	}()
	select {
	case <-read:
	case <-time.After(2 * time.Minute):
		t.Error("it waits at a pipe")
	}
	close(stop)
	wait.Wait()
}

// TestDirDoesNotWait: a pipe is no directory, and nobody waits to learn that.
func TestDirDoesNotWait(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := plainfile.ReadDir(pipe); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a pipe: %v", err)
	}
	if list, err := plainfile.ReadDir(filepath.Dir(pipe)); err != nil || len(list) != 1 {
		t.Errorf("a directory: %v, %v", list, err)
	}
}
