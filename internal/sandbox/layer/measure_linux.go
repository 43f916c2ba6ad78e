package layer

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// MostFiles is how many files a layer may hold.
const MostFiles = mostChanges

// Held is what the upper halves of a layer hold.
type Held struct {
	Bytes int64 // the larger of what files take and what they say to have
	Files int64
	// Whole: all of it was seen. A program can shut a directory, and a deep one is not
	// looked into.
	Whole bool
}

// Measure tells what a layer holds while a command works on it. It stops when it has
// seen more than enough.
func Measure(trees []Tree, enough int64) (Held, error) {
	m := &measure{held: Held{Whole: true}, enough: enough, linked: map[identity]bool{}}
	for _, t := range trees {
		upper, err := openRoot(t.Upper())
		if err != nil {
			return m.held, err
		}
		m.dir(upper, 0)
		_ = unix.Close(upper) // it was only read
	}
	return m.held, nil
}

type measure struct {
	held   Held
	enough int64
	linked map[identity]bool // files with further names, which count once
}

// deepest is how deep a program that runs is looked after: each level has a file open.
const deepest = 128

func (m *measure) dir(dir, depth int) {
	list, err := names(dir)
	if err != nil {
		m.held.Whole = false
		return
	}
	for _, name := range list {
		if m.held.Bytes > m.enough || m.held.Files > MostFiles {
			return
		}
		var st unix.Stat_t
		if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			m.held.Whole = m.held.Whole && errors.Is(err, fs.ErrNotExist) // it is gone again
			continue
		}
		m.held.Files++
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			m.held.Bytes += st.Blocks * 512
			m.below(dir, name, depth+1)
		case unix.S_IFREG:
			if e := entryOf(&st); e.Links > 1 {
				if m.linked[e.id] {
					continue
				}
				m.linked[e.id] = true
			}
			m.held.Bytes += max(st.Size, st.Blocks*512)
		}
	}
}

func (m *measure) below(dir int, name string, depth int) {
	if depth > deepest {
		m.held.Whole = false
		return
	}
	inner, err := openBelow(dir, name)
	if err != nil {
		m.held.Whole = m.held.Whole && errors.Is(err, fs.ErrNotExist)
		return
	}
	m.dir(inner, depth)
	_ = unix.Close(inner) // it was only read
}
