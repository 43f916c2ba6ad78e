package files

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/refusal"
)

// places is the protected places: by path for what could be made there, by
// identity for what is there, whatever path leads to it.
type places struct {
	idSet
	ways [][]string // folded elements of their paths
}

// bar reports whether a path, given as its elements, is a protected place or
// lies in one.
func (p places) bar(elems []string) bool {
	elems = folded(elems)
	return slices.ContainsFunc(p.ways, func(way []string) bool {
		return len(way) <= len(elems) && slices.Equal(way, elems[:len(way)])
	})
}

// near reports whether a place may lie in or around a directory.
func (p places) near(dir []string) bool {
	dir = folded(dir)
	return slices.ContainsFunc(p.ways, func(way []string) bool {
		n := min(len(way), len(dir))
		return slices.Equal(way[:n], dir[:n])
	})
}

func folded(elems []string) []string {
	out := make([]string, len(elems))
	for i, elem := range elems {
		out[i] = foldName(elem)
	}
	return out
}

// findPlaces looks up the protected places. It follows links: a start file of
// the shell that is kept elsewhere is protected there, and one that is yet to
// be made is known by the real path of its directory.
func (f *Handle) findPlaces() places {
	var p places
	dirs := map[string]string{} // most places lie in the same few
	for _, place := range f.guarded() {
		dir := filepath.Dir(place)
		if _, known := dirs[dir]; !known {
			dirs[dir] = realPath(dir)
		}
		path := filepath.Join(dirs[dir], filepath.Base(place))
		p.name(place, path)
		info, err := os.Lstat(path)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			path = realPath(path)
			p.name(path)
			info, err = os.Stat(path)
		}
		if err == nil {
			p.add(info)
		}
	}
	return p
}

// guarded lists the places to protect.
func (f *Handle) guarded() []string {
	if f.trash == "" {
		return f.guard.list.Places
	}
	return append(slices.Clip(f.guard.list.Places), f.trash)
}

func (p *places) name(paths ...string) {
	for _, path := range slices.Compact(paths) {
		p.ways = append(p.ways, folded(pathglob.Elements(path)))
	}
}

// realPath is a path without links, as far as it exists.
func realPath(path string) string {
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if found, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(found, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// hard is the protected files that could have further names.
type hard struct {
	idSet
	partly bool // there are too many files to find them all
}

// maxLinked bounds the search for protected files: so many files in protected
// places, and so many folders in granted ones.
const maxLinked = 300_000

// hardLinked reports whether a file that has several names is a protected one
// by another of them, or may be one. One of which nobody knows how many it has is
// looked up as well.
func (f *Handle) hardLinked(file *os.File, info fs.FileInfo) bool {
	if names, ok := namesOf(file, info); ok && names < 2 {
		return false
	}
	l := f.linked()
	return l.partly || l.has(info)
}

// findLinked collects the identities of protected files in the granted
// directories and in protected places on the same disk. It is made only when a
// file with several names is opened.
func (f *Handle) findLinked() hard {
	var l hard
	disks := map[uint64]bool{}
	for _, t := range f.trees {
		if t.open() == nil {
			key, _, _ := keyOf(t.info)
			disks[key.dev] = true
		}
	}
	count := 0
	for _, place := range f.guarded() {
		info, err := os.Stat(place)
		if err != nil {
			continue
		}
		if key, _, _ := keyOf(info); !disks[key.dev] {
			continue // a file has all its names on one disk
		}
		_ = filepath.WalkDir(realPath(place), func(_ string, e fs.DirEntry, err error) error {
			if count++; count > maxLinked {
				l.partly = true
				return fs.SkipAll
			}
			if err == nil && e.Type().IsRegular() {
				if info, err := e.Info(); err == nil {
					l.add(info)
				}
			}
			return nil // what cannot be read here can still be told by its name
		})
	}
	var mu sync.Mutex
	for _, t := range f.trees {
		folders := 0
		err := f.walk(context.Background(), t.Path, &walk{all: true, visit: func(d *Folder) error {
			mu.Lock()
			defer mu.Unlock()
			if folders++; folders > maxLinked {
				l.partly = true
				return fs.SkipAll
			}
			for _, e := range d.Entries {
				if info := d.dir.info(e); info != nil {
					l.add(info)
				}
			}
			return nil
		}}, nil)
		if err != nil && t.open() == nil && !refusal.Is(err, refusal.Denied) {
			l.partly = true // a tree that is out of reach itself is no way to anything
		}
	}
	return l
}
