package toolfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// maxFiles bounds what is looked at in one folder.
const maxFiles = 1000

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
	Executable bool // always on systems that do not know the x bit
	Err        error
}

// ProjectFolder finds .toolcrib/tools in a directory or the nearest one above it, but neither in the home directory nor at
// the top. Without one it is where it would be: in the directory itself.
func ProjectFolder(dir, home string) Folder {
	if dir == "" {
		return Folder{}
	}
	at := func(dir string) Folder { return Folder{Dir: filepath.Join(dir, ".toolcrib", "tools"), NoLinks: true} }
	for up := dir; up != filepath.Dir(up) && up != home; up = filepath.Dir(up) {
		if info, err := os.Lstat(at(up).Dir); err == nil && info.IsDir() {
			return at(up)
		}
	}
	return at(dir)
}

// Marks is a text that differs when the folder is another. It is cheap, and misses what was made to look the same.
func (f Folder) Marks() string {
	var b strings.Builder
	for _, name := range f.names() {
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
	for _, name := range f.names() {
		path := filepath.Join(f.Dir, name)
		info, err := f.stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		s := Source{Path: path, Executable: runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0}
		if s.Content, s.Err = plainfile.Read(path, maxFile); s.Err != nil && errors.Is(s.Err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		list = append(list, s)
	}
	return list, nil
}

// names are those of the files that are not passed over by their names alone.
func (f Folder) names() []string {
	if f.Dir == "" {
		return nil
	}
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !skipped(e.Name()) && len(names) < maxFiles {
			names = append(names, e.Name())
		}
	}
	return names
}

func (f Folder) stat(path string) (fs.FileInfo, error) {
	if f.NoLinks {
		return os.Lstat(path)
	}
	return os.Stat(path)
}
