package files

import (
	"errors"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/glob"
)

// ignorer knows which entries of a walk .gitignore files exclude. The nil
// ignorer excludes nothing.
type ignorer struct {
	top    *glob.Ignore // of the directories above the start
	prefix string       // the start as those see it, with a slash at its end, or ""
}

const (
	gitDir    = ".git"  // where walks do not go by themselves
	maxIgnore = 1 << 20 // bytes of a .gitignore file
)

// newIgnorer reads the rules that apply to a directory from above: of the
// repository it lies in, as far as that is granted.
func newIgnorer(files *files.Handle, start string) *ignorer {
	ig := &ignorer{}
	top := start
	for !exists(files, filepath.Join(top, gitDir)) {
		up := filepath.Dir(top)
		if up == top || !exists(files, up) {
			return ig // in no repository: only the rules below count
		}
		top = up
	}
	if text, _, err := files.ReadFile(filepath.Join(top, gitDir, "info", "exclude"), maxIgnore); err == nil {
		ig.top = glob.NewIgnore(nil, "", text)
	}
	rel := strings.Trim(filepath.ToSlash(start[len(top):]), "/")
	if rel == "" {
		return ig
	}
	ig.prefix = rel + "/"
	elems := strings.Split(rel, "/")
	for i := range elems { // the start itself is read by the walk
		dir := path.Join(elems[:i]...)
		if text, _, err := files.ReadFile(filepath.Join(top, filepath.FromSlash(dir), ".gitignore"), maxIgnore); err == nil {
			ig.top = glob.NewIgnore(ig.top, dir, text)
		}
	}
	return ig
}

func exists(files *files.Handle, path string) bool {
	_, err := files.Lstat(path)
	return err == nil
}

// apply drops what is ignored from a folder's entries. It gives the rules for
// the folders below: those of the folder above and its own.
func (ig *ignorer) apply(d *files.Folder, up *glob.Ignore, names *naming) *glob.Ignore {
	if ig == nil {
		return nil
	}
	if d.Parent == nil {
		up = ig.top
	}
	dir := d.Path
	if names != nil && names.dir != "" {
		dir = names.dir
	}
	rules := ig.read(d, up, dir)
	if rules == nil {
		return nil
	}
	d.Entries = slices.DeleteFunc(d.Entries, func(e files.Entry) bool { return rules.Match(ig.prefix+names.rel(d, e.Name), e.Type.IsDir()) })
	return rules
}

func (ig *ignorer) read(d *files.Folder, up *glob.Ignore, dir string) *glob.Ignore {
	if !slices.ContainsFunc(d.Entries, func(e files.Entry) bool { return e.Name == ".gitignore" && e.Type.IsRegular() }) {
		return up
	}
	s, err := d.Open(".gitignore")
	if err != nil {
		return up
	}
	text, err := io.ReadAll(io.LimitReader(s, maxIgnore))
	if err := errors.Join(err, s.Close()); err != nil {
		return up
	}
	return glob.NewIgnore(up, path.Join(ig.prefix, dir), text)
}

// enter leaves only those directories to be walked that are wanted.
func enter(d *files.Folder, names *naming, want func(rel string) bool) {
	d.Entries = slices.DeleteFunc(d.Entries, func(e files.Entry) bool {
		return !e.Type.IsDir() || e.Name == gitDir || !want(names.rel(d, e.Name))
	})
}

// relative is the path of an entry from the start of the walk.
func relative(d *files.Folder, name string) string {
	if d.Path == "." {
		return name
	}
	return d.Path + "/" + name
}

func everyFolder(string) bool { return true }
func noFolder(string) bool    { return false }
