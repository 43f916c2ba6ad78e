//go:build !windows

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// noFollow opens no link, and waits at no pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func chmod(f *os.File, mode fs.FileMode) error { return f.Chmod(mode) }

func rename(from, to string) error { return os.Rename(from, to) }

// syncDir flushes a directory. Some file systems cannot, and say so.
func syncDir(dir string) (flushed bool, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	err = d.Sync()
	unable := errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
	if unable {
		err = nil
	}
	err = errors.Join(err, d.Close())
	return err == nil && !unable, err
}
