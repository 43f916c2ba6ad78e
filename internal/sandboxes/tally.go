package sandboxes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// deepest is how deep directories are looked into. What is deeper is never counted, so that it may not be there: a program
// can make ten thousand of them, one in the other, in the blink of an eye, and to look through those takes minutes.
const deepest = 200

// tally is what lies in a directory.
type tally struct {
	bytes int64
	count int
	most  int  // entries that are looked at
	blind bool // there is something that nobody can look into
}

// tallied counts what lies in a directory. It follows no link, whoever swaps one in, and opens what its owner has shut.
func tallied(dir string, most int) *tally {
	t := &tally{most: most}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return t // it is gone
	}
	if shut(info) { // what it lies in no command can write
		_ = os.Chmod(dir, info.Mode().Perm()|0o700) // else it cannot be opened
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.blind = !errors.Is(err, fs.ErrNotExist)
		return t
	}
	t.look(root, 0)
	return t
}

// shut: its owner cannot see what is in it.
func shut(info fs.FileInfo) bool { return info.Mode().Perm()&0o500 != 0o500 }

// look counts a directory and closes it. Each level is opened in the one above, so that no way is walked twice.
func (t *tally) look(root *os.Root, depth int) {
	defer func() { _ = root.Close() }() // nothing was written
	f, err := root.Open(".")
	if err != nil {
		t.failed(err)
		return
	}
	defer func() { _ = f.Close() }() // likewise
	for t.count <= t.most && !t.blind {
		names, err := f.Readdirnames(1000)
		if len(names) == 0 {
			t.failed(err)
			return
		}
		for _, name := range names {
			t.one(root, name, depth)
		}
	}
}

func (t *tally) one(root *os.Root, name string, depth int) {
	t.count++
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		t.failed(err)
	case info.Mode().IsRegular():
		t.bytes += info.Size()
	case info.IsDir() && depth >= deepest:
		t.blind = true
	case info.IsDir():
		if shut(info) {
			_ = root.Chmod(name, info.Mode().Perm()|0o700) // else it cannot be opened
		}
		inner, err := root.OpenRoot(name)
		if err != nil {
			t.failed(err)
			return
		}
		t.look(inner, depth+1)
	}
}

// failed: what is just going is no matter.
func (t *tally) failed(err error) { t.blind = t.blind || errors.Is(err, fs.ErrPermission) }

// empty removes what lies in a directory.
func empty(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		_ = removeAll(filepath.Join(dir, e.Name())) // what cannot be removed now goes with the others
	}
}
