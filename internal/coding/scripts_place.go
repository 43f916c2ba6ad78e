package coding

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// ownCopy is where this program lies for its workers.
type ownCopy struct {
	self, home string

	mu      sync.Mutex
	program string // empty: it was not placed yet
	grant   toolcrib.Grant
}

// place gives the program and the grant that shows it. A copy that is gone is made
// again: a cache may be emptied, and another version may clear away this one's.
func (o *ownCopy) place() (string, toolcrib.Grant, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.program != "" {
		if _, err := os.Stat(o.program); err == nil {
			return o.program, o.grant, nil
		}
	}
	program, grant, err := ownProgram(o.self, o.home)
	if err == nil {
		o.program, o.grant = program, grant
	}
	return program, grant, err
}

// ownProgram gives the path of this program inside the sandbox, and the grant that
// shows it there: the system's directories are shown to everybody, and any other place
// would show more than the program. A copy that somebody changes harms nobody: what a
// worker says is not believed.
func ownProgram(self, home string) (string, toolcrib.Grant, error) {
	self, err := filepath.EvalSymlinks(self)
	if err != nil {
		return "", toolcrib.Grant{}, err
	}
	if strings.HasPrefix(self, "/usr/") {
		return self, toolcrib.Grant{}, nil
	}
	if home == "" {
		return "", toolcrib.Grant{}, errors.New("there is no home directory to put the worker into")
	}
	info, err := os.Stat(self)
	if err != nil {
		return "", toolcrib.Grant{}, err
	}
	dir := filepath.Join(home, ".cache", "toolcrib-shown", "worker", fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano()))
	path := filepath.Join(dir, "toolcrib")
	if err := placeProgram(self, dir, path, info); err != nil {
		return "", toolcrib.Grant{}, fmt.Errorf("putting the worker where it runs: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", toolcrib.Grant{}, err
	}
	return filepath.Join(dir, "toolcrib"), toolcrib.Grant{Dirs: []files.Dir{{Path: dir}}}, nil
}

// placeProgram has the program at a path, as another name of the same file where that
// works.
func placeProgram(self, dir, path string, info os.FileInfo) error {
	if there, err := os.Stat(path); err == nil && there.Size() == info.Size() {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	removeOld(dir)
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // it was only read
	to, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(to.Name()) //nolint:errcheck // it has another name by then
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Chmod(0o500), to.Close()); err != nil {
		return err
	}
	return os.Rename(to.Name(), path)
}

// otherCopies is how many copies of other versions stay: programs that still run may
// start workers from them.
const otherCopies = 2

// removeOld removes the oldest copies beside this one. What cannot be removed stays.
func removeOld(dir string) {
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		return
	}
	type copied struct {
		path string
		at   time.Time
	}
	var others []copied
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && e.IsDir() && e.Name() != filepath.Base(dir) {
			others = append(others, copied{filepath.Join(filepath.Dir(dir), e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(others, func(a, b copied) int { return b.at.Compare(a.at) })
	for _, o := range others[min(len(others), otherCopies):] {
		_ = os.RemoveAll(o.path)
	}
}
