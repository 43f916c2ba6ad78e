package encode

import (
	"bytes"
	"errors"
	"io"
)

// File is a file that is sent: how long it is, and how it is read.
type File struct {
	Size int64
	Open func() (io.ReadCloser, error)
}

// OpenFile finds a file that an argument names.
type OpenFile func(name string) (File, error)

// Stream is a body with files in it, which are read while it is sent.
type Stream struct {
	pieces []piece
	Size   int64
}

// piece is a text, or a file.
type piece struct {
	text []byte
	file *File
}

func (s *Stream) text(t []byte) {
	s.pieces = append(s.pieces, piece{text: t})
	s.Size += int64(len(t))
}

func (s *Stream) add(f File) {
	s.pieces = append(s.pieces, piece{file: &f})
	s.Size += f.Size
}

// Open reads the body from its beginning.
func (s *Stream) Open() io.ReadCloser { return &reading{rest: s.pieces} }

var errShorter = errors.New("a file became shorter while it was sent")

// reading reads the pieces one after the other. No more than one file is open.
type reading struct {
	rest []piece
	open io.ReadCloser
	left int64 // of the piece that is open
}

func (r *reading) Read(p []byte) (int, error) {
	for {
		switch {
		case r.open == nil && len(r.rest) == 0:
			return 0, io.EOF
		case r.open == nil:
			if err := r.next(); err != nil {
				return 0, err
			}
			continue
		case r.left == 0:
			if err := r.Close(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := r.open.Read(p[:min(int64(len(p)), r.left)])
		r.left -= int64(n)
		if errors.Is(err, io.EOF) {
			err = nil
			if r.left > 0 {
				err = errShorter
			}
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

func (r *reading) next() (err error) {
	now := r.rest[0]
	r.rest = r.rest[1:]
	if now.file == nil {
		r.open, r.left = io.NopCloser(bytes.NewReader(now.text)), int64(len(now.text))
		return nil
	}
	r.left = now.file.Size
	r.open, err = now.file.Open()
	return err
}

// Close closes the file that is open.
func (r *reading) Close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	r.open = nil
	return err
}

// sniff reads how a file begins, to tell what it is.
func (f File) sniff() (head []byte, err error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	head, err = io.ReadAll(io.LimitReader(in, 512))
	return head, errors.Join(err, in.Close())
}
