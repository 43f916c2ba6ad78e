package gitindex

import (
	"bytes"
	"strings"
)

// Proper tells whether a path is one that git would ever write in a work tree:
// it stays there, and no part of it is the Git directory under any of the names
// that file systems know it by.
func Proper(path string) bool { return proper([]byte(path)) }

func proper(path []byte) bool {
	for more := true; more; {
		var part []byte
		if part, path, more = bytes.Cut(path, []byte("/")); reserved(part) {
			return false
		}
	}
	return true
}

// reserved: nothing in a work tree has this name.
func reserved(part []byte) bool {
	switch {
	case len(part) == 0, string(part) == ".", string(part) == "..", bytes.IndexByte(part, 0) >= 0:
		return true
	case len(part) < len(".git"):
		return false
	}
	if c := part[0]; c != '.' && c != 'g' && c != 'G' && c < 0x80 && bytes.IndexByte(part, '\\') < 0 {
		return false
	}
	name := string(part)
	if strings.EqualFold(strings.Map(visible, name), ".git") { // on a Mac
		return true
	}
	name, _, _ = strings.Cut(name, ":")
	for piece := range strings.SplitSeq(name, "\\") { // on Windows
		if piece = strings.TrimRight(piece, ". "); strings.EqualFold(piece, ".git") || strings.EqualFold(piece, "git~1") {
			return true
		}
	}
	return false
}

// visible drops the characters that a Mac does not see in names.
func visible(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
