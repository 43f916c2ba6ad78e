package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// A program can make trees that are too deep or too wide to be looked at, and
// more protected files than can be covered one by one. That must not keep later
// programs from being started: what is too much is hidden as a whole, and a
// person is told.

// The bounds on what a shield looks at and covers.
const (
	maxShieldDirs  = 1 << 17
	mostShieldDirs = 1 << 19 // where nothing can be hidden instead
	maxEntries     = 1 << 18 // of one directory
	mostEntries    = 1 << 21 // of a granted one
	maxDepth       = 128
	maxPath        = 3072 // bytes; a file in it must still have a name the kernel takes
	maxCovers      = 2048
	mostCovers     = 8192 // where nothing can be hidden instead
	maxCrowds      = 32
)

// errCrowded is a directory with too many entries.
var errCrowded = errors.New("it has more entries than can be looked at for protected files")

// tooDeep tells whether a directory lies too deep below a granted one.
func tooDeep(dir, root string) bool {
	return len(dir) > maxPath || len(dir)-len(root) > 2*maxDepth && strings.Count(dir[len(root):], string(filepath.Separator)) > maxDepth
}

// leaveOut hides a directory that nobody looks into.
func (w *shieldWalk) leaveOut(dir, why string) {
	w.found = append(w.found, Cover{Path: dir, Dir: true, unseen: true})
	w.note("%s is hidden from programs: %s. If it is not needed, remove it", shorten(dir), why)
}

// Shorten keeps a path readable in a note, whoever made it up.
func Shorten(path string) string { return shorten(path) }

// shorten keeps a path readable, whoever made it up.
func shorten(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		path = strconv.QuoteToASCII(path)
	}
	return text.ClipMiddle(path, 200)
}

// thinOut hides the part of a tree that most of too many directories lie in,
// and gives what is left to be looked at.
func (w *shieldWalk) thinOut(root string, queue []string) ([]string, error) {
	heavy := heaviest(root, len(w.visited)/2, 2, func(yield func(string) bool) {
		for dir := range w.visited {
			if !yield(dir) {
				return
			}
		}
		for _, dir := range queue {
			if !yield(dir) {
				return
			}
		}
	})
	if heavy == "" {
		return nil, Unavailable(fmt.Sprintf("there are more than %d directories below %s, too many to look for protected files in: remove some, or grant less", mostShieldDirs, root), nil)
	}
	w.leaveOut(heavy, fmt.Sprintf("with it there would be more than %d directories to look for protected files in", maxShieldDirs))
	maps.DeleteFunc(w.visited, func(dir string, _ dirState) bool { return within(dir, heavy) })
	var left []string
	for _, dir := range queue {
		if !within(dir, heavy) {
			left = append(left, dir)
		}
	}
	return left, nil
}

// hideCrowd hides the directory that has so many covers in it that without
// them there are not too many.
func (w *shieldWalk) hideCrowd() bool {
	need := len(w.found) - maxCovers + 1
	for _, d := range w.dirs {
		heavy := heaviest(d.Path, need, max(64, need/8), func(yield func(string) bool) {
			for _, c := range w.found {
				if !yield(filepath.Dir(c.Path)) {
					return
				}
			}
		})
		if heavy != "" && w.inside(heavy) {
			w.leaveOut(heavy, fmt.Sprintf("with it there would be more than %d protected files and directories to cover", maxCovers))
			return true
		}
	}
	return false
}

// heaviest gives the innermost directory below a root in which at least so
// many of some paths lie, or else the one in which the most lie. It is empty
// if these are less than the least that helps.
func heaviest(root string, need, least int, paths func(func(string) bool)) string {
	count := map[string]int{}
	paths(func(path string) bool {
		for ; path != root && within(path, root); path = filepath.Dir(path) {
			count[path]++
		}
		return true
	})
	best, most, depth := "", 0, 0
	for dir, n := range count {
		n, d := min(n, need), strings.Count(dir, string(filepath.Separator))
		if n > most || n == most && (d > depth || d == depth && dir < best) {
			best, most, depth = dir, n, d
		}
	}
	if most < min(least, need) {
		return ""
	}
	return best
}

func tooManyCovers(covers []Cover) error {
	count := map[string]int{}
	worst := ""
	for _, c := range covers {
		dir := filepath.Dir(c.Path)
		if count[dir]++; count[dir] > count[worst] || worst == "" {
			worst = dir
		}
	}
	return Unavailable(fmt.Sprintf("there are %d protected files and directories in what is granted, %d of them in %s, and at most %d can be covered: remove some, or grant less", len(covers), count[worst], worst, mostCovers), nil)
}

// readDir reads a directory of usual size.
func readDir(dir string, state dirState) ([]entry, error) {
	return readEntries(dir, state, maxEntries)
}
