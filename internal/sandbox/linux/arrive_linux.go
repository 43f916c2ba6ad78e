//go:build amd64 || arm64

package linux

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A directory that others obey, or that is hidden, is covered as a whole, so that
// what a person puts into it is covered at once. But a program may have that open
// since it lay elsewhere, stand in it, run it, or have given it another name: who
// looks at a hook and then installs it would get what the program makes of it
// afterwards.

// errNamed cannot be mended: a name that is not seen cannot be covered.
var errNamed = errors.New("it has a further name (a hard link) that is not covered")

// place is a directory in which arrivals are told.
type place struct {
	path string
	kind sandbox.CoverKind
}

// The bounds on what is watched below hidden directories. Those that others obey
// are watched with all below them: see watchSources.
const (
	maxHiddenDirs    = 64
	maxHiddenEntries = 512
)

// watchInner has arrivals told in directories that are covered. In those of git
// only hooks count: the rest changes with every command.
func (g *guard) watchInner(covers []sandbox.Cover) {
	hidden, entries := maxHiddenDirs, maxHiddenEntries
	for _, c := range covers {
		switch {
		case !c.Dir || c.Kind == sandbox.Pin || g.run.hold.Holds(c.Path):
		case c.Kind == sandbox.Fix && !absent(filepath.Join(c.Path, "HEAD")):
			g.run.sandbox.moves.arrivals(g, filepath.Join(c.Path, "hooks"), c.Kind)
		case c.Kind == sandbox.Fix:
			g.run.sandbox.moves.arrivals(g, c.Path, c.Kind)
		default:
			for queue := []string{c.Path}; len(queue) > 0 && hidden > 0; queue = queue[1:] {
				g.run.sandbox.moves.arrivals(g, queue[0], c.Kind)
				hidden--
				list, used := dirsIn(queue[0], entries)
				entries -= used
				queue = append(queue, list...)
			}
		}
	}
}

// dirsIn gives the directories in one, if it has few entries.
func dirsIn(dir string, most int) (list []string, used int) {
	f, err := os.OpenFile(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil || most <= 0 {
		return nil, 0
	}
	defer func() { _ = f.Close() }() // it was only read
	entries, _ := f.ReadDir(most)    // as far as it can be read
	for _, e := range entries {
		if e.Type() == fs.ModeDir {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list, len(entries)
}

// arrives notes something that came into a covered directory from elsewhere, or a
// file that has further names. It reports whether it is one. What is made in the
// directory itself, as editors do, no program can have open for writing.
func (g *guard) arrives(path string, kind sandbox.CoverKind, elsewhere bool) bool {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return false
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		elsewhere = elsewhere || st.Nlink > 1
	case unix.S_IFDIR:
		elsewhere = elsewhere && !g.run.hold.Holds(path)
	default:
		return false
	}
	if !elsewhere {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if was, ok := g.arrived[path]; !ok || kind < was {
		g.arrived[path] = kind
	}
	return true
}

// filled notes a directory as arrived, unless it is empty.
func (g *guard) filled(dir string) bool {
	f, err := os.OpenFile(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return !absent(dir) && g.arrives(dir, sandbox.Fix, true)
	}
	defer func() { _ = f.Close() }() // it was only read
	_, err = f.Readdirnames(1)
	return !errors.Is(err, io.EOF) && g.arrives(dir, sandbox.Fix, true)
}

// freshen notes what is covered anew.
func (g *guard) freshen(c sandbox.Cover) { g.fresh[c.ID.Number()] = c }

// takeArrived makes what has arrived count as covered anew, and all that lies in
// directories that are. What comes into these from now on is told.
func (g *guard) takeArrived() error {
	g.mu.Lock()
	arrived := g.arrived
	g.arrived = map[string]sandbox.CoverKind{}
	g.mu.Unlock()
	came := map[string]bool{}
	for path, kind := range arrived {
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			continue // it has gone
		}
		switch mode := st.Mode & unix.S_IFMT; mode {
		case unix.S_IFREG, unix.S_IFDIR:
			g.freshen(sandbox.Cover{Path: path, Kind: kind, Dir: mode == unix.S_IFDIR, ID: numberOf(&st)})
			came[path] = true
		}
	}
	clear(g.inner)
	s := newSearch()
	for _, c := range g.fresh {
		if !c.Dir || c.Kind == sandbox.Pin {
			continue
		}
		s.visit = func(path string, st *unix.Stat_t) error {
			dir := st.Mode&unix.S_IFMT == unix.S_IFDIR
			if dir && came[c.Path] {
				g.run.sandbox.moves.arrivals(g, path, c.Kind)
			}
			if id := numberOf(st); id != c.ID.Number() {
				g.inner[id] = sandbox.Cover{Path: path, Kind: c.Kind, Dir: dir, ID: id}
			}
			return nil
		}
		if at, err := s.enter(unix.AT_FDCWD, c.Path, c.Path, 0); err != nil {
			return fmt.Errorf("%s: %w, and a program may have something in it open: %w", sandbox.Shorten(at), err, errOpened)
		}
	}
	return nil
}

func regularAt(path string) (unix.Stat_t, bool) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	return st, err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
}
