package bundles

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/text"
)

// entry is a file of an archive.
type entry struct {
	name    string
	mode    fs.FileMode
	size    int64
	open    func() (io.ReadCloser, error)
	strange string // what it is, if it is neither a file nor a folder
}

// addArchive takes the files of an archive: those below a folder of it, or all. It gives
// the name of the one folder that all of them lie in, which is left away. Each entry is
// looked at before the first is written.
func (w *writer) addArchive(from *os.File, form, below string) (folder string, err error) {
	info, err := from.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > maxArchive {
		return "", fmt.Errorf("the archive is larger than %d MiB", maxArchive>>20)
	}
	w.most = min(maxBytes, freeBytes+maxRatio*info.Size())
	walk := func(each func(entry) error) error { return walkTar(from, form == "tgz", w.most, each) }
	if form == "zip" {
		walk = func(each func(entry) error) error { return walkZip(from, info.Size(), each) }
	}
	var names []string
	if err := walk(func(e entry) error {
		name, err := e.check()
		if err != nil {
			return err
		}
		if !e.mode.IsDir() {
			names = append(names, name)
		}
		if len(names) > maxFiles {
			return fmt.Errorf("it has more than %d files", maxFiles)
		}
		return nil
	}); err != nil {
		return "", err
	}
	folder = oneFolder(names)
	prefix := folder
	if below != "" {
		if prefix != "" {
			prefix += "/"
		}
		prefix += below
	}
	if prefix != "" {
		prefix += "/"
	}
	err = walk(func(e entry) error {
		name, err := e.check()
		if err != nil || e.mode.IsDir() {
			return err
		}
		name, in := strings.CutPrefix(name, prefix)
		if !in {
			return nil
		}
		r, err := e.open()
		if err != nil {
			return err
		}
		return errors.Join(w.add(name, e.mode&0o100 != 0, e.size, r), r.Close())
	})
	return folder, err
}

// check refuses what an archive of a package does not have.
func (e entry) check() (string, error) {
	if e.strange != "" {
		return "", fmt.Errorf("%s is %s, and only files and folders are taken", text.ShowLine(text.ClipRunes(e.name, 80)), e.strange)
	}
	name := e.name
	if e.mode.IsDir() {
		if name = strings.TrimSuffix(name, "/"); name == "." {
			return name, nil
		}
	}
	return bundle.CheckPath(name)
}

// oneFolder is the folder that all files lie in, if it says nothing by its name.
func oneFolder(names []string) string {
	folder := ""
	for i, name := range names {
		first, _, deeper := strings.Cut(name, "/")
		if !deeper || i > 0 && first != folder {
			return ""
		}
		folder = first
	}
	if strings.HasPrefix(folder, ".") || folder == "skills" {
		return ""
	}
	return folder
}

func walkZip(from *os.File, size int64, each func(entry) error) error {
	archive, err := zip.NewReader(from, size)
	if err != nil {
		return fmt.Errorf("the archive cannot be read: %w", err)
	}
	if len(archive.File) > 20*maxFiles {
		return fmt.Errorf("it has more than %d entries", 20*maxFiles)
	}
	for _, f := range archive.File {
		e := entry{name: f.Name, mode: f.Mode(), size: int64(min(f.UncompressedSize64, maxBytes+1)), open: f.Open}
		switch {
		case f.Flags&1 != 0:
			e.strange = "encrypted"
		case e.mode.IsDir() != strings.HasSuffix(f.Name, "/"):
			e.strange = "a folder by one word and a file by another"
		case !e.mode.IsDir():
			e.strange = strange(e.mode)
		}
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

func walkTar(from *os.File, packed bool, most int64, each func(entry) error) error {
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var in io.Reader = bufio.NewReader(from)
	if packed {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("the archive cannot be read: %w", err)
		}
		in = unpacked
	}
	// Heads, padding and what is left out count as well: somebody has to read them.
	bounded := &io.LimitedReader{R: in, N: most + maxFiles<<11}
	archive := tar.NewReader(bounded)
	for n := 0; ; n++ {
		head, err := archive.Next()
		switch {
		case bounded.N <= 0:
			return fmt.Errorf("its files are more than %d times as large as the archive, as those of a bomb are", maxRatio)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the archive cannot be read: %w", err)
		case n > 20*maxFiles:
			return fmt.Errorf("it has more than %d entries", 20*maxFiles)
		}
		e := entry{name: head.Name, mode: fs.FileMode(head.Mode).Perm(), size: head.Size, open: func() (io.ReadCloser, error) { return io.NopCloser(archive), nil }}
		switch head.Typeflag {
		case tar.TypeReg:
		case tar.TypeDir:
			e.mode |= fs.ModeDir
		case tar.TypeXGlobalHeader: // what git says of a whole archive
			continue
		case tar.TypeSymlink, tar.TypeLink:
			e.strange = "a link"
		default:
			e.strange = "no file"
		}
		if err := each(e); err != nil {
			return err
		}
	}
}

func strange(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode&fs.ModeSymlink != 0:
		return "a link"
	}
	return "no file"
}
