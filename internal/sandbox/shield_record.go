package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// What is set aside is told when the program has ended. For a server that is the
// end of a session, when nobody may be there to read it. So it is written down
// too, for whoever asks later.

// Aside is something that was set aside.
type Aside struct {
	Path string    // as it was called
	At   string    // what lies there as long as nobody has undone it
	Why  string    // a sentence without a stop
	Undo string    // likewise, in the imperative
	When time.Time // zero: now
}

// record is how it is written, a line each. Names of files need not be text.
type record struct {
	Path, At  []byte
	Why, Undo string
	When      time.Time
}

const (
	recordMark  = ".aside"
	maxRecords  = 500
	manyRecords = 256 << 10 // bytes, at which those that were undone are dropped
)

// record writes down that something was set aside. If that fails it was only told.
func (s *Shield) record(a Aside) {
	dir := s.records
	if dir == "" && s.Holds != nil {
		dir = s.Holds.Dir
	}
	if dir == "" {
		return
	}
	a.When = time.Now()
	file := dir + recordMark
	if info, err := os.Lstat(file); err == nil && info.Size() > manyRecords {
		thinRecords(file)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(a.line()) // at once, since others write too
	_ = f.Close()
}

func (a Aside) line() []byte {
	text, err := json.Marshal(record{Path: []byte(a.Path), At: []byte(a.At), Why: a.Why, Undo: a.Undo, When: a.When})
	if err != nil {
		return nil
	}
	return append(text, '\n')
}

// thinRecords keeps the newest of those that count.
func thinRecords(file string) {
	list := readRecords(file)
	var text []byte
	for _, a := range list[max(0, len(list)-maxRecords/2):] {
		text = append(text, a.line()...)
	}
	_ = durable.Replace(file, text, 0o600) // if that fails it stays as long as it is
}

func readRecords(file string) (list []Aside) {
	text, err := plainfile.Read(file, 4*manyRecords)
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(text) {
		var r record
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		a := Aside{Path: string(r.Path), At: string(r.At), Why: r.Why, Undo: r.Undo, When: r.When}
		if a.stays() && !slices.ContainsFunc(list, func(o Aside) bool { return o.At == a.At }) {
			list = append(list, a)
		}
	}
	return list
}

// stays tells whether it is still set aside. In the place of a HEAD that is a
// directory.
func (a Aside) stays() bool {
	info, err := os.Lstat(a.At)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !isNotDir(err) // it cannot be told
	}
	return filepath.Base(a.At) != head || info.IsDir()
}

// Asides gives what was set aside and still is, the oldest first.
func (h *Holds) Asides() []Aside {
	if h == nil || h.Dir == "" {
		return nil
	}
	return readRecords(h.Dir + recordMark)
}
