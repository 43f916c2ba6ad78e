package bundles

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// The bounds of a package.
const (
	maxFiles   = 5000
	maxFile    = 64 << 20
	maxBytes   = 256 << 20
	maxDepth   = 32
	maxArchive = 128 << 20
	// maxRatio is how much more than an archive its files may be, and freeBytes what they
	// may be in any case.
	maxRatio  = 100
	freeBytes = 4 << 20
)

// file is a file of a package: what it holds, and whether it can be started.
type file struct {
	SHA256  string `json:"sha256"`
	Program bool   `json:"program,omitempty"`
}

// listing is all files of a package by their paths. What it is written as names the tree.
type listing map[string]file

func (l listing) text() []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(l)) {
		// A path has neither control characters nor a quote, so a line is one file.
		line, err := json.Marshal(struct {
			Path string `json:"path"`
			file
		}{name, l[name]})
		if err != nil {
			panic(err) // three plain fields
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

func (l listing) sum() string {
	sum := sha256.Sum256(l.text())
	return hex.EncodeToString(sum[:])
}

func parseListing(data []byte) (listing, error) {
	l := listing{}
	for line := range bytes.Lines(data) {
		var one struct {
			Path string `json:"path"`
			file
		}
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, err
		}
		l[one.Path] = one.file
	}
	return l, nil
}

// writer takes the files of a package, from wherever they come, and writes them below one
// directory. There is no other way in.
type writer struct {
	root  *os.Root
	files listing
	// seen is every file and folder as a system sees it that knows no letter case, with
	// how it was written, and a slash behind a folder.
	seen  map[string]string
	bytes int64
	most  int64 // bytes of all files
	// notes is what was left out.
	notes []bundle.Note
}

func newWriter(dir string) (*writer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &writer{root: root, files: listing{}, seen: map[string]string{}, most: maxBytes}, nil
}

func (w *writer) close() error { return w.root.Close() }

// fold is a name as a system sees it that knows no letter case.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// check says whether a name can be that of a file here, and notes it.
func (w *writer) check(name string) (string, error) {
	clean, err := bundle.CheckPath(name)
	if err != nil {
		return "", err
	}
	parts := strings.Split(clean, "/")
	if len(parts) > maxDepth {
		return "", fmt.Errorf("the path %q is deeper than %d folders", text.ShowLine(text.ClipRunes(name, 80)), maxDepth)
	}
	if clean == "." {
		return "", errors.New("a file has the name of a folder")
	}
	if i := slices.IndexFunc(parts, func(p string) bool { return text.FoldFile(p) == ".git" }); i >= 0 {
		// Whoever runs git below it would run what its settings and hooks say.
		return "", fmt.Errorf("%s lies in a repository of its own, which no package has", text.ShowLine(text.ClipRunes(name, 80)))
	}
	for i := range parts {
		at := strings.Join(parts[:i+1], "/")
		as := at
		if i < len(parts)-1 {
			as += "/"
		}
		switch was, there := w.seen[fold(at)]; {
		case !there:
			w.seen[fold(at)] = as
		case was == as && i == len(parts)-1:
			return "", fmt.Errorf("%s is there twice", text.ShowLine(at))
		case was != as && strings.TrimSuffix(was, "/") == at:
			return "", fmt.Errorf("%s is a file and a folder", text.ShowLine(at))
		case was != as:
			return "", fmt.Errorf("%s and %s are one name on some systems", text.ShowLine(strings.TrimSuffix(was, "/")), text.ShowLine(at))
		}
	}
	return clean, nil
}

// add writes a file. Size is what was said of it, negative: nothing was.
func (w *writer) add(name string, program bool, size int64, from io.Reader) (err error) {
	clean, err := w.check(name)
	if err != nil {
		return err
	}
	shown := text.ShowLine(text.ClipRunes(clean, 80))
	switch {
	case len(w.files) == maxFiles:
		return fmt.Errorf("it has more than %d files", maxFiles)
	case size > maxFile:
		return fmt.Errorf("%s is larger than %d MiB", shown, maxFile>>20)
	}
	if dir := path.Dir(clean); dir != "." {
		if err := w.root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o444)
	if program {
		mode = 0o555
	}
	f, err := w.root.OpenFile(filepath.FromSlash(clean), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o200)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	left := min(maxFile, w.most-w.bytes)
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(from, left+1))
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	switch w.bytes += n; {
	case n > maxFile:
		return fmt.Errorf("%s is larger than %d MiB", shown, maxFile>>20)
	case w.bytes > w.most && w.most < maxBytes:
		return fmt.Errorf("its files are more than %d times as large as the archive, as those of a bomb are", maxRatio)
	case w.bytes > w.most:
		return fmt.Errorf("its files are larger than %d MiB together", maxBytes>>20)
	case size >= 0 && n != size:
		return fmt.Errorf("%s has %d bytes, and %d were announced", shown, n, size)
	}
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	w.files[clean] = file{SHA256: hex.EncodeToString(sum.Sum(nil)), Program: program}
	return nil
}

func (w *writer) note(at, form string, args ...any) {
	if len(w.notes) < 100 {
		w.notes = append(w.notes, bundle.Note{Path: text.ShowLine(at), Text: fmt.Sprintf(form, args...)})
	}
}

// addDir takes the files of a directory of this machine. Links are left out, and told, and
// so is what a repository keeps for itself.
func (w *writer) addDir(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	seen := 0
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > 20*maxFiles {
			return fmt.Errorf("it has more than %d files and folders", 20*maxFiles)
		}
		switch {
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Name() == ".git": // of a worktree: it says where the repository is
			return nil
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			w.note(name, "it is a link, or no file at all, and left out")
			return nil
		}
		f, info, err := plainfile.OpenIn(root, filepath.FromSlash(name), os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		err = w.add(name, info.Mode()&0o100 != 0, info.Size(), f)
		return errors.Join(err, f.Close())
	})
}

// changed tells which files below a directory are others than a list says: changed, gone
// or new.
func (l listing) changed(dir string) (list []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	left := maps.Clone(l)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if len(list) >= 100 {
			return fs.SkipAll
		}
		if d.IsDir() {
			return nil
		}
		want, known := left[name]
		delete(left, name)
		switch {
		case !known:
			list = append(list, name+" is new")
			return nil
		case !d.Type().IsRegular():
			list = append(list, name+" is a link, or no file at all")
			return nil
		}
		got, err := l.look(root, name)
		switch {
		case err != nil:
			list = append(list, name+" cannot be read")
		case got.SHA256 != want.SHA256:
			list = append(list, name+" was changed")
		case got.Program != want.Program && marksPrograms:
			list = append(list, name+" was made a program, or no program")
		}
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if len(list) < 100 {
			list = append(list, name+" is gone")
		}
	}
	return list, err
}

// below is the list of a folder of a package.
func (l listing) below(dir string) listing {
	if dir == "." {
		return l
	}
	inside := listing{}
	for name, f := range l {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			inside[rest] = f
		}
	}
	return inside
}

// consent is what the person said yes to with the skill in a folder: these files as they are.
func (l listing) consent(at string) skill.Consent {
	sums := map[string]string{}
	for name, f := range l {
		sums[name] = f.SHA256
	}
	return skill.Consent{Sums: sums, Unchanged: func(dir string) error {
		changed, err := l.below(dir).changed(filepath.Join(at, filepath.FromSlash(dir)))
		if err == nil && len(changed) > 0 {
			err = errors.New(changed[0])
		}
		return err
	}}
}

func (l listing) look(root *os.Root, name string) (file, error) {
	f, info, err := plainfile.OpenIn(root, filepath.FromSlash(name), os.O_RDONLY, 0)
	if err != nil {
		return file{}, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, io.LimitReader(f, maxFile+1))
	return file{hex.EncodeToString(sum.Sum(nil)), info.Mode()&0o100 != 0}, errors.Join(err, f.Close())
}
