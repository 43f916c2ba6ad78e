package linked

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// maxLinks is how many links the kernel follows.
const maxLinks = 40

// Trace follows an absolute path as the kernel does, up to where it ends, and
// gives what is missing of it and the links on the way.
func Trace(path string) (at string, rest, links []string, err error) {
	const slash = string(filepath.Separator)
	volume := filepath.VolumeName(path)
	at, rest = volume+slash, strings.Split(path[len(volume):], slash)
	for len(rest) > 0 {
		name := rest[0]
		if name == ".." || name == "." || name == "" {
			if name == ".." {
				at = filepath.Dir(at)
			}
			rest = rest[1:]
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			rest = slices.DeleteFunc(slices.Clone(rest), func(e string) bool { return e == "" || e == "." })
			if i := slices.Index(rest, ".."); i >= 0 {
				rest = rest[:i]
			}
			return at, rest, links, nil
		case err != nil:
			return "", nil, nil, err
		case info.Mode()&fs.ModeSymlink == 0:
			at, rest = next, rest[1:]
			continue
		}
		to, err := os.Readlink(next)
		if links = append(links, next); err != nil || len(links) > maxLinks {
			return "", nil, nil, fmt.Errorf("%s leads nowhere", path)
		}
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + slash
			to = to[len(filepath.VolumeName(to)):]
		}
		rest = append(strings.Split(to, slash), rest[1:]...)
	}
	return at, nil, links, nil
}

// Target is where a path leads, also if nothing is there yet.
func Target(path string) (string, error) {
	at, rest, _, err := Trace(path)
	return filepath.Join(at, filepath.Join(rest...)), err
}

// Straight refuses a path with a link in it below a directory. What is missing is none.
func Straight(path, below string) error {
	for ; path != below && Within(path, below); path = filepath.Dir(path) {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link, and what lies there must not be put elsewhere: remove it", path)
		}
	}
	return nil
}

// Obeyed gives what a link in an obeyed directory makes obeyed as well. It is
// false for one that leads nowhere, to a text, or to a directory that it lies in
// itself, which is the project and not a part of it.
func Obeyed(link string) (target string, ok bool) {
	target, err := Target(link)
	if err != nil || isText(target) {
		return "", false
	}
	return target, !Within(filepath.Dir(link), target)
}

// Within reports whether path is dir or below it, by their names alone, as this
// system compares them.
func Within(path, dir string) bool {
	return pathglob.Holds(dir, path)
}
