package service

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// markBegin begins the line that says who wrote a file; after it comes the hash of
// all other lines.
const markBegin = "Written by 'toolcrib service install'; 'toolcrib service remove' takes it away while this fits the rest: sha256 "

// marked puts the mark between the two parts of a text, as a comment.
func marked(head, open, body, end string) string {
	return head + open + markBegin + hash(head+body) + end + "\n" + body
}

// isMarked reports whether a text is as it was installed.
func isMarked(text string) bool {
	begin, rest, found := strings.Cut(text, markBegin)
	if !found {
		return false
	}
	line := strings.LastIndexByte(begin, '\n') + 1
	sum, body, found := strings.Cut(rest, "\n")
	return found && len(sum) >= 64 && sum[:64] == hash(begin[:line]+body)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
