package gitobject

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // the hash that git goes by
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// LooseName is the file of a loose object in a Git directory.
func LooseName(id ID) string {
	text := id.String()
	return "objects/" + text[:2] + "/" + text[2:]
}

// ParseLooseName gives the object whose loose file has a name in a Git directory.
func ParseLooseName(name string) (ID, bool) {
	rest, ok := strings.CutPrefix(name, "objects/")
	first, last, cut := strings.Cut(rest, "/")
	if !ok || !cut || len(first) != 2 {
		return ID{}, false
	}
	return ParseID(first + last)
}

// loose is an open loose object.
type loose struct {
	file   File
	raw    *bufio.Reader
	unpack io.ReadCloser
	kind   Kind
	size   int64
	head   []byte // the header as it is hashed
}

// maxHead bounds the header of a loose object: a word, a number and a zero.
const maxHead = 32

func (s *Store) openLoose(id ID) (*loose, error) {
	f, err := s.dir.Open(LooseName(id))
	if err != nil {
		return nil, err
	}
	l := &loose{file: f, raw: bufio.NewReader(io.NewSectionReader(f, 0, f.Size()))}
	if l.unpack, err = zlib.NewReader(l.raw); err != nil {
		return nil, errors.Join(ErrOdd, f.Close())
	}
	if err := l.readHead(); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *loose) readHead() error {
	var one [1]byte
	for len(l.head) < maxHead {
		if _, err := io.ReadFull(l.unpack, one[:]); err != nil {
			return ErrOdd
		}
		l.head = append(l.head, one[0])
		if one[0] != 0 {
			continue
		}
		word, number, ok := bytes.Cut(l.head[:len(l.head)-1], []byte(" "))
		size, err := strconv.ParseInt(string(number), 10, 64)
		if l.kind = parseKind(string(word)); !ok || l.kind == 0 || err != nil || size < 0 || strconv.FormatInt(size, 10) != string(number) {
			return ErrOdd
		}
		l.size = size
		return nil
	}
	return ErrOdd
}

// ended tells whether the content and the file end where the header says.
func (l *loose) ended() bool {
	var one [1]byte
	n, err := l.unpack.Read(one[:])
	if n != 0 || !errors.Is(err, io.EOF) {
		return false
	}
	_, err = l.raw.ReadByte()
	return errors.Is(err, io.EOF)
}

func (l *loose) close() error { return errors.Join(l.unpack.Close(), l.file.Close()) }

func (s *Store) readLoose(id ID, most int64) (Object, error) {
	l, err := s.openLoose(id)
	if err != nil {
		return Object{}, err
	}
	defer l.close() //nolint:errcheck // it was only read
	if l.size > most {
		return Object{}, ErrTooMuch
	}
	if err := s.budget.spend(l.size); err != nil {
		return Object{}, err
	}
	o := Object{Kind: l.kind}
	if o.Data, err = readExactly(l.unpack, l.size); err != nil || !l.ended() {
		return Object{}, ErrOdd
	}
	if Hash(o) != id {
		return Object{}, ErrForged
	}
	return o, nil
}

// readExactly reads so many bytes, and takes no memory for what is not there.
func readExactly(r io.Reader, size int64) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(int(min(size, 1<<20)))
	if n, err := io.Copy(&out, io.LimitReader(r, size)); err != nil || n != size {
		return nil, ErrOdd
	}
	return out.Bytes(), nil
}

// VerifyLoose checks that the loose file of an object has the content that its name
// stands for. It may be larger than what is held in memory.
func (s *Store) VerifyLoose(id ID) (Kind, error) {
	l, err := s.openLoose(id)
	if err != nil {
		return 0, s.named(id, err)
	}
	defer l.close() //nolint:errcheck // it was only read
	if err := s.budget.spend(l.size); err != nil {
		return 0, s.named(id, err)
	}
	h := sha1.New() //nolint:gosec // git's own
	_, _ = h.Write(l.head)
	if n, err := io.Copy(h, io.LimitReader(l.unpack, l.size)); err != nil || n != l.size || !l.ended() {
		return 0, s.named(id, fmt.Errorf("%w: %w", ErrForged, ErrOdd))
	}
	if ID(h.Sum(nil)) != id {
		return 0, s.named(id, ErrForged)
	}
	return l.kind, nil
}

// Head gives the beginning of a blob. Of one that is too large to be held in memory the
// hash is not compared: that was done by who checked what is new.
func (s *Store) Head(id ID, most int64) ([]byte, error) {
	data, err := s.ReadKind(id, Blob, maxObject)
	if !errors.Is(err, ErrTooMuch) {
		return data[:min(int64(len(data)), most)], err
	}
	l, err := s.openLoose(id)
	if err != nil {
		return nil, s.named(id, err)
	}
	defer l.close() //nolint:errcheck // it was only read
	if err := s.budget.spend(min(l.size, most)); err != nil || l.kind != Blob {
		return nil, s.named(id, errors.Join(ErrTooMuch, err))
	}
	data, err = readExactly(l.unpack, min(l.size, most))
	return data, s.named(id, err)
}
