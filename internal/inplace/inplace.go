// Package inplace writes a file in place, so that it stays the same file, and
// loses nothing if that is cut off. It stands under the core and imports only
// durable. Its one invariant: what a file held is on the disk elsewhere until
// the file holds all of the new content.
package inplace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// Dir is the directory of notes: one for each file that is being written.
// Empty: none are made. Nobody but us may write there.
type Dir string

// note is what is known of a file that is being written.
type note struct {
	Path string `json:"path"`
	New  bool   `json:"new,omitempty"` // there was none before
	Sum  string `json:"sum"`           // of both contents
	Old  int    `json:"old"`           // how many bytes of what follows are the old content
	old  []byte
	data []byte // the new content
}

// maxWait is how long a write waits for those of others.
const maxWait = 10 * time.Second

func (d Dir) lock() (io.Closer, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	return durable.Lock(ctx, filepath.Join(string(d), "lock"))
}

func (d Dir) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(string(d), hex.EncodeToString(sum[:16])+noteEnd)
}

const noteEnd = ".note"

// Pending reports whether a write to a path was cut off, or is being done.
func (d Dir) Pending(path string) bool {
	if d == "" {
		return false
	}
	_, err := os.Lstat(d.file(path))
	return err == nil
}

// Write gives an open file a new content. Old is what it has; fresh says that it
// was made a moment ago and holds nothing.
func (d Dir) Write(path string, file *os.File, old, data []byte, fresh bool) (err error) {
	if d == "" {
		return fill(file, data)
	}
	lock, err := d.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	name := d.file(path)
	if err := (&note{Path: path, New: fresh, old: old, data: data}).save(name); err != nil {
		return errors.Join(err, gone(name))
	}
	if err := fill(file, data); err != nil {
		// What is there now is neither the one nor the other.
		if back := fill(file, old); back != nil {
			return errors.Join(err, back) // the note stays
		}
		return errors.Join(err, gone(name))
	}
	return gone(name)
}

// fill writes all of a content in one go before the file is cut to its length:
// who reads meanwhile most often sees one of the two.
func fill(file *os.File, data []byte) error {
	if _, err := file.WriteAt(data, 0); err != nil {
		return err
	}
	if err := file.Truncate(int64(len(data))); err != nil {
		return err
	}
	return file.Sync()
}

func gone(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (n *note) sum() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %v %d\n", n.Path, n.New, len(n.old))
	h.Write(n.old)
	h.Write(n.data)
	return hex.EncodeToString(h.Sum(nil))
}

func (n *note) save(name string) error {
	n.Sum, n.Old = n.sum(), len(n.old)
	head, err := json.Marshal(n)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(bytes.Join([][]byte{append(head, '\n'), n.old, n.data}, nil))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// readNote gives nil for a note that was cut off itself: its file was not
// touched yet.
func readNote(name string) (*note, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	head, rest, ok := bytes.Cut(text, []byte("\n"))
	var n note
	if err := json.Unmarshal(head, &n); err != nil || !ok || n.Old < 0 || n.Old > len(rest) {
		return nil, nil //nolint:nilerr // it was cut off
	}
	n.old, n.data = rest[:n.Old], rest[n.Old:]
	if n.sum() != n.Sum {
		return nil, nil
	}
	return &n, nil
}

// torn reports whether a content is what a write that was cut off leaves: the
// beginning of the new one, and from there on the old one.
func (n *note) torn(now []byte) bool {
	if bytes.Equal(now, n.old) && !n.New || bytes.Equal(now, n.data) {
		return false
	}
	k := 0
	for k < len(now) && k < len(n.data) && now[k] == n.data[k] {
		k++
	}
	rest := n.old[min(k, len(n.old)):]
	return bytes.Equal(now[k:], rest)
}

// Mender opens the file of a path for reading and writing, and removes it. It
// gives fs.ErrNotExist if there is none, and ErrElsewhere if the path is not its
// own.
type Mender interface {
	Open(path string) (*os.File, error)
	Remove(path string) error
}

// ErrElsewhere says that somebody else has to look after a path.
var ErrElsewhere = errors.New("not ours")

// Mend looks after writes that were cut off: it puts back what a file held, or
// removes one that had only begun. It tells what it did. What somebody changed
// since is left, and the old content with it.
func (d Dir) Mend(m Mender) (told []string, err error) {
	if d == "" {
		return nil, nil
	}
	names, err := filepath.Glob(filepath.Join(string(d), "*"+noteEnd))
	if err != nil || len(names) == 0 {
		return nil, err
	}
	lock, err := d.lock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	for _, name := range names {
		n, rerr := readNote(name)
		switch {
		case errors.Is(rerr, fs.ErrNotExist):
		case rerr != nil:
			err = errors.Join(err, rerr)
		case n == nil:
			err = errors.Join(err, gone(name))
		default:
			text, merr := n.mend(name, m)
			if text != "" {
				told = append(told, text)
			}
			err = errors.Join(err, merr)
		}
	}
	return told, err
}

func (n *note) mend(name string, m Mender) (told string, err error) {
	file, err := m.Open(n.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", gone(name) // somebody removed it since
	case errors.Is(err, ErrElsewhere):
		return "", nil
	case err != nil:
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	now, err := io.ReadAll(io.LimitReader(file, int64(len(n.old)+len(n.data))+1))
	switch {
	case err != nil:
		return "", err
	case bytes.Equal(now, n.data), bytes.Equal(now, n.old) && !n.New:
		return "", gone(name)
	case !n.torn(now):
		left := strings.TrimSuffix(name, noteEnd) + ".left"
		return fmt.Sprintf("a write to %s was cut off, and it was changed since; what it held before is in %s", n.Path, left), os.Rename(name, left)
	case n.New:
		if err := m.Remove(n.Path); err != nil {
			return "", err
		}
		return fmt.Sprintf("a write to the new file %s was cut off; what there was of it was removed", n.Path), gone(name)
	}
	if err := fill(file, n.old); err != nil {
		return "", err
	}
	return fmt.Sprintf("a write to %s was cut off; what it held before was put back", n.Path), gone(name)
}
