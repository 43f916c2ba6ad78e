package gitobject

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the hash that git goes by
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// VerifyPack checks a pack that somebody has made: that its name is that of its
// objects, that both hashes at the end are right, and that the index gives for each
// name an object with that hash. Otherwise git would find another content under a
// name that it knows.
func (s *Store) VerifyPack(stem string) (objects int, err error) {
	named := func(err error) error { return fmt.Errorf("the Git pack %s %w", stem, err) }
	sum, ok := strings.CutPrefix(stem, "pack-")
	if _, isID := ParseID(sum); !ok || !isID {
		return 0, named(ErrOdd)
	}
	p, err := openPack(s.dir, stem, s.budget, &s.held)
	if err != nil {
		return 0, named(err)
	}
	defer p.close() //nolint:errcheck // it was only read
	whole, err := s.trailer(p.file)
	if err != nil {
		return 0, named(err)
	}
	if _, err := s.trailer(p.index.file); err != nil {
		return 0, named(err)
	}
	var said ID
	if n, _ := p.index.file.ReadAt(said[:], p.index.file.Size()-2*idSize); n < len(said) || said != whole {
		return 0, named(ErrForged)
	}
	return int(p.index.count), p.verifyObjects(named)
}

// verifyObjects hashes all objects, in the order in which they lie: what others are
// differences from was read shortly before.
func (p *pack) verifyObjects(named func(error) error) error {
	type placed struct {
		at int64
		id ID
	}
	if p.index.count > maxVerified {
		return named(ErrTooMuch)
	}
	list := make([]placed, 0, p.index.count)
	var last ID
	for i := range p.index.count {
		id, err := p.index.name(i)
		if err != nil {
			return named(err)
		}
		at, err := p.index.offset(i)
		if err != nil {
			return named(err)
		}
		// Git looks names up by halves: one that is not in its place is found by some
		// looks and not by others.
		if i > 0 && bytes.Compare(last[:], id[:]) >= 0 || !p.index.inFan(i, id) {
			return named(ErrOdd)
		}
		last = id
		list = append(list, placed{at, id})
	}
	slices.SortFunc(list, func(a, b placed) int { return int(min(max(a.at-b.at, -1), 1)) })
	for _, o := range list {
		object, err := p.object(o.at, maxObject)
		if err != nil {
			return named(err)
		}
		if Hash(object) != o.id {
			return named(ErrForged)
		}
	}
	return nil
}

// maxVerified bounds the objects of a pack that is checked.
const maxVerified = 1 << 20

// inFan tells whether a name is counted under its first byte.
func (x *packIndex) inFan(i uint32, id ID) bool {
	return i < x.fan[id[0]] && (id[0] == 0 || i >= x.fan[id[0]-1])
}

// trailer checks the hash at the end of a file.
func (s *Store) trailer(f File) (sum ID, err error) {
	end := f.Size() - idSize
	if end < 0 {
		return sum, ErrOdd
	}
	if err := s.budget.spend(end); err != nil {
		return sum, err
	}
	h := sha1.New() //nolint:gosec // git's own
	if n, err := io.Copy(h, io.NewSectionReader(f, 0, end)); err != nil || n != end {
		return sum, errors.Join(ErrOdd, err)
	}
	if n, _ := f.ReadAt(sum[:], end); n < len(sum) {
		return sum, ErrOdd
	}
	if !bytes.Equal(h.Sum(nil), sum[:]) {
		return sum, fmt.Errorf("has a wrong checksum (%s): %w", hex.EncodeToString(sum[:4]), ErrForged)
	}
	return sum, nil
}
