// Package gitindex reads the index of a Git repository as far as it tells
// where submodules are, and whether its names lead out of the work tree. It
// knows versions 2 to 4, both kinds of hashes, and indexes that are split or
// sparse; gitformat-index(5) describes them.
//
// It imports nothing of ours, so that the guard of command lines and the
// shield of the sandbox can share it. Its invariant: an index that is not
// understood to its last byte is an error, never an index without submodules.
package gitindex

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// Index is what is known of an index.
type Index struct {
	Links []Link
	// Shared is the name of the file beside this one that has the rest of the
	// entries, if the index is split.
	Shared string
	// Unnamed counts the submodules of a split index whose names stand in the
	// shared part.
	Unnamed int
	// Sparse is set if there are entries that stand for whole directories. Git
	// never lets one stand for a submodule.
	Sparse bool
	// Trees is what the index remembers of the trees that its entries make, as it
	// stands in the file: git takes them for right when it commits.
	Trees []byte
	// Unread is what it says of files that git need not look at, or not for: what a program
	// that watches them said, and what directories hold that git does not have.
	Unread []byte
	// Improper is the first name that git would not have written: it leads out of
	// the work tree, or into the Git directory. Git does not ask again before it
	// writes to where a name leads.
	Improper string
}

// Link is a submodule.
type Link struct {
	Path string // from the top of the work tree, with slashes
	Skip bool   // it is not checked out, as a sparse checkout leaves it
}

// ErrOdd is an index that is not understood.
var ErrOdd = errors.New("is not understood")

const (
	header      = 12
	statSize    = 40 // of an entry, before its hash
	modeAt      = 24
	kindMask    = 0xf000
	kindLink    = 0xe000
	kindDir     = 0x4000
	kindFile    = 0o100644 // kinds with their rights
	kindSymlink = 0o120000
	extended    = 0x4000
	lengthMask  = 0x0fff
	skipFlag    = 0x4000 // of the further flags
	maxStrip    = 1 << 24
)

// The sizes of the hashes that git knows. Which one an index is made with
// stands in the settings of the repository; with the wrong one nothing fits.
const (
	SHA1   = 20
	SHA256 = 32
)

// Read reads an index with hashes of a size.
func Read(data []byte, hash int) (*Index, error) { return read(data, hash, nil) }

func read(data []byte, hash int, each func(name string, stat []byte)) (*Index, error) {
	if len(data) < header+hash || !bytes.HasPrefix(data, []byte("DIRC")) {
		return nil, ErrOdd
	}
	r := &reader{version: binary.BigEndian.Uint32(data[4:]), hash: hash, rest: data[header : len(data)-hash]}
	if r.version < 2 || r.version > 4 {
		return nil, ErrOdd
	}
	for range binary.BigEndian.Uint32(data[8:]) {
		stat, at := r.rest, len(data)-hash-len(r.rest)
		if !r.entry() {
			return nil, ErrOdd
		}
		if r.hangs {
			at = 0
		}
		r.starts = append(r.starts, uint32(at))
		if each != nil {
			each(string(r.name), stat)
		}
	}
	if !r.endsHere(data) || !r.extensions() {
		return nil, ErrOdd
	}
	// A split index may have entries without a name; nobody else may.
	if r.nameless && r.index.Shared == "" {
		return nil, ErrOdd
	}
	return &r.index, nil
}

// Names calls a function with the name of each file in an index that is not split.
func Names(data []byte, size int, each func(name string)) error {
	index, err := read(data, size, func(name string, _ []byte) { each(name) })
	if err == nil && index.Shared != "" {
		err = ErrOdd
	}
	return err
}

type reader struct {
	version  uint32
	hash     int
	rest     []byte
	name     []byte // of the last entry
	hangs    bool   // it begins as the one before
	nameless bool
	index    Index
	starts   []uint32 // where the entries begin; zero if a name hangs on the one before
}

func (r *reader) entry() bool {
	fixed := statSize + r.hash + 2
	if len(r.rest) < fixed+1 {
		return false
	}
	mode, flags := binary.BigEndian.Uint32(r.rest[modeAt:]), binary.BigEndian.Uint16(r.rest[fixed-2:])
	skip := false
	size := fixed
	if flags&extended != 0 {
		if r.version == 2 || len(r.rest) < fixed+3 {
			return false
		}
		skip = binary.BigEndian.Uint16(r.rest[fixed:])&skipFlag != 0
		size += 2
	}
	ok := false
	if length := int(flags & lengthMask); r.version == 4 {
		ok = r.compressed(size, length)
	} else {
		ok = r.plain(size, length)
	}
	if !ok {
		return false
	}
	switch {
	case len(r.name) == 0:
		if mode&kindMask == kindLink {
			r.index.Unnamed++
		}
	case mode&kindMask == kindLink && !proper(r.name):
		return false
	case mode&kindMask == kindLink:
		r.index.Links = append(r.index.Links, Link{Path: string(r.name), Skip: skip})
	case mode&kindMask == kindDir:
		r.index.Sparse = true
		r.judge(bytes.TrimSuffix(r.name, []byte("/")))
	default:
		r.judge(r.name)
	}
	r.nameless = r.nameless || len(r.name) == 0
	return true
}

// judge notes a name that git would not have written.
func (r *reader) judge(name []byte) {
	if r.index.Improper == "" && !proper(name) {
		r.index.Improper = string(name)
	}
}

// plain reads a name that is filled up with zeros to a multiple of eight. Its
// length as git takes it must be the one everybody sees.
func (r *reader) plain(size, length int) bool {
	if length == lengthMask { // that long or longer: up to the first zero
		n := bytes.IndexByte(r.rest[size:], 0)
		if n < lengthMask {
			return false
		}
		length = n
	}
	end := (size + length + 8) &^ 7 // one to eight zeros
	if end > len(r.rest) || bytes.IndexByte(r.rest[size:size+length], 0) >= 0 || len(bytes.Trim(r.rest[size+length:end], "\x00")) > 0 {
		return false
	}
	r.name, r.rest = append(r.name[:0], r.rest[size:size+length]...), r.rest[end:]
	return true
}

// compressed reads a name that begins like the one before: how many bytes of
// that to drop, and what comes instead.
func (r *reader) compressed(size, length int) bool {
	strip, i := 0, size
	for {
		if i >= len(r.rest) || strip > maxStrip {
			return false
		}
		b := r.rest[i]
		i++
		strip += int(b & 0x7f)
		if b&0x80 == 0 {
			break
		}
		strip = (strip + 1) << 7
	}
	n := bytes.IndexByte(r.rest[i:], 0)
	if n < 0 || strip > len(r.name) {
		return false
	}
	r.hangs = strip < len(r.name)
	r.name = append(r.name[:len(r.name)-strip], r.rest[i:i+n]...)
	r.rest = r.rest[i+n+1:]
	return length == min(len(r.name), lengthMask)
}

// extensions: what begins with a capital may be passed over. Of the others,
// which must be understood, two are: the rest of a split index, and the mark
// of a sparse one.
func (r *reader) extensions() bool {
	for len(r.rest) > 0 {
		if len(r.rest) < 8 {
			return false
		}
		name, size := string(r.rest[:4]), uint64(binary.BigEndian.Uint32(r.rest[4:]))
		if size > uint64(len(r.rest)-8) {
			return false
		}
		body := r.rest[8 : 8+size]
		r.rest = r.rest[8+size:]
		switch {
		case name == "link" && len(body) >= r.hash:
			if base := body[:r.hash]; len(bytes.Trim(base, "\x00")) > 0 { // of zeros: it has no rest
				r.index.Shared = "sharedindex." + hex.EncodeToString(base)
			}
		case name == "sdir":
			r.index.Sparse = true
		case name == "TREE" && r.index.Trees != nil: // git would go by the last one
			return false
		case name == "TREE":
			r.index.Trees = body
		case name == "UNTR", name == "FSMN":
			r.index.Unread = append(append(r.index.Unread, name...), body...)
		case name == "IEOT":
			if !r.sameBlocks(body) {
				return false
			}
		case name[0] < 'A' || name[0] > 'Z':
			return false
		}
	}
	return true
}
