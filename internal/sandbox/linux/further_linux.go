//go:build amd64 || arm64

package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
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
func (g *guard) named(covers []sandbox.Cover, dirs []toolcrib.Dir) error {
	s := &nameSearch{wanted: map[sandbox.FileID]string{}, fine: map[string]bool{}, shut: map[string]sandbox.FileID{}, until: time.Now().Add(maxSearch), left: maxSearched}
	for id, c := range g.fresh {
		st, regular := regularAt(c.Path)
		if !regular {
			continue
		}
		names := uint64(1)
		for _, other := range covers {
			if other.ID == id && other.Path != c.Path {
				names++
			}
		}
		if uint64(st.Nlink) > names { //nolint:unconvert // it is smaller on arm64
			s.wanted[id], s.fine[c.Path] = c.Path, true
		}
	}
	if len(s.wanted) == 0 {
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
			s.fine[c.Path] = true
		case began[c.Path] == c.ID: // what was covered later the program may stand in
			s.shut[c.Path] = c.ID
		}
	}
	for _, d := range dirs {
		if err := s.enter(unix.AT_FDCWD, d.Path, d.Path, 0); err != nil {
			return err
		}
	}
	return nil
}

// nameSearch looks for names of files.
type nameSearch struct {
	wanted map[sandbox.FileID]string
	fine   map[string]bool           // names that are covered
	shut   map[string]sandbox.FileID // directories that the program never could enter
	until  time.Time
	left   int
}

// unknown is the error for what could not be searched.
func (s *nameSearch) unknown(place string) error {
	for _, path := range s.wanted {
		return fmt.Errorf("%s: %w; %s could not be searched", sandbox.Shorten(path), errNamed, sandbox.Shorten(place))
	}
	return errNamed
}

func (s *nameSearch) enter(at int, name, path string, depth int) error {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP): // something else by now
		return nil
	case errors.Is(err, unix.EACCES) && outOfReach(at, name):
		return nil
	case err != nil:
		return s.unknown(path)
	}
	dir := os.NewFile(uintptr(fd), path)
	defer func() { _ = dir.Close() }() // it was only read
	var here unix.Stat_t
	if err := unix.Fstat(fd, &here); err != nil || depth > searchDepth {
		return s.unknown(path)
	}
	if id, ok := s.shut[path]; ok && id == (sandbox.FileID{Device: here.Dev, Inode: here.Ino}) {
		return nil
	}
	names, err := dir.Readdirnames(s.left)
	if s.left -= len(names); err != nil && len(names) > 0 || s.left <= 0 || time.Now().After(s.until) {
		return s.unknown(path)
	}
	for _, name := range names {
		var st unix.Stat_t
		switch err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); {
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EACCES) && outOfReach(at, path):
			continue
		case err != nil:
			return s.unknown(path)
		}
		full := filepath.Join(path, name)
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			if err := s.enter(fd, name, full, depth+1); err != nil {
				return err
			}
		case unix.S_IFREG:
			if file, ok := s.wanted[sandbox.FileID{Device: st.Dev, Inode: st.Ino}]; ok && !s.fine[full] {
				return fmt.Errorf("%s: %w: %s", sandbox.Shorten(file), errNamed, sandbox.Shorten(full))
			}
		}
	}
	return nil
}

// outOfReach tells whether a directory that we cannot read is one of somebody
// else, into which no program can go either. Our own a program could open up.
func outOfReach(at int, name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && int(st.Uid) != os.Geteuid() && unix.Faccessat(at, name, unix.X_OK, 0) != nil
}
