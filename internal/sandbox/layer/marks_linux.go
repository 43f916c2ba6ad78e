package layer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// mark is an attribute that the kernel put on a file of an upper half.
type mark struct {
	Path  []byte `json:"path"` // a name need not be text
	Name  string `json:"name"`
	Value []byte `json:"value"`
}

// SaveMarks writes down the attributes of the overlay in some trees. Applying removes
// them, and a layer that could not be applied needs them again.
func SaveMarks(trees []Tree, path string) error {
	var list []mark
	for _, t := range trees {
		if err := marksBelow(t.Upper(), &list); err != nil {
			return fmt.Errorf("writing down a layer: %w", err)
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := durable.Replace(path, text, 0o600); err != nil {
		return fmt.Errorf("writing down a layer: %w", err)
	}
	return nil
}

func marksBelow(path string, list *[]mark) error {
	e, err := place{unix.AT_FDCWD, path}.entry()
	if err != nil || !e.Mode.IsDir() && !e.Mode.IsRegular() {
		return err
	}
	return opened(path, func() error {
		found, err := overlayMarks(path)
		if err != nil {
			return err
		}
		*list = append(*list, found...)
		if !e.Mode.IsDir() {
			return nil
		}
		return eachIn(path, func(path string, _ Entry) error { return marksBelow(path, list) })
	})
}

// RestoreMarks puts back what SaveMarks wrote down, and forgets that. It does nothing
// where nothing was written down.
func RestoreMarks(path string) error {
	text, err := plainfile.Read(path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading what a layer was: %w", err)
	}
	var list []mark
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("reading what a layer was: %w", err)
	}
	for _, m := range list {
		if !strings.HasPrefix(m.Name, overlayPrefix) {
			return fmt.Errorf("%s has the attribute %q, which no layer has", path, m.Name)
		}
		// What is no change was removed when the layer was to be applied.
		if err := markBelow(filepath.Dir(path), string(m.Path), m); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("putting back what a layer was: %w", err)
		}
	}
	return os.Remove(path)
}

// markBelow puts an attribute on a file, also where a directory on the way to it has lost
// the rights for that. The directories are those of the layer, below top.
func markBelow(top, path string, m mark) error {
	err := setMark(path, m.Name, m.Value)
	if !errors.Is(err, unix.EACCES) {
		return err
	}
	inTop := strings.HasPrefix(path, top+"/")
	do := func() error { return setMark(path, m.Name, m.Value) }
	for dir := filepath.Dir(path); inTop && dir != top; dir = filepath.Dir(dir) {
		inner := do
		do = func() error { return opened(dir, inner) }
	}
	return do()
}

// setMark puts an attribute on a file, also on one that its owner cannot write.
func setMark(path, name string, value []byte) error {
	err := unix.Lsetxattr(path, name, value, 0)
	if !errors.Is(err, unix.EACCES) {
		return err
	}
	e, lookErr := place{unix.AT_FDCWD, path}.entry()
	if lookErr != nil {
		return errors.Join(err, lookErr)
	}
	if err := unix.Chmod(path, unixMode(e.Mode)|0o200); err != nil {
		return err
	}
	return errors.Join(unix.Lsetxattr(path, name, value, 0), unix.Chmod(path, unixMode(e.Mode)))
}

// overlayMarks are the attributes of the overlay that a file has.
func overlayMarks(path string) ([]mark, error) {
	list, err := xattrs(path)
	if err != nil {
		return nil, err
	}
	var out []mark
	for _, name := range list {
		if !strings.HasPrefix(name, overlayPrefix) {
			continue
		}
		value := make([]byte, 1<<10) // a mark is a word or the handle of a file
		n, err := unix.Lgetxattr(path, name, value)
		if errors.Is(err, unix.EACCES) {
			continue // a file that its owner cannot read: where it was copied from is not known
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		out = append(out, mark{[]byte(path), name, value[:n]})
	}
	return out, nil
}

// copyOverlay gives a directory the attributes of the overlay that another has.
func copyOverlay(from, to string) error {
	list, err := overlayMarks(from)
	for i := 0; err == nil && i < len(list); i++ {
		err = setMark(to, list[i].Name, list[i].Value)
	}
	return err
}

// A file that the later command copied from one which an earlier command made is no
// copy of a live one, and must not count as such: the live one is not missing. The kernel
// marks both alike, and the mark does not say what was copied. So a marked file counts as
// a copy of the one that the earlier commands made under its name, or of one of theirs
// that is gone, as long as there are any (compare findMoves).

// countGone counts the files which earlier commands made and the later one removed,
// moved or replaced.
func (m *merger) countGone(low, high string) error {
	return opened(low, func() error {
		return eachIn(high, func(path string, _ Entry) error { return m.goneAt(filepath.Join(low, filepath.Base(path)), path) })
	})
}

func (m *merger) goneAt(low, high string) error {
	was, err := place{unix.AT_FDCWD, low}.entry()
	if err != nil || !was.Exists() {
		return err
	}
	now, err := place{unix.AT_FDCWD, high}.entry()
	if err != nil {
		return err
	}
	if was.Mode.IsDir() && now.Mode.IsDir() {
		if marked, err := opaqueAt(high); err != nil || !marked {
			return errors.Join(err, m.countGone(low, high))
		}
	}
	if now.Mode.IsRegular() && was.Mode.IsRegular() {
		if copied, err := isCopy(high); err != nil || copied {
			return err
		}
	}
	return m.countMade(low, was)
}

func (m *merger) countMade(path string, e Entry) error {
	if e.Mode.IsRegular() {
		copied, err := isCopy(path)
		if err == nil && !copied {
			m.gone++
		}
		return err
	}
	if !e.Mode.IsDir() {
		return nil
	}
	return eachIn(path, m.countMade)
}

// unmark takes the mark from what the later command copied from files of the earlier
// ones. Was is what these have under its name.
func (m *merger) unmark(path string, e Entry, low string, was Entry) error {
	if e.Mode.IsDir() {
		return eachIn(path, func(path string, e Entry) error { return m.unmark(path, e, "", Entry{}) })
	}
	if !e.Mode.IsRegular() {
		return nil
	}
	copied, err := isCopy(path)
	if err != nil || !copied {
		return err
	}
	if was.Exists() && was.Mode.IsRegular() {
		if copied, err := isCopy(low); err != nil || copied {
			return err
		}
		return removeMark(path, e)
	}
	if m.gone == 0 {
		return nil
	}
	m.gone--
	return removeMark(path, e)
}

// eachIn does something with all that is in a directory.
func eachIn(dir string, do func(path string, e Entry) error) error {
	return opened(dir, func() error {
		list, err := os.ReadDir(dir)
		for i := 0; err == nil && i < len(list); i++ {
			var e Entry
			path := filepath.Join(dir, list[i].Name())
			if e, err = (place{unix.AT_FDCWD, path}).entry(); err == nil {
				err = do(path, e)
			}
		}
		return err
	})
}

const copyMark = overlayPrefix + "origin"

// isCopy tells whether the kernel made a file as a copy of one below.
func isCopy(path string) (bool, error) {
	_, err := unix.Lgetxattr(path, copyMark, nil)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EACCES):
		return false, nil
	}
	return false, fmt.Errorf("reading an attribute of %q: %w", path, err)
}

func removeMark(path string, e Entry) error {
	err := unix.Lremovexattr(path, copyMark)
	if !errors.Is(err, unix.EACCES) {
		return err
	}
	if err := unix.Chmod(path, unixMode(e.Mode)|0o200); err != nil {
		return err
	}
	return errors.Join(unix.Lremovexattr(path, copyMark), unix.Chmod(path, unixMode(e.Mode)))
}
