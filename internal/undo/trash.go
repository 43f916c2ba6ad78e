package undo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Trash is the directory that removed files were moved to: in it a directory for each,
// with "origin", its old path, and "entry", what it was.
type Trash struct{ Dir string }

// Removed is something in the trash.
type Removed struct {
	ID     string    `json:"id"`
	Path   string    `json:"path"` // where it was
	Type   string    `json:"type"` // file, directory or link
	Size   int64     `json:"size"`
	At     time.Time `json:"deleted"`
	Mode   fs.FileMode
	Target string `json:"target,omitempty"` // of a link
}

// plainSlot reports whether a text can be the name of a slot: it must lead nowhere else.
func plainSlot(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}

// List gives what is in the trash, the newest first, and how much of it cannot be read.
func (t Trash) List() (list []Removed, broken int, err error) {
	entries, err := os.ReadDir(t.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		if !plainSlot(e.Name()) || !e.IsDir() {
			broken++
			continue
		}
		one, err := t.Get(e.Name())
		if err != nil {
			broken++
			continue
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Removed) int { return b.At.Compare(a.At) })
	return list, broken, nil
}

// Get gives one thing of the trash by its whole ID.
func (t Trash) Get(id string) (Removed, error) {
	if !plainSlot(id) {
		return Removed{}, fmt.Errorf("%q is no ID of the trash", id)
	}
	dir := filepath.Join(t.Dir, id)
	info, err := os.Lstat(dir)
	if err != nil {
		return Removed{}, err
	}
	origin, err := plainfile.Read(filepath.Join(dir, "origin"), 64<<10)
	if err != nil {
		return Removed{}, err
	}
	entry, err := os.Lstat(filepath.Join(dir, "entry"))
	if err != nil {
		return Removed{}, err
	}
	out := Removed{ID: id, Path: string(bytes.TrimSuffix(origin, []byte("\n"))), At: info.ModTime(), Mode: entry.Mode(), Type: "file", Size: entry.Size()}
	if !filepath.IsAbs(out.Path) {
		return Removed{}, errors.New("it is not said where it was")
	}
	switch mode := entry.Mode(); {
	case mode.IsDir():
		out.Type, out.Size = "directory", 0
	case mode&fs.ModeSymlink != 0:
		out.Type, out.Size = "link", 0
		out.Target, err = os.Readlink(filepath.Join(dir, "entry"))
	case !mode.IsRegular():
		return Removed{}, errors.New("it is a device, a pipe or a socket")
	}
	return out, err
}

// Find gives one thing by a beginning of its ID, whatever the case, or by the path where
// it was; of several at one path the newest.
func (t Trash) Find(said string) ([]Removed, error) {
	list, _, err := t.List()
	if err != nil || said == "" {
		return nil, err
	}
	var found []Removed
	for _, one := range list {
		if strings.HasPrefix(one.ID, strings.ToUpper(said)) {
			found = append(found, one)
		}
	}
	if len(found) == 0 && filepath.IsAbs(said) {
		for _, one := range list {
			if one.Path == filepath.Clean(said) {
				return []Removed{one}, nil
			}
		}
	}
	return found, nil
}

// Entry is where the thing itself lies.
func (t Trash) Entry(id string) string { return filepath.Join(t.Dir, id, "entry") }

// Drop removes something from the trash for good.
func (t Trash) Drop(id string) error {
	if !plainSlot(id) {
		return fmt.Errorf("%q is no ID of the trash", id)
	}
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	return errors.Join(root.RemoveAll(id), root.Close())
}
