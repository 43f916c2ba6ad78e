package layer

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/difference"
)

// The bounds on the differences that a person is shown. What is left out is counted.
const (
	maxShown = 1 << 20 // bytes of a file whose difference is shown
	maxDiffs = 64 << 10
)

// Show tells a person what a change set would do: one line for each path, deletions
// and changes before new files, then the differences. The last line is a digest of all
// of it, so that an answer is to exactly these changes. What is said elsewhere by what it
// means has no line of its own.
func (s *Set) Show(accept, said func(Change) bool) string {
	list := s.chosen(func(c Change) bool { return accept(c) && !said(c) })
	var out strings.Builder
	out.WriteString("The command has ended. It would change:\n")
	if why := s.Unkept(accept); why != "" {
		out.WriteString(why + "\n")
	}
	out.WriteString(list.lines(s.writeList))
	out.WriteString(list.differences())
	return out.String() + "digest of all changes: " + s.Digest(accept) + "\n"
}

// Shows tells of which files Show has a difference, or says that it leaves it out. What was
// moved is as it was.
func (s *Set) Shows(accept func(Change) bool) func(path string) bool {
	list := s.chosen(accept)
	return func(path string) bool {
		c, changed := s.Find(path)
		return changed && accept(c) && (c.From != "" || c.shownPlain() && !list.passedOver(c))
	}
}

// Describe is what is kept of a change set that is applied: every path, and the
// differences, but for what is said elsewhere.
func (s *Set) Describe(w io.Writer, accept, said func(Change) bool) error {
	list := s.chosen(func(c Change) bool { return accept(c) && !said(c) })
	if err := list.all(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, list.differences())
	return err
}

// writeList writes the whole list to where a person can read it, and says where.
func (s *Set) writeList(list *shownList) string {
	if s.ListFile == "" {
		return "They cannot be listed."
	}
	f, err := os.OpenFile(s.ListFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		err = errors.Join(list.all(f), f.Close())
	}
	if err != nil {
		return "They cannot be listed: " + err.Error()
	}
	return "The whole list is in " + difference.Path(s.ListFile)
}

// chosen are the accepted changes, to be shown.
func (s *Set) chosen(accept func(Change) bool) *shownList {
	list := &shownList{
		ignored: newIgnored(),
		root:    func(c Change) string { return s.trees[c.tree].Root },
		after:   s.at,
	}
	for _, c := range s.Changes {
		if accept(c) {
			list.changes = append(list.changes, c)
		}
	}
	return list
}

// Digest is another one for other changes.
func (s *Set) Digest(accept func(Change) bool) string {
	sum := sha256.New()
	for _, c := range s.Changes {
		if !accept(c) {
			continue
		}
		fmt.Fprintf(sum, "%d %q %v %q %q\n", c.Kind, c.Path, c.After.Mode, c.After.Target, c.From)
		if !c.After.Mode.IsRegular() {
			continue
		}
		if content, err := sumOf(s.trees[c.tree].Upper(), c.rel, c.After.openOwn); err == nil {
			_, _ = sum.Write(content[:]) // never fails
		} else {
			fmt.Fprintln(sum, rand.Text()) // what cannot be read may be anything
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Content gives a part of the new content of a file.
func (s *Set) Content(path string, from, most int64) ([]byte, error) {
	c, found := s.Find(path)
	if !found || !c.After.Mode.IsRegular() {
		return nil, fmt.Errorf("%s is no file that was changed", path)
	}
	root, rel := s.at(c)
	dir, err := s.newDir(root, filepath.Dir(rel))
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(dir)
	f, err := c.After.openOwn(place{int(dir.Fd()), filepath.Base(rel)})
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	part := make([]byte, min(most, max(c.After.Size-from, 0)))
	n, err := f.ReadAt(part, from)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return part[:n], err
}

// openOwn opens this file of an upper half, also if the command took the right to read it
// away.
func (e Entry) openOwn(p place) (*os.File, error) {
	f, err := openFile(p)
	if !errors.Is(err, unix.EACCES) {
		return f, err
	}
	if err := unix.Fchmodat(p.dir, p.name, unixMode(e.Mode)|0o400, 0); err != nil {
		return nil, err
	}
	f, err = openFile(p)
	return f, errors.Join(err, unix.Fchmodat(p.dir, p.name, unixMode(e.Mode), 0))
}

// newDir opens a directory of new content. The one of the last file is kept, since
// many files of one directory are read one after the other and nobody changes it any more.
func (s *Set) newDir(root, rel string) (*os.File, error) {
	s.lastMu.Lock()
	defer s.lastMu.Unlock()
	if s.last.dir != nil && s.last.root == root && s.last.rel == rel {
		return s.last.dir, nil
	}
	fd, err := openParent(root, filepath.Join(rel, "x"))
	if err != nil {
		return nil, err
	}
	s.last = lastDir{root, rel, os.NewFile(uintptr(fd), rel)} // the collector closes the one before
	return s.last.dir, nil
}

// readBelow reads what can be shown of a file below a directory without following links.
// With was it must be that file.
func readBelow(root, rel string, was *Entry, open func(place) (*os.File, error)) ([]byte, error) {
	parent, err := openParent(root, rel)
	if err != nil {
		return nil, err
	}
	defer unix.Close(parent) //nolint:errcheck // it was only read
	at := place{parent, filepath.Base(rel)}
	if was != nil {
		if now, err := at.entry(); err != nil || !was.same(now) {
			return nil, errors.Join(errChanged, err)
		}
	}
	f, err := open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.NewSectionReader(f, 0, maxShown))
}

// detail is what a line adds to a kind and a path.
func (c *Change) detail() string {
	switch {
	case c.From != "":
		return " (moved from " + difference.Path(c.From) + ")"
	case c.ModeOnly:
		return fmt.Sprintf(" (permissions %v, before %v)", c.After.Mode, c.Before.Mode)
	case c.After.Mode&fs.ModeSymlink != 0:
		return " (a link to " + difference.Path(c.After.Target) + ")"
	case c.After.Mode.IsDir(), c.Kind == Deleted && c.Before.Mode.IsDir():
		return " (a directory)"
	case c.Kind != Deleted:
		return fmt.Sprintf(" (%d bytes, %v)", c.After.Size, c.After.Mode)
	}
	return ""
}

// shownPlain tells whether a change has a difference that can be shown.
func (c *Change) shownPlain() bool { return c.From == "" && !c.ModeOnly && c.After.Mode.IsRegular() }

// differences shows how the content of files changed.
func (l *shownList) differences() string {
	var out strings.Builder
	left := 0
	for _, kind := range []Kind{Changed, Created} {
		for _, c := range l.changes {
			switch {
			case c.Kind != kind || !c.shownPlain():
			case out.Len() > maxDiffs:
				left++
			case l.passedOver(c):
			default:
				out.WriteString(l.difference(c))
			}
		}
	}
	if left > 0 {
		fmt.Fprintf(&out, "(the differences of %d more files are not shown)\n", left)
	}
	return out.String()
}

// passedOver tells whether a file is new and nothing that Git would take.
func (l *shownList) passedOver(c Change) bool { return c.Kind == Created && l.ignoredBy(c) != "" }

func (l *shownList) difference(c Change) string {
	head := difference.Header(c.Path)
	if max(c.Before.Size, c.After.Size) > maxShown {
		return head + "(the difference is not shown: the file is too large)\n"
	}
	var before []byte
	var err error
	if c.Before.Exists() && c.Before.Mode.IsRegular() {
		before, err = readBelow(l.root(c), c.rel, &c.Before, openFile)
	}
	root, rel := l.after(c)
	after, errAfter := readBelow(root, rel, nil, c.After.openOwn)
	if err != nil || errAfter != nil {
		return head + "(the difference is not shown: the file cannot be read)\n"
	}
	return difference.Unified(c.Path, before, after)
}
