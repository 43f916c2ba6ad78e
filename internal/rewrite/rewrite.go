// Package rewrite changes files of a person as a whole: settings of ours and those
// of other programs. What was there before is kept as a backup: the first, and the
// newest few. Every package may import it.
//
// Its one invariant: what somebody else wrote meanwhile is never thrown away, and
// what is written for a project stays in it, whatever links lie there.
package rewrite

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// File changes a file as a whole: what is there before is kept as a backup,
// and a reader sees the old or the new. A link to a file stays one.
func File(file string, change func([]byte) ([]byte, error)) error {
	return rewriteFile(file, way{most: 0o777, backup: true}, change)
}

// Recorded does so for whoever keeps what was there elsewhere, so that there is no
// backup beside it. The new text lies beside the file under a name of this ending
// before it is in its place: who was cut off finds it there. Change is told whether
// there was a file.
func Recorded(file, ending string, change func(before []byte, there bool) ([]byte, error)) error {
	there := false
	return rewriteFile(file, way{most: 0o777, beside: ending, there: &there}, func(before []byte) ([]byte, error) { return change(before, there) })
}

// Beside is where Recorded puts the new text of a file first.
func Beside(file, ending string) string {
	return filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+ending)
}

// way is how a file is changed.
type way struct {
	most   os.FileMode // what of its mode stays
	backup bool
	beside string // ending of the temporary name; empty: a random one
	there  *bool  // is told whether there is a file
}

// Private does so with a file that gets something that other accounts
// must not read: they cannot read it any more, nor its backup.
func Private(file string, change func([]byte) ([]byte, error)) error {
	if err := rewriteFile(file, way{most: 0o700, backup: true}, change); err != nil {
		return err
	}
	info, err := os.Stat(file) // it may have been as wanted already
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(file, info.Mode().Perm()&0o700)
}

// InProject does so with a file of a project, whose links are another's: it
// writes nowhere but in the project, whatever becomes of them meanwhile.
func InProject(project, file string, change func([]byte) ([]byte, error)) error {
	name, err := Inside(project, file)
	if err != nil {
		return err
	}
	return rewriteIn(project, name, way{most: 0o777, backup: true}, change)
}

// Inside gives where a file of a project is, from the project's top. It is an error
// if links lead to somewhere else.
func Inside(project, file string) (name string, err error) {
	at, rest, through, err := linked.Trace(file)
	if err != nil {
		return "", err
	}
	top, err := filepath.EvalSymlinks(project)
	if err != nil {
		return "", err
	}
	target := filepath.Join(at, filepath.Join(rest...))
	if name, ok := pathglob.Rel(top, target); ok {
		return name, nil
	}
	link := file
	for _, l := range through {
		if linked.Within(l, project) || linked.Within(l, top) {
			link = l
			break
		}
	}
	return "", fmt.Errorf("%s is a link that leads out of the project, to %s: nothing was written. Remove the link if you do not know it, or leave out --project", link, target)
}

func rewriteFile(file string, how way, change func([]byte) ([]byte, error)) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	at, rest, _, err := linked.Trace(file)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		at, rest = filepath.Dir(at), []string{filepath.Base(at)}
	}
	return rewriteIn(at, filepath.Join(rest...), how, change)
}

// rewriteIn rewrites a file in a directory and never outside of it.
func rewriteIn(dir, name string, how way, change func([]byte) ([]byte, error)) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	file := filepath.Join(dir, name)
	before, err := root.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := err == nil
	if how.there != nil {
		*how.there = there
	}
	after, err := change(append([]byte(nil), before...))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if string(after) == string(before) {
		return nil
	}
	// Another may have written in between: what they wrote is not thrown away.
	if now, err := root.ReadFile(name); there != (err == nil) || string(now) != string(before) {
		return fmt.Errorf("%s was changed by somebody else meanwhile, so it is left as it is: try again", file)
	}
	mode := os.FileMode(0o600)
	if info, err := root.Stat(name); err == nil {
		mode = info.Mode().Perm() & how.most
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if there && how.backup {
		if err := replaceIn(root, backupOf(name), before, mode, ""); err != nil {
			return fmt.Errorf("keeping a backup of %s: %w", file, err)
		}
	}
	if err := replaceIn(root, name, after, mode, how.beside); err != nil {
		return err
	}
	if there && how.backup {
		pruneBackups(root, name)
	}
	return nil
}

const (
	backupMark = ".before-"
	backupTime = "20060102T150405.000"
	// mostBackups is how many backups of a file are kept: the first, from before this program came, and the newest.
	mostBackups = 10
)

func backupOf(file string) string { return file + backupMark + time.Now().UTC().Format(backupTime) }

// pruneBackups removes backups of a file beyond those that are kept. One that cannot be removed stays: the change was made.
func pruneBackups(root *os.Root, name string) {
	dir, err := root.Open(filepath.Dir(name))
	if err != nil {
		return
	}
	entries, err := dir.ReadDir(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		return
	}
	var backups []string
	for _, e := range entries {
		when, ours := strings.CutPrefix(e.Name(), filepath.Base(name)+backupMark)
		if _, err := time.Parse(backupTime, when); ours && err == nil && e.Type().IsRegular() {
			backups = append(backups, e.Name())
		}
	}
	slices.Sort(backups) // by their times
	for len(backups) > mostBackups {
		_ = root.Remove(filepath.Join(filepath.Dir(name), backups[1]))
		backups = slices.Delete(backups, 1, 2)
	}
}

// Replace writes a file beside its place and puts it there. A link to a file
// stays one.
func Replace(file string, text []byte, mode os.FileMode) (err error) {
	if at, err := filepath.EvalSymlinks(file); err == nil {
		file = at
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return replaceIn(root, filepath.Base(file), text, mode, "")
}

// replaceIn does so in a directory. What has the name is replaced itself, also a
// link.
func replaceIn(root *os.Root, name string, text []byte, mode os.FileMode, ending string) (err error) {
	beside := Beside(name, ending)
	if ending == "" {
		beside = Beside(name, "-"+rand.Text())
	} else if err := root.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = root.Remove(beside) // the first error counts
		}
	}()
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return root.Rename(beside, name)
}
