package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What a program made and nobody should obey unseen is set aside: it gets
// another name. Of a Git directory that is HEAD, and a directory takes its
// place. Without one, "git init" would make it a repository again, with the
// settings and hooks of the program; so it leaves it alone, and no git takes it
// for a repository.

// errAside: it was set aside already, or git could never use it.
var errAside = errors.New("git does not go by it as it is")

// putAside sets a repository aside. It gives what lies there now, and what undoes
// that.
func putAside(path string, id FileID, why string) (at, undo string, err error) {
	facts, err := factsOf(path)
	if err != nil {
		return "", "", err
	}
	if !facts.dir {
		dir, name := filepath.Split(path)
		to, err := renameIn(dir, name, name, id)
		at = filepath.Join(dir, to)
		return at, fmt.Sprintf("rename %s back", shorten(at)), err
	}
	root, err := openStraight(path)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = root.Close() }() // its entries are renamed
	if now, err := root.Lstat("."); err != nil || numberOf(now) != id.Number() {
		return "", "", errors.Join(err, errGone)
	}
	undo, err = shutHead(root, path, why)
	return filepath.Join(path, head), undo, err
}

const head = "HEAD"

// shutHead puts a directory where a Git directory has its HEAD.
func shutHead(root *os.Root, path, why string) (undo string, err error) {
	info, err := root.Lstat(head)
	undo = fmt.Sprintf("remove the directory %s", shorten(filepath.Join(path, head)))
	switch {
	case err == nil && info.IsDir():
		return "", errAside
	case err == nil:
		to, err := renameAside(root, head)
		if err != nil {
			return "", err
		}
		undo += fmt.Sprintf(" and rename %s to HEAD", shorten(filepath.Join(path, to)))
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	case !isGitName(filepath.Base(path)): // nobody has "git init" make a repository of it
		return "", errAside
	}
	_, err = openUp(func() (any, error) { return nil, root.Mkdir(head, 0o755) }, func() error { return root.Chmod(".", 0o700) })
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("Toolcrib set this Git directory aside: a program made or changed it, and %s.\nGit does not go by it as long as HEAD is a directory. Look at it, and %s if you trust it.\nIf you do not, remove the whole Git directory before you run git init: that would keep its settings and hooks.\n", why, undo)
	_ = root.WriteFile(filepath.Join(head, "README"), []byte(text), 0o644) // who is told of it can do without
	return undo, nil
}

// isShut tells whether git does not take a directory for a repository: it was
// set aside, or never was one.
func isShut(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, head))
	return err != nil && !isNotDir(err) || err == nil && info.IsDir()
}

// renameIn renames an entry of a directory if something there is still what was
// looked at: whoever still runs may have put something else there since.
func renameIn(dir, name, at string, id FileID) (to string, err error) {
	return renameInAs(dir, name, at, name, id)
}

// renameInAs is renameIn with what the new name begins with.
func renameInAs(dir, name, at, begins string, id FileID) (to string, err error) {
	root, err := openStraight(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // its entries are renamed
	if now, err := root.Lstat(at); err != nil || numberOf(now) != id.Number() {
		return "", errors.Join(err, errGone)
	}
	return renameAsideAs(root, name, begins)
}

// renameAside gives an entry a name that no program could foresee, so that none
// can be in its way. A directory that its maker closed is opened first.
func renameAside(root *os.Root, name string) (to string, err error) {
	return renameAsideAs(root, name, name)
}

func renameAsideAs(root *os.Root, name, begins string) (to string, err error) {
	to = begins + setAside + "-" + strings.ToLower(rand.Text()[:8])
	if err = root.Rename(name, to); errors.Is(err, fs.ErrPermission) {
		info, unseen := root.Stat(".")
		if unseen != nil {
			return to, unseen
		}
		if err := root.Chmod(".", info.Mode().Perm()|0o700); err != nil {
			return to, err
		}
		err = root.Rename(name, to)
	}
	return to, err
}
