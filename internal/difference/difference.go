// Package difference shows how two texts differ, for people to read: the tools that
// change files say it in one way.
//
// Its one invariant: what it leaves out, it says so in a line that is no part of a
// difference.
package difference

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"znkr.io/diff/textdiff"
)

const (
	maxDiffIn  = 4 << 20  // bytes of both texts together
	maxDiffOut = 64 << 10 // bytes of a difference in an answer
)

// Header is the first lines of a difference. A name that could be taken for
// other lines is quoted.
func Header(path string) string {
	path = Path(path)
	return "--- " + path + "\n+++ " + path + "\n"
}

// Path quotes a path that could be taken for other lines, or is no text.
func Path(path string) string {
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || r == '"' }) {
		return strconv.Quote(path)
	}
	return path
}

// Unified is the difference of two texts as a patch for people to read. It is
// cut or left out, with a word on it, where it would be too large.
func Unified(path string, before, after []byte) string {
	if bytes.Equal(before, after) {
		return ""
	}
	head := Header(path)
	switch {
	case len(before)+len(after) > maxDiffIn:
		return head + "(the difference is not shown: the file is too large)\n"
	case bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0:
		return head + "(the difference is not shown: the file is binary)\n"
	}
	body := string(textdiff.Unified(before, after))
	if len(body) > maxDiffOut {
		body = body[:strings.LastIndexByte(body[:maxDiffOut], '\n')+1] + "(the rest of the difference is not shown)\n"
	}
	return head + strings.ToValidUTF8(body, "\ufffd")
}
