package upgrade

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// workPrefix begins the name of the directory that one upgrade works in.
const workPrefix = ".toolcrib-upgrade-"

// place is where the program lies, and a directory of our own beside it: on the
// same disk, so that what is ready can be moved in one step.
type place struct {
	file string
	dir  string
}

// openPlace makes the directory, and clears away what a killed upgrade left: it is
// older than an upgrade may take, so that it is nobody's who is still at work.
func openPlace(file string) (*place, error) {
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file that could be replaced", file)
	}
	parent := filepath.Dir(file)
	dir, err := os.MkdirTemp(parent, workPrefix)
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("you cannot write in %s: run the upgrade as whoever installed it there, or install into your own directory with install.sh", parent)
	}
	if err != nil {
		return nil, err
	}
	p := &place{file: file, dir: dir}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), workPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > 2*longest {
			_ = os.RemoveAll(filepath.Join(parent, e.Name())) // it only takes room
		}
	}
	return p, nil
}

func (p *place) close() error { return os.RemoveAll(p.dir) }

// Old is where the program before the last upgrade is kept.
func Old(file string) string {
	if name, ok := strings.CutSuffix(file, ".exe"); ok {
		return name + ".old.exe"
	}
	return file + ".old"
}

// swap puts a program in the place of the one that is there, and keeps that one.
func (p *place) swap(fresh string) (old string, err error) {
	info, err := os.Stat(p.file)
	if err != nil {
		return "", err
	}
	if err := os.Chmod(fresh, info.Mode().Perm()|0o100); err != nil {
		return "", err
	}
	old = Old(p.file)
	if err := p.exchange(fresh, old); err != nil {
		return "", fmt.Errorf("replacing %s: %w", p.file, err)
	}
	return old, nil
}

// keepCopy gives the file a second name, or a copy where the disk has no such names.
func keepCopy(file, name string) (err error) {
	if os.Link(file, name) == nil {
		return nil
	}
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	return to.Sync()
}
