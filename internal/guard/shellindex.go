package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
)

// git looks into submodules when it compares the index with the work tree, by
// starting itself there, under settings that stand in the submodule. An index
// that may hold one makes the guard ask. The format is git's own, see
// gitformat-index(5).

// checkIndex says why an index is not known to be without submodules.
func (s *Shell) checkIndex(file string) error {
	data, err := s.plainFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s cannot be read", show(file))
	}
	if why := submodules(data); why != "" {
		return fmt.Errorf("%s %s", show(file), why)
	}
	return nil
}

const (
	indexHeader = 12
	indexHash   = 20 // of SHA-1; with another the entries do not fit, and that is noticed
	indexFixed  = 40 + indexHash + 2
	modeOffset  = 24
	kindMask    = 0xf000
	gitlink     = 0xe000
	sparseDir   = 0x4000
	extended    = 0x4000
	lengthMask  = 0x0fff
)

// submodules says what about an index is not plain; empty if it only has
// files and links.
func submodules(data []byte) string {
	const odd = "is not understood"
	if len(data) < indexHeader+indexHash || !bytes.HasPrefix(data, []byte("DIRC")) {
		return odd
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version != 2 && version != 3 {
		return odd
	}
	rest := data[indexHeader : len(data)-indexHash]
	for range count {
		if len(rest) < indexFixed+1 {
			return odd
		}
		switch binary.BigEndian.Uint32(rest[modeOffset:]) & kindMask {
		case gitlink:
			return "has a submodule, whose own settings may make git start a program"
		case sparseDir:
			return odd
		}
		size := indexFixed
		flags := binary.BigEndian.Uint16(rest[indexFixed-2:])
		if flags&extended != 0 {
			if version == 2 {
				return odd
			}
			size += 2
		}
		length := int(flags & lengthMask)
		end := (size + length + 8) &^ 7 // one to eight bytes of padding
		if length == 0 || length == lengthMask || end > len(rest) {
			return odd
		}
		// The length of the name as git takes it must be the one everybody sees.
		if bytes.IndexByte(rest[size:size+length], 0) >= 0 || len(bytes.Trim(rest[size+length:end], "\x00")) > 0 {
			return odd
		}
		rest = rest[end:]
	}
	for len(rest) > 0 { // extensions
		if len(rest) < 8 {
			return odd
		}
		size := int64(binary.BigEndian.Uint32(rest[4:]))
		if name := string(rest[:4]); name[0] < 'A' || name[0] > 'Z' || size > int64(len(rest)-8) {
			return odd // lower case: it must be understood, such as link, the rest of a split index
		}
		rest = rest[8+size:]
	}
	return ""
}
