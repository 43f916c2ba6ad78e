package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// MaxProgram is how large a program may be once it is unpacked.
const MaxProgram = 512 << 20

// maxEntries is more files than an archive of ours has.
const maxEntries = 4096

// Unpack finds the program in an archive of this name and hands it to write. It
// writes nothing else, and an archive with an entry that ours would not have is
// refused: a link, a name that leads out, the program twice, too much of it.
// Size is that of the archive.
func Unpack(archive io.ReaderAt, size int64, name string, write func(io.Reader) error) error {
	dir, isZip := strings.CutSuffix(name, ".zip")
	if !isZip {
		dir = strings.TrimSuffix(name, ".tar.gz")
	}
	u := unpacking{write: write}
	if isZip {
		u.want = dir + "/" + BinaryName("windows")
		return u.done(u.zip(archive, size))
	}
	u.want = dir + "/" + BinaryName("")
	return u.done(u.tar(io.NewSectionReader(archive, 0, size)))
}

// unpacking is one run through an archive.
type unpacking struct {
	want    string // the path of the program in it
	write   func(io.Reader) error
	entries int
	found   bool
}

func (u *unpacking) done(err error) error {
	if err == nil && !u.found {
		err = fmt.Errorf("there is no %s in it", u.want)
	}
	if err != nil {
		return fmt.Errorf("unpacking the archive: %w", err)
	}
	return nil
}

func (u *unpacking) tar(r io.Reader) error {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	// Everything that is unpacked counts, not only the program.
	content := io.LimitReader(gz, MaxProgram+64<<20)
	files := tar.NewReader(content)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, content) // up to the checksum behind it
			return err
		}
		if err != nil {
			return err
		}
		if err := u.entry(h.Name, h.FileInfo().Mode(), h.Typeflag == tar.TypeReg || h.Typeflag == tar.TypeDir, h.Size, func() (io.ReadCloser, error) { return io.NopCloser(files), nil }); err != nil {
			return err
		}
	}
}

func (u *unpacking) zip(r io.ReaderAt, size int64) error {
	files, err := zip.NewReader(r, size)
	if err != nil {
		return err
	}
	for _, f := range files.File {
		if f.UncompressedSize64 > MaxProgram {
			return fmt.Errorf("%.80q is larger than a program of ours", f.Name)
		}
		if err := u.entry(f.Name, f.Mode(), true, int64(f.UncompressedSize64), f.Open); err != nil { // bounded above
			return err
		}
	}
	return nil
}

// entry looks at one entry, and takes it out if it is the program.
func (u *unpacking) entry(name string, mode fs.FileMode, plain bool, size int64, open func() (io.ReadCloser, error)) (err error) {
	u.entries++
	clean := strings.TrimSuffix(name, "/")
	switch {
	case u.entries > maxEntries:
		return errors.New("it has too many files")
	case !plain || mode&(fs.ModeType&^fs.ModeDir) != 0:
		return fmt.Errorf("%.80q is neither a file nor a directory", name)
	case clean == "" || path.Clean(clean) != clean || path.IsAbs(clean) || strings.HasPrefix(clean, "../") || clean == ".." || strings.ContainsAny(clean, "\\:\x00"):
		return fmt.Errorf("%.80q leads out of the archive", name)
	case size < 0 || size > MaxProgram:
		return fmt.Errorf("%.80q is larger than a program of ours", name)
	case name != u.want:
		return nil
	case u.found:
		return fmt.Errorf("%.80q is in it twice", name)
	case mode.IsDir():
		return fmt.Errorf("%.80q is a directory", name)
	}
	u.found = true
	content, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	return u.write(io.LimitReader(content, MaxProgram))
}
