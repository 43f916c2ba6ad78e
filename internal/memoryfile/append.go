package memoryfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/toolbox/memory"
)

// Plan implements [memory.Store].
func (s *Store) Plan(_ context.Context, caller toolcrib.Caller, e memory.Entry) (memory.Saved, error) {
	plain, told, err := plainContent(e.Content)
	if err != nil {
		return memory.Saved{}, err
	}
	now := s.cfg.Now().Local()
	saved := memory.Saved{Notes: told, Untrusted: s.untrusted(caller)}
	saved.Text = written(now, saved.Untrusted, plain)
	name := "MEMORY.md"
	if e.Target == "daily" {
		name = "daily/" + now.Format(time.DateOnly) + ".md"
	}
	saved.File = path.Join(folderOf(caller, e.Scope), name)
	return saved, nil
}

func (s *Store) untrusted(caller toolcrib.Caller) string {
	if s.cfg.Untrusted == nil {
		return "unknown"
	}
	return s.cfg.Untrusted(caller)
}

// Append implements [memory.Store].
func (s *Store) Append(ctx context.Context, caller toolcrib.Caller, e memory.Entry) (saved memory.Saved, err error) {
	if saved, err = s.Plan(ctx, caller, e); err != nil {
		return memory.Saved{}, err
	}
	root, err := s.root(true)
	if err != nil {
		return memory.Saved{}, fmt.Errorf("remembering a note: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	dir := folderOf(caller, e.Scope)
	if err := makeFolder(root, path.Dir(saved.File)); err != nil {
		return memory.Saved{}, err
	}
	lock, err := durable.Lock(ctx, filepath.Join(s.cfg.Dir, filepath.FromSlash(dir), ".lock"))
	if err != nil {
		return memory.Saved{}, fmt.Errorf("remembering a note: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	// An editor that puts a new file in the place of the old one while we write takes
	// the note away with the old one: then it is written again.
	for try := range 20 {
		if try > 0 {
			select {
			case <-ctx.Done():
				return memory.Saved{}, fmt.Errorf("the note was not written: %w", ctx.Err())
			case <-time.After(time.Duration(try) * time.Millisecond):
			}
		}
		stays, err := s.appendTo(root, saved.File, saved.Text)
		if err != nil {
			return memory.Saved{}, fmt.Errorf("the note was not written: %w", err)
		}
		if stays {
			return saved, nil
		}
	}
	return memory.Saved{}, fmt.Errorf("the note was not written: another program keeps replacing %s", saved.File)
}

// checkFolder refuses links on the way to a folder: one would lead to the memory of
// another, or elsewhere.
func checkFolder(root *os.Root, dir string) error {
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		info, err := root.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !info.IsDir() {
			err = errors.New("it is no directory of its own: a person has to look at it")
		}
		if err != nil {
			return fmt.Errorf("the folder %s of the memory cannot be used: %w", at, err)
		}
	}
	return nil
}

func makeFolder(root *os.Root, dir string) error {
	if err := checkFolder(root, dir); err != nil {
		return err
	}
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder %s of the memory: %w", dir, err)
	}
	return checkFolder(root, dir)
}

// appendTo writes at the end of a file, and reports whether it has still its name
// afterwards. It takes back what it could write only in part.
func (s *Store) appendTo(root *os.Root, name, entry string) (stays bool, err error) {
	f, info, err := plainfile.OpenIn(root, name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil // somebody made it meanwhile
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, shortError(err))
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	old, err := io.ReadAll(io.NewSectionReader(f, 0, maxFile+1))
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	if !utf8.Valid(old) || bytes.ContainsRune(old, 0) {
		return false, fmt.Errorf("%s is no UTF-8 text: a person has to save it as one", name)
	}
	note := entry
	entry = before(old, name) + entry
	if len(old)+len(entry) > maxFile {
		return false, fmt.Errorf("%s is full: with the note it would have more than %d bytes. A person has to shorten it, or to move a part of it to another .md file beside it", name, maxFile)
	}
	s.reached("opened")
	if n, err := f.WriteString(entry); err != nil {
		return false, errors.Join(fmt.Errorf("%s: %w", name, err), takeBack(f, info.Size(), n))
	}
	if err := f.Sync(); err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	s.reached("written")
	now, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", name, err)
	case os.SameFile(info, now):
		return true, nil
	}
	// Who replaced it may have read the note before.
	text, _, err := plainfile.ReadIn(root, name, maxFile)
	return err == nil && bytes.Count(text, []byte(note)) > bytes.Count(old, []byte(note)), nil
}

func (s *Store) reached(point string) {
	if s.at != nil {
		s.at(point)
	}
}

// takeBack removes the part of a note that was written, unless somebody has written
// behind it.
func takeBack(f *os.File, size int64, n int) error {
	if info, err := f.Stat(); n == 0 || err != nil || info.Size() != size+int64(n) {
		return err
	}
	return f.Truncate(size)
}

// before is what has to stand between the end of a file and a note.
func before(old []byte, name string) string {
	switch {
	case len(old) == 0:
		title := strings.TrimSuffix(path.Base(name), ".md")
		if title == "MEMORY" {
			title = "Memory"
		}
		return "# " + title + "\n\n"
	case old[len(old)-1] != '\n':
		return "\n"
	}
	return ""
}
