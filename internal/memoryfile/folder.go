package memoryfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// The bounds on what is searched in one folder.
const (
	maxFile   = 1 << 20
	maxFiles  = 5000
	maxFolded = 64 << 20 // bytes
)

// folder is the memory of one agent, or of a person, as it was read last.
type folder struct {
	mu      sync.Mutex
	files   map[string]*readFile
	used    time.Time
	skipped []string
}

// readFile is a file as it was read.
type readFile struct {
	size    int64
	changed time.Time
	// sure: it was read so long after its last change that another change shows in
	// its time.
	sure    bool
	content string // only while it is not sure
	index   *fileIndex
	fault   string
}

// settled is how coarse the clocks of file systems are.
const settled = 2 * time.Second

// refresh reads what has changed below the directory and gives the indices, those
// with the older days first.
func (f *folder) refresh(root *os.Root, dir string, now time.Time) (names []string, all []*fileIndex, err error) {
	seen := map[string]fs.FileInfo{}
	for _, sub := range []string{"", "daily"} {
		if err := list(root, path.Join(dir, sub), sub, seen); err != nil {
			return nil, nil, err
		}
	}
	if f.files == nil {
		f.files = map[string]*readFile{}
	}
	for name := range f.files {
		if seen[name] == nil {
			delete(f.files, name)
		}
	}
	f.skipped = nil
	for name := range seen {
		names = append(names, name)
	}
	slices.SortFunc(names, newestFirst)
	total, kept := int64(0), names[:0]
	for i, name := range names {
		if total += min(seen[name].Size(), maxFile); i >= maxFiles || total > maxFolded {
			f.skipped = append(f.skipped, fmt.Sprintf("%s and %d more files, the oldest: there is more than can be searched", path.Join(dir, name), len(names)-i-1))
			break
		}
		one := f.read(root, dir, name, seen[name], now)
		if one.fault != "" {
			f.skipped = append(f.skipped, one.fault)
			continue
		}
		kept, all = append(kept, name), append(all, one.index)
	}
	slices.Reverse(kept)
	slices.Reverse(all)
	return kept, all, nil
}

// newestFirst has what is no file of a day in front, and then the latest day.
func newestFirst(a, b string) int {
	dayA, dayB := strings.HasPrefix(a, "daily/"), strings.HasPrefix(b, "daily/")
	switch {
	case dayA != dayB && dayB:
		return -1
	case dayA != dayB:
		return 1
	case dayA:
		return strings.Compare(b, a)
	}
	return strings.Compare(a, b)
}

// list finds the Markdown files of a directory; what is none is left alone.
func list(root *os.Root, dir, sub string, seen map[string]fs.FileInfo) error {
	info, err := root.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		err = plainfile.ErrLinked
	}
	if err != nil {
		return fmt.Errorf("looking through %s: %w", dir, err)
	}
	d, err := root.OpenFile(dir, plainfile.AsDir, 0)
	if err != nil {
		return fmt.Errorf("looking through %s: %w", dir, err)
	}
	entries, err := d.ReadDir(-1)
	if err := errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("looking through %s: %w", dir, err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".md") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("looking through %s: %w", dir, err)
		}
		seen[path.Join(sub, e.Name())] = info
	}
	return nil
}

// read gives a file as it is now.
func (f *folder) read(root *os.Root, dir, name string, now fs.FileInfo, at time.Time) *readFile {
	old := f.files[name]
	if old != nil && old.sure && old.size == now.Size() && old.changed.Equal(now.ModTime()) {
		return old
	}
	one := &readFile{size: now.Size(), changed: now.ModTime()}
	f.files[name] = one
	text, info, err := plainfile.ReadIn(root, path.Join(dir, name), maxFile)
	if err == nil && !utf8.Valid(text) {
		err = errors.New("it is no UTF-8 text")
	}
	if err != nil {
		one.fault = fmt.Sprintf("%s: %v", path.Join(dir, name), shortError(err))
		return one
	}
	one.size, one.changed = info.Size(), info.ModTime()
	one.sure = at.Sub(one.changed) > settled
	if old != nil && old.index != nil && !old.sure && old.content == string(text) {
		one.index = old.index
	} else {
		one.index = newFileIndex(string(text))
	}
	if !one.sure {
		one.content = string(text)
	}
	return one
}

// shortError is an error without the path, which is told already.
func shortError(err error) error {
	for _, known := range []error{plainfile.ErrLinked, plainfile.ErrOdd, fs.ErrPermission, fs.ErrNotExist} {
		if errors.Is(err, known) {
			return known
		}
	}
	if errors.Is(err, plainfile.ErrLong) {
		return fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	return err
}
