package files

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// AsCall gives the call of this box that makes the same change as a program did on
// its layer, so that rules and guards judge both alike. A directory counts as a file
// of that name, and bytes that are no text as signs for them.
func AsCall(c toolcrib.Change, content []byte) (box, tool string, input json.RawMessage, err error) {
	if c.After == nil {
		input, err = jsontext.Marshal(deleteIn{Path: c.Path})
		return "files", "delete_file", input, err
	}
	in := writeIn{Path: c.Path}
	switch {
	case c.After.Mode()&fs.ModeSymlink != 0:
		in.Content = c.Target
	case bytes.IndexByte(content, 0) >= 0:
		in.Content = wordsOf(content)
	default:
		in.Content = strings.ToValidUTF8(string(content), noText)
	}
	input, err = jsontext.Marshal(in) // what < and the like are written as is read again by each guard
	return "files", "write_file", input, err
}

// noText stands for bytes that are none, however many they are.
const noText = "\ufffd"

// leastWord is how many signs in a row make a word of what lies between other bytes, as
// for strings(1).
const leastWord = 4

// wordsOf is what can be read in bytes of something else than text, such as a program.
func wordsOf(content []byte) string {
	var out strings.Builder
	out.Grow(len(content) / 4)
	word, signs := 0, 0 // where it begins, and how long it is
	end := func(at int) {
		if signs >= leastWord {
			out.WriteString(noText)
			out.Write(content[word:at])
		}
		signs = 0
	}
	for at := 0; at < len(content); {
		r, size := rune(content[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(content[at:])
		}
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r >= 0x7f && (r == utf8.RuneError || !unicode.IsPrint(r)) {
			end(at)
		} else if signs++; signs == 1 {
			word = at
		}
		at += size
	}
	end(len(content))
	out.WriteString(noText)
	return out.String()
}
