package market

import (
	"bytes"
	"io/fs"
	"time"
)

// oneFile is a file system with one file.
type oneFile struct {
	name string
	data []byte
}

func (f oneFile) Open(name string) (fs.File, error) {
	if name != f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &openFile{f, bytes.NewReader(f.data)}, nil
}

func (f oneFile) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(&openFile{f, nil})}, nil
}

type openFile struct {
	file oneFile
	*bytes.Reader
}

func (o *openFile) Stat() (fs.FileInfo, error) { return o, nil }
func (*openFile) Close() error                 { return nil }
func (o *openFile) Name() string               { return o.file.name }
func (o *openFile) Size() int64                { return int64(len(o.file.data)) }
func (*openFile) Mode() fs.FileMode            { return 0o444 }
func (*openFile) ModTime() (t time.Time)       { return t }
func (*openFile) IsDir() bool                  { return false }
func (*openFile) Sys() any                     { return nil }
