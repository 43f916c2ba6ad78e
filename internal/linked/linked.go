// Package linked finds symbolic links and where they lead: in directories that
// other programs obey, since what a link there leads to is obeyed as well, and
// under names that are protected. The handle on files, the guards and the sandbox
// go by it. It imports nothing of ours. Its one invariant: what lists directories
// never follows a link, and all of it comes to an end.
package linked

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Listing is what lies in one directory, by full names.
type Listing struct {
	Dir                string
	Dirs, Links, Files []string
}

// The bounds on what is listed of one directory and of all below it. What
// others obey is small; a checkout that an agent keeps there is not.
const (
	maxDirs  = 1024
	maxDepth = 12
)

// Read lists one directory. A link to one is none.
func Read(dir string) (Listing, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return Listing{}, err
	}
	if !info.IsDir() {
		return Listing{}, fs.ErrInvalid
	}
	entries, err := plainfile.ReadDir(dir)
	if err != nil {
		return Listing{}, err
	}
	l := Listing{Dir: dir}
	for _, e := range entries {
		l.Add(e.Name(), e.Type())
	}
	return l, nil
}

// Add puts an entry where it belongs.
func (l *Listing) Add(name string, kind fs.FileMode) {
	full := filepath.Join(l.Dir, name)
	switch {
	case kind&fs.ModeSymlink != 0:
		l.Links = append(l.Links, full)
	case kind.IsDir():
		l.Dirs = append(l.Dirs, full)
	case kind.IsRegular():
		l.Files = append(l.Files, full)
	}
}

// Below lists a directory and what lies below it, nearest first. What cannot be
// read is left out, and so is what lies too deep or is too much.
func Below(dir string, read func(dir string) (Listing, error)) (found []Listing) {
	level := []string{dir}
	for depth := 0; depth < maxDepth && len(level) > 0; depth++ {
		var next []string
		for _, d := range level {
			if len(found) >= maxDirs {
				return found
			}
			if l, err := read(d); err == nil {
				found = append(found, l)
				next = append(next, l.Dirs...)
			}
		}
		level = next
	}
	return found
}

// isText knows the texts for agents and people that a link in an obeyed directory often
// leads to. Writing them is ordinary work, and they start nothing.
func isText(path string) bool {
	return slices.Contains([]string{"agents.md", "claude.md", "gemini.md", "readme.md", "contributing.md", "llms.txt", ".cursorrules"}, strings.ToLower(filepath.Base(path)))
}

// Installed: what lies in a directory was put there by a package manager. The links
// there lead to the packages of a workspace, which are the project's own work.
func Installed(dir string) bool {
	return strings.Contains(filepath.ToSlash(dir)+"/", "/node_modules/")
}
