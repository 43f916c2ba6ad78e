package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"time"
)

// owner is whose a file in a tar is; zero is root's.
type owner struct{ id int }

// tarred packs files, sorted, with the directories that they lie in, all of one
// time and one owner: nothing of this machine gets into it.
func tarred(files []file, at time.Time, whose func(name string) owner) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range withDirs(files) {
		h := &tar.Header{Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)), ModTime: at}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if f.name == "tmp/" {
			h.Mode = 0o1777
		}
		if whose != nil {
			id := whose(f.name).id
			h.Uid, h.Gid = id, id
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func targz(files []file, at time.Time) ([]byte, error) {
	content, err := tarred(files, at, nil)
	if err != nil {
		return nil, err
	}
	return gzipped(content), nil
}

// gzipped compresses without a name or a time.
func gzipped(content []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is a good one
	_, _ = w.Write(content)                                 // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

func zipped(files []file, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestCompression) })
	for _, f := range sorted(files) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// withDirs adds the directories that files lie in, each before what is in it.
func withDirs(files []file) []file {
	all, there := slices.Clone(files), map[string]bool{}
	for _, f := range files {
		there[f.name] = true
	}
	for _, f := range files {
		for i, c := range strings.TrimSuffix(f.name, "/") {
			if dir := f.name[:i+1]; c == '/' && !there[dir] {
				there[dir] = true
				all = append(all, file{dir, 0o755, nil})
			}
		}
	}
	return sorted(all)
}

func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}
