package layer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/difference"
)

// The bounds on what a person is shown. What is left out is counted.
const (
	maxShown = 1 << 20 // bytes of a file whose difference is shown
	maxLines = 200     // paths of a kind
	maxDiffs = 96 << 10
)

// Show tells a person what a change set would do: one line for each path, deletions
// and changes before new files, then the differences. The last line is a digest of all
// of it, so that an answer is to exactly these changes.
func (s *Set) Show(accept func(Change) bool) string {
	var out, diffs strings.Builder
	out.WriteString("The command has ended. It would change:\n")
	sum := sha256.New()
	left, undiffed := 0, 0
	for _, kind := range []Kind{Deleted, Changed, Created} {
		shown := 0
		for _, c := range s.Changes {
			if c.Kind != kind || !accept(c) {
				continue
			}
			fmt.Fprintf(sum, "%d %q %v %q %q\n", c.Kind, c.Path, c.After.Mode, c.After.Target, c.From)
			if c.After.Mode.IsRegular() {
				if content, err := sumOf(s.trees[c.tree].Upper(), c.rel); err == nil {
					_, _ = sum.Write(content[:]) // never fails
				}
			}
			if shown++; shown > maxLines {
				left++
				continue
			}
			fmt.Fprintf(&out, "%s %s%s\n", c.Kind, shownPath(c.Path), c.detail())
			switch {
			case c.From != "" || c.ModeOnly || !c.After.Mode.IsRegular():
			case diffs.Len() > maxDiffs:
				undiffed++
			default:
				diffs.WriteString(s.difference(c))
			}
		}
	}
	if left > 0 {
		fmt.Fprintf(&out, "(%d more paths are not shown)\n", left)
	}
	if undiffed > 0 {
		fmt.Fprintf(&diffs, "(the differences of %d more files are not shown)\n", undiffed)
	}
	return out.String() + diffs.String() + "digest of all changes: " + hex.EncodeToString(sum.Sum(nil)[:16]) + "\n"
}

// shownPath quotes a path that could be taken for other lines.
func shownPath(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || r == '"' }) {
		return strconv.Quote(path)
	}
	return path
}

// Content gives the beginning of the new content of a file.
func (s *Set) Content(path string, most int64) ([]byte, error) {
	c, found := s.Find(path)
	if !found || !c.After.Mode.IsRegular() {
		return nil, fmt.Errorf("%s is no file that was changed", path)
	}
	return readBelow(s.trees[c.tree].Upper(), c.rel, most, nil)
}

// readBelow reads a file below a directory without following links. With was it must
// be that file.
func readBelow(root, rel string, most int64, was *Entry) ([]byte, error) {
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
	f, err := openFile(at)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(f, most))
}

// detail is what a line adds to a kind and a path.
func (c *Change) detail() string {
	switch {
	case c.From != "":
		return " (moved from " + shownPath(c.From) + ")"
	case c.ModeOnly:
		return fmt.Sprintf(" (permissions %v, before %v)", c.After.Mode, c.Before.Mode)
	case c.After.Mode&fs.ModeSymlink != 0:
		return " (a link to " + shownPath(c.After.Target) + ")"
	case c.After.Mode.IsDir(), c.Kind == Deleted && c.Before.Mode.IsDir():
		return " (a directory)"
	case c.Kind != Deleted:
		return fmt.Sprintf(" (%d bytes, %v)", c.After.Size, c.After.Mode)
	}
	return ""
}

// difference shows how the content of a file changed.
func (s *Set) difference(c Change) string {
	head := difference.Header(c.Path)
	if max(c.Before.Size, c.After.Size) > maxShown {
		return head + "(the difference is not shown: the file is too large)\n"
	}
	var before []byte
	var err error
	if c.Before.Mode.IsRegular() {
		before, err = readBelow(s.trees[c.tree].Root, c.rel, maxShown, &c.Before)
	}
	after, errAfter := s.Content(c.Path, maxShown)
	if err != nil || errAfter != nil {
		return head + "(the difference is not shown: the file cannot be read)\n"
	}
	return difference.Unified(c.Path, before, after)
}
