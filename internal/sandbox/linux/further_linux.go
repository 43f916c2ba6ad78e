//go:build amd64 || arm64

package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A file that was covered anew may have further names. A program that made one
// before reaches the file by it. But pnpm, uv and backups link all their files
// to a store as well, which no program was granted. So where a name is left that
// is not covered, all that was granted is searched for it: also what a look
// leaves out, because the program may stand in it.

// The bounds on such a search. All programs of the sandbox are stopped meanwhile.
const (
	maxSearched = 1 << 20
	maxSearch   = 5 * time.Second
	searchDepth = 200 // each level is a descriptor
)

// named gives an error if a file that was covered anew has a name in what was
// granted that is not covered, or if that cannot be told.
func (g *guard) named(covers []sandbox.Cover, dirs []files.Dir) error {
	wanted, fine := map[sandbox.FileID]string{}, map[string]bool{} // fine: names that are covered
	s := newSearch()
	for _, list := range []map[sandbox.FileID]sandbox.Cover{g.fresh, g.inner} {
		for id, c := range list {
			if c.Dir && c.Kind != sandbox.Pin { // nobody stands in it, nor has something in it open
				s.shut[c.Path] = id
				continue
			}
			st, regular := regularAt(c.Path)
			if !regular || st.Nlink < 2 {
				continue
			}
			names := uint64(1)
			for _, other := range covers {
				if other.ID.Number() == id && other.Path != c.Path {
					names++
				}
			}
			if uint64(st.Nlink) > names { //nolint:unconvert // it is smaller on arm64
				wanted[id], fine[c.Path] = c.Path, true
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	began := map[string]sandbox.FileID{}
	for _, c := range g.run.job.covers {
		began[c.Path] = c.ID
	}
	for _, c := range covers {
		switch {
		case c.Kind == sandbox.Pin:
		case !c.Dir:
			fine[c.Path] = true
		case began[c.Path] == c.ID: // what was covered later the program may stand in
			s.shut[c.Path] = c.ID.Number()
		}
	}
	s.visit = func(path string, st *unix.Stat_t) error {
		if file, ok := wanted[numberOf(st)]; ok && !fine[path] {
			return fmt.Errorf("%s: %w: %s", sandbox.Shorten(file), errNamed, sandbox.Shorten(path))
		}
		return nil
	}
	for _, d := range dirs {
		if place, err := s.enter(unix.AT_FDCWD, d.Path, d.Path, 0); errors.Is(err, errUnsearched) {
			for _, path := range wanted {
				return fmt.Errorf("%s: %w; %s could not be searched", sandbox.Shorten(path), errNamed, sandbox.Shorten(place))
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// treeSearch goes through directories.
type treeSearch struct {
	visit func(path string, st *unix.Stat_t) error // a directory before what lies in it, or a regular file
	shut  map[string]sandbox.FileID                // directories that are left out, by number
	until time.Time
	left  int
}

func newSearch() *treeSearch {
	return &treeSearch{shut: map[string]sandbox.FileID{}, until: time.Now().Add(maxSearch), left: maxSearched}
}

// errUnsearched: a place could not be searched, or there is too much in it.
var errUnsearched = errors.New("it could not be searched")

// enter goes through one directory and all below. With an error it gives the place.
func (s *treeSearch) enter(at int, name, path string, depth int) (place string, err error) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP): // something else by now
		return "", nil
	case errors.Is(err, unix.EACCES) && outOfReach(at, name):
		return "", nil
	case err != nil:
		return path, errUnsearched
	}
	dir := os.NewFile(uintptr(fd), path)
	defer func() { _ = dir.Close() }() // it was only read
	var here unix.Stat_t
	if err := unix.Fstat(fd, &here); err != nil || depth > searchDepth {
		return path, errUnsearched
	}
	if id, ok := s.shut[path]; ok && id == numberOf(&here) {
		return "", nil
	}
	if err := s.visit(path, &here); err != nil {
		return path, err
	}
	names, err := dir.Readdirnames(s.left)
	if s.left -= len(names); err != nil && len(names) > 0 || s.left <= 0 || time.Now().After(s.until) {
		return path, errUnsearched
	}
	for _, name := range names {
		var st unix.Stat_t
		switch err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); {
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EACCES) && outOfReach(at, path):
			continue
		case err != nil:
			return path, errUnsearched
		}
		full := filepath.Join(path, name)
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			if place, err := s.enter(fd, name, full, depth+1); err != nil {
				return place, err
			}
		case unix.S_IFREG:
			if err := s.visit(full, &st); err != nil {
				return full, err
			}
		}
	}
	return "", nil
}

// outOfReach tells whether a directory that we cannot read is one of somebody
// else, into which no program can go either. Our own a program could open up.
func outOfReach(at int, name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && int(st.Uid) != os.Geteuid() && unix.Faccessat(at, name, unix.X_OK, 0) != nil
}
