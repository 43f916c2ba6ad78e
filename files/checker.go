package files

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Checker is [Handle.Check] for many names, one after another. What lies beside the
// last one is looked up from there, not from the top, so that a thousand files in one
// directory cost little more than one. It is for one goroutine.
type Checker struct {
	f    *Handle
	dir  string   // of the last name, with a slash at its end; empty: there was none
	at   []level  // down to it, as far as it is there
	gone []string // the rest of the way
}

// Checker begins a row of checks. It has directories open until it is closed, before the
// handle is.
func (f *Handle) Checker() *Checker { return &Checker{f: f} }

// Close lets go of the directories.
func (c *Checker) Close() error {
	s := &spot{levels: c.at}
	c.dir, c.at, c.gone = "", nil, nil
	return s.close()
}

// Check tells whether an absolute name is within reach, as [Handle.Check] does. Of its last
// so many elements nothing counts as there, whatever there is: it is about to be replaced.
func (c *Checker) Check(name string, write, link bool, replaced int) error {
	to := aim{write: write, link: link, maybe: true, replaced: replaced}
	dir, base := name[:strings.LastIndexByte(name, '/')+1], name[strings.LastIndexByte(name, '/')+1:]
	if dir == c.dir && filepath.Clean(name) == name && (len(c.gone) > 0) == (replaced > 1) && !c.granted(name) {
		again, err := c.beside(name, base, to)
		if !again {
			return told(name, err)
		}
	}
	if err := c.Close(); err != nil {
		return told(name, err)
	}
	return c.f.at(name, to, func(s *spot) error {
		last := append([]string{s.base}, s.rest...)[len(s.rest)]
		if err := s.checked(); err != nil || s.links > 0 || filepath.Clean(name) != name || last != base {
			return err
		}
		c.dir, c.at, s.levels = dir, s.levels, nil
		if n := len(s.rest); n > 0 {
			c.gone = append([]string{s.base}, s.rest[:n-1]...)
		}
		return nil
	})
}

// granted tells whether a granted directory begins there, which has rights of its own.
func (c *Checker) granted(name string) bool {
	return slices.ContainsFunc(c.f.trees, func(t *tree) bool { return t.Path == name || t.realPath() == name })
}

// beside checks what lies where the last name did. Again: it must be looked up from the
// top.
func (c *Checker) beside(name, base string, to aim) (again bool, err error) {
	s := &spot{f: c.f, name: name, to: to, levels: c.at}
	if c.f.closed.Load() {
		return false, fs.ErrClosed
	}
	if err := badName(name); err != nil {
		return false, err
	}
	if n := len(c.gone); n > 0 {
		s.judged = n
		_, err = s.missing(c.gone[0], append(slices.Clone(c.gone[1:]), base))
		return false, err
	}
	info, err := s.look(base)
	if err == nil && to.replaced > 0 {
		err = fs.ErrNotExist
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err = s.missing(base, nil)
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0 && !to.link:
		return true, nil
	default:
		if err = s.settle(base, info); err == nil {
			err = s.checked()
		}
	}
	return errors.Is(err, errSwapped), err
}
