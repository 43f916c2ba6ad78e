package layer

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Where the layer lies on another file system than a tree, changes are applied from a
// directory beside the tree, which is removed afterwards. So that a crash leaves none, its
// name is written down before it is made, and then which directory it is: somebody else
// may have given the name to another one by then.

// stage is such a directory.
type stage struct {
	Path string `json:"path"`
	// Inode is zero for one that may not have been made: then there is nothing in it.
	Inode uint64 `json:"inode,omitempty"`
}

// stages are those of one record, as they are written down beside it.
type stages struct {
	file string
	list []stage

	at func(point string) // for tests, which end the process there
}

const (
	stagePrefix = ".toolcrib-layer-"
	maxStages   = 1 << 20 // bytes of a list
)

// beside makes a directory that can be renamed from into a tree: next to it, or in it
// where nothing can be made next to it.
func (s *stages) beside(root string) (string, error) {
	err := errors.New("it lies on a file system of its own")
	for _, near := range []string{filepath.Dir(root), root} {
		same, lookErr := sameMount(root, near)
		if lookErr != nil {
			return "", lookErr
		}
		if !same {
			continue
		}
		var dir string
		if dir, err = s.add(filepath.Join(near, stagePrefix+rand.Text())); err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.EROFS) {
			break
		}
	}
	return "", fmt.Errorf("making a directory beside %s to apply changes from: %w", root, err)
}

func (s *stages) add(path string) (string, error) {
	s.list = append(s.list, stage{Path: path})
	at := &s.list[len(s.list)-1]
	if err := s.write(); err != nil {
		return "", err
	}
	s.at("named")
	if err := os.Mkdir(path, 0o700); err != nil {
		return "", err
	}
	s.at("made")
	e, err := place{unix.AT_FDCWD, path}.entry()
	if err != nil {
		return "", err
	}
	at.Inode = e.id.Inode
	return path, s.write()
}

func (s *stages) write() error {
	list := slices.Clone(s.list)
	for i := range list {
		list[i].Path = pathText(list[i].Path)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := durable.Replace(s.file, text, 0o600); err != nil {
		return fmt.Errorf("writing down where changes are applied from: %w", err)
	}
	return nil
}

// readStages reads a list; none is an empty one.
func readStages(record string) (*stages, error) {
	s := &stages{file: record + ".stages", at: func(string) {}}
	text, err := plainfile.Read(s.file, maxStages)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = s.parse(text)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.file, err)
	}
	return s, nil
}

func (s *stages) parse(text []byte) error {
	if err := json.Unmarshal(text, &s.list); err != nil {
		return err
	}
	for i := range s.list {
		path, err := pathOf(s.list[i].Path)
		if err != nil {
			return err
		}
		if name := filepath.Base(path); !filepath.IsAbs(path) || len(name) <= len(stagePrefix) || name[:len(stagePrefix)] != stagePrefix {
			return fmt.Errorf("it names %q, which no stage is called", path)
		}
		s.list[i].Path = path
	}
	return nil
}

// RemoveStages removes the directories that were made for a record beside the granted ones,
// with what is in them.
func RemoveStages(record string) error {
	s, err := readStages(record)
	if err != nil || len(s.list) == 0 {
		return err
	}
	for _, st := range s.list {
		err = errors.Join(err, st.remove())
	}
	if err != nil {
		return err
	}
	return os.Remove(s.file)
}

// remove leaves alone what somebody else has put in the place of a stage.
func (s stage) remove() error {
	e, err := place{unix.AT_FDCWD, s.Path}.entry()
	switch {
	case err != nil || !e.Mode.IsDir():
		return err
	case s.Inode == 0:
		if err := unix.Rmdir(s.Path); err != nil && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("removing %s: %w", s.Path, err)
		}
		return nil
	case e.id.Inode != s.Inode:
		return nil
	}
	return removeAll(s.Path)
}
