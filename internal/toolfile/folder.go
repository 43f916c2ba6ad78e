package toolfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/gobuild"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// What is looked at in one folder: a project may bring anything along.
const (
	maxFiles = 1000
	maxTotal = 32 << 20 // bytes of all files together
)

// Folder is a directory of files that declare tools. What lies in directories below it is not looked at. The zero value has
// none.
type Folder struct {
	Dir string
	// NoLinks leaves out what is a symbolic link: in a project it could lead anywhere.
	NoLinks bool
}

// Source is one file of a folder as it was read.
type Source struct {
	Path       string
	Content    []byte
	Executable bool // always on systems that do not know the x bit, and for what is compiled first
	Err        error
}

// ProjectFolder finds .toolcrib/tools in a directory or the nearest one above it, but neither in the home directory nor at
// the top. Without one it is where it would be: in the directory itself.
func ProjectFolder(dir, home string) Folder {
	if dir == "" {
		return Folder{}
	}
	return Folder{Dir: cmp.Or(config.FindProjectTools(dir, home), config.ProjectToolDir(dir)), NoLinks: true}
}

// Marks is a text that differs when the folder is another. It is cheap, and misses what was made to look the same.
func (f Folder) Marks() string {
	var b strings.Builder
	names, _ := f.names()
	for _, name := range names {
		if info, err := f.stat(filepath.Join(f.Dir, name)); err == nil {
			fmt.Fprintln(&b, name, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// Read reads the files that may declare something, in the order of their names. A folder that is not there has none.
func (f Folder) Read() ([]Source, error) {
	if f.Dir == "" {
		return nil, nil
	}
	if _, err := os.ReadDir(f.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for tools: %w", err)
	}
	var list []Source
	left := int64(maxTotal)
	names, more := f.names()
	for _, name := range names {
		path := filepath.Join(f.Dir, name)
		info, err := f.stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		s := Source{Path: path, Executable: runtime.GOOS == "windows" || gobuild.Is(name) || info.Mode().Perm()&0o111 != 0}
		if s.Content, s.Err = plainfile.Read(path, min(maxFile, left)); s.Err != nil && errors.Is(s.Err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		if left -= int64(len(s.Content)); errors.Is(s.Err, plainfile.ErrLong) && left < maxFile {
			s.Err = fmt.Errorf("%s: the files of this folder have more than %d MiB together: put what is no tool elsewhere", path, maxTotal>>20)
		}
		list = append(list, s)
	}
	if more != "" {
		path := filepath.Join(f.Dir, more)
		list = append(list, Source{Path: path, Executable: true, Err: fmt.Errorf("%s: it and what comes after it is not looked at, because the folder has more than %d files: put what is no tool elsewhere", path, maxFiles)})
	}
	return list, nil
}

// names are those of the files that are not passed over by their names alone, and the first that is too many.
func (f Folder) names() (names []string, more string) {
	if f.Dir == "" {
		return nil, ""
	}
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, ""
	}
	for _, e := range entries {
		switch {
		case e.IsDir() || skipped(e.Name()):
		case len(names) == maxFiles:
			return names, e.Name()
		default:
			names = append(names, e.Name())
		}
	}
	return names, ""
}

func (f Folder) stat(path string) (fs.FileInfo, error) {
	if f.NoLinks {
		return os.Lstat(path)
	}
	return os.Stat(path)
}
