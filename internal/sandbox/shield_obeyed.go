package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// What other programs obey is fixed where it is, wherever that is. At the top
// of each granted directory and of each repository it is held where it is
// missing: what others obey, they look for there.

// fixObeyed judges an entry that other programs obey; it reports whether there
// is nothing more to say about it.
func (s *Shield) fixObeyed(seen *sight, name string, dir, link bool) bool {
	if s.Obeyed == nil {
		return false
	}
	if dir && s.Obeyed.OnTheWay(filepath.Base(name)) {
		return comesAndGoes(name)
	}
	if !s.Obeyed.May(filepath.Base(name)) {
		return false
	}
	if _, ok := s.Obeyed.Is(elements(name)); !ok {
		return false
	}
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && looksHeld(name, info): // of a program that runs right now: held again
		return true
	case link:
		seen.obeyed = append(seen.obeyed, name)
	default:
		seen.covers = append(seen.covers, Cover{Path: name, Kind: Fix, Dir: dir})
		if dir {
			seen.inside = append(seen.inside, name)
		}
	}
	return false
}

// looksHeld tells a placeholder by what lstat said: it may be gone by now. One
// that something lies in is none: programs can set the sticky bit as well.
func looksHeld(name string, info fs.FileInfo) bool {
	switch {
	case info.IsDir():
		return info.Mode()&fs.ModeSticky != 0 && isEmpty(name)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(name)
		return err != nil || target == nowhere
	}
	return false
}

// isEmpty tells whether nothing lies in a directory, or it went away.
func isEmpty(dir string) bool {
	f, err := plainfile.OpenDir(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }() // it was only read
	names, err := f.Readdirnames(1)
	return len(names) == 0 && (errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist))
}

// comesAndGoes: it is a placeholder on the way to others, with nothing but them
// in it, or was one a moment ago.
func comesAndGoes(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil {
		return true
	}
	if info.Mode()&fs.ModeSticky == 0 {
		return looksHeld(dir, info)
	}
	entries, err := plainfile.ReadDir(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		info, err := e.Info()
		return err == nil && !looksHeld(filepath.Join(dir, e.Name()), info)
	})
}

// holdObeyed finds what is obeyed at the top of granted directories and
// repositories: it covers what is there and notes what has to be held.
func (w *shieldWalk) holdObeyed() error {
	s := w.shield
	if s.Obeyed == nil {
		return nil
	}
	w.holdLinks()
	for _, led := range w.outer {
		w.hold(led.Link, false) // what it leads to may be missing
	}
	if s.Own != nil {
		for _, file := range s.Own() {
			if !s.granted(file) {
				w.hold(file, false)
			}
		}
	}
	trees := w.tops()
	tops := slices.Clone(trees)
	for _, d := range w.dirs {
		if !w.rooms[d.Path] {
			tops = append(tops, d.Path)
		}
	}
	if w.inside(s.Start) {
		tops = append(tops, s.Start)
	}
	tops = slices.DeleteFunc(tops, func(top string) bool { return !writable(top, w.dirs) || s.Scratch != "" && within(top, s.Scratch) })
	slices.SortFunc(tops, w.nearer)
	closed := map[string]bool{}
	w.closed = closed
	w.heldTops = slices.Compact(tops)
	for _, top := range w.heldTops {
		if len(w.missing) >= maxMissing && !w.isTop(top) {
			closed[top] = true
			w.found = append(w.found, Cover{Path: top, Kind: Fix, Dir: true})
			w.note("%s can only be read by programs that work elsewhere: there are more repositories in what is granted than can be protected one by one. Grant less, or work in it", shorten(top))
			continue
		}
		for _, p := range s.Obeyed.Held() {
			w.hold(filepath.Join(top, filepath.FromSlash(p.Pattern)), false)
		}
	}
	return w.holdGit(trees, closed)
}

// maxMissing is how many places are held, more or less: as many as some forty
// repositories have.
const maxMissing = 1024

// granted: a person gave it to tools by its name.
func (s *Shield) granted(path string) bool { return s.Obeyed.Granted(elements(path)) }

// tops are those of the repositories in and around granted directories.
func (w *shieldWalk) tops() []string {
	list := make([]string, 0, len(w.trees))
	for _, tree := range w.trees {
		list = append(list, tree.top)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// hold covers a place that is obeyed, or notes that it is missing. What its
// links lead to is obeyed as well, and they must not be led elsewhere.
func (w *shieldWalk) hold(path string, include bool) {
	at, rest, links, err := linked.Trace(path, looksHeld)
	if err != nil {
		return // nobody can make it
	}
	for _, link := range links {
		if w.reaches(link) {
			w.found = append(w.found, Cover{Path: link, Kind: Pin, Link: true, Led: w.by != ""})
		}
	}
	full := filepath.Join(at, filepath.Join(rest...))
	w.noteLed(full, links)
	if around(full, path) || w.shield.granted(full) {
		return
	}
	info, err := os.Lstat(at)
	if err == nil && len(rest) == 0 && info.IsDir() {
		w.holdInner(at) // also where it lies elsewhere itself
	}
	if !w.reaches(full) || len(rest) > 0 && !w.reaches(at) && !w.isTop(at) {
		return
	}
	switch {
	case err != nil:
		w.moved = at // it was there a moment ago
	case len(rest) > 0 && info.IsDir(), len(rest) == 0 && looksHeld(at, info):
		w.miss(full, include)
	case len(rest) > 0: // a file where a directory would have to be
		w.found = append(w.found, Cover{Path: at, Kind: Pin, Led: w.by != ""})
	default:
		w.found = append(w.found, Cover{Path: at, Kind: Fix, Dir: info.IsDir(), Led: w.by != ""})
	}
}

// isNotDir: a file lies where a directory would have to be.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// reaches: a program could make or change it there.
func (w *shieldWalk) reaches(path string) bool {
	return w.inside(path) && writable(path, w.dirs)
}

func (w *shieldWalk) isTop(path string) bool {
	return slices.ContainsFunc(w.dirs, func(d files.Dir) bool { return d.Path == path })
}

// miss notes that a place is missing. The directories above it must stay.
func (w *shieldWalk) miss(path string, include bool) {
	if w.misses[path] {
		i := slices.IndexFunc(w.missing, func(p Place) bool { return p.Path == path })
		w.missing[i].led = w.missing[i].led || w.by != ""
		return
	}
	if w.misses == nil {
		w.misses = map[string]bool{}
	}
	w.misses[path] = true
	w.missing = append(w.missing, Place{Path: path, Link: include, led: w.by != ""})
	up := filepath.Dir(path)
	for w.inside(up) {
		if !comesAndGoes(up) {
			break
		}
		path, up = up, filepath.Dir(up)
	}
	w.pinParents(path)
}

// maxHolds bounds how often a place is looked at that comes and goes.
const maxHolds = 5

// Hold is LookAt for a program with this working directory, and keeps what is obeyed and missing from being made until it
// is released.
func (s *Shield) Hold(grant toolcrib.Grant, workDir string) (*Covering, *Hold, error) {
	return s.HoldAgain(grant, workDir, nil)
}

// HoldAgain is Hold while the program runs: of what links and settings lead to
// only that counts which the program could not bring about.
func (s *Shield) HoldAgain(grant toolcrib.Grant, workDir string, known *Known) (*Covering, *Hold, error) {
	if s == nil {
		found, err := s.LookAt(grant)
		return found, nil, err
	}
	var err error
	for range maxHolds {
		var found *Covering
		if found, err = s.lookFor(grant, workDir, known); err != nil {
			return nil, nil, err
		}
		var hold *Hold
		if hold, found.Covers, err = s.holdAll(found.Dirs, found.Covers, found.missing); !errors.Is(err, errAppeared) {
			return found, hold, err
		}
	}
	return nil, nil, Unavailable("something keeps coming and going where a file lies that other programs obey: try again when that is over", err)
}

// errAppeared: something is there by now that was missing a moment ago.
var errAppeared = errors.New("it is there by now")

func (s *Shield) holdAll(dirs []files.Dir, covers []Cover, missing []Place) (*Hold, []Cover, error) {
	// Nothing can be made below what is hidden or fixed, or held itself.
	missing = slices.DeleteFunc(slices.Clone(missing), func(p Place) bool {
		return slices.ContainsFunc(covers, func(c Cover) bool { return c.Kind != Pin && within(p.Path, c.Path) }) ||
			slices.ContainsFunc(missing, func(o Place) bool { return o.Path != p.Path && within(p.Path, o.Path) })
	})
	all := &Hold{}
	for _, d := range dirs {
		var here []Place
		missing = slices.DeleteFunc(missing, func(p Place) bool {
			if within(p.Path, d.Path) {
				here = append(here, p)
				return true
			}
			return false
		})
		hold, made, err := s.Holds.Make(d.Path, here)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("keeping programs from what others obey: %w", err), all.Release())
		}
		all.Join(hold)
		covers = append(covers, made...)
	}
	slices.SortStableFunc(covers, func(a, b Cover) int { return comparePaths(a.Path, b.Path) })
	return all, covers, nil
}
