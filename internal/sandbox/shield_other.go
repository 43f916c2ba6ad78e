//go:build !linux

package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// dirState tells whether a directory changed, by a time that programs can set
// back. So it is never settled here, and directories are read each time.
type dirState struct{ changed int64 }

func stateOf(dir string) (dirState, error) {
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist // it was one a moment ago
	}
	if err != nil {
		return dirState{}, err
	}
	return dirState{changed: info.ModTime().UnixNano()}, nil
}

func (dirState) settled() bool { return false }

// moment is a time, less the steps in which changes are told.
type moment int64

func now() moment { return moment(time.Now().Add(-10 * time.Millisecond).UnixNano()) }

func (d dirState) before(m moment) bool { return moment(d.changed) < m }

func (dirState) number() FileID { return FileID{} }

func (dirState) idAt(string) FileID { return FileID{} }

// fileFacts is what is asked of a file, a directory or a link. Other names of
// a file are not known here.
type fileFacts struct {
	id                 FileID
	dir, link, regular bool
	names              uint64
	size, changed      int64
}

func factsOf(path string) (fileFacts, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return fileFacts{}, err
	}
	return fileFacts{
		dir: info.IsDir(), link: info.Mode()&fs.ModeSymlink != 0, regular: info.Mode().IsRegular(), names: 1,
		size: info.Size(), changed: info.ModTime().UnixNano(),
	}, nil
}

func readEntries(dir string, _ dirState, most int) ([]entry, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := f.ReadDir(most + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(names) > most {
		return nil, errCrowded
	}
	list := make([]entry, len(names))
	for i, e := range names {
		list[i] = entry{name: e.Name(), kind: e.Type()}
	}
	return list, nil
}

const noWait = 0

// fileState is never the same here either.
type fileState struct{ dirState }

func stateOfFile(file string) (state fileState, regular bool, err error) {
	info, err := os.Lstat(file)
	return fileState{}, err == nil && info.Mode().IsRegular(), err
}

// letIn is not known here.
func letIn(string) (shut func(back bool) (stood bool), ok bool) { return nil, false }
