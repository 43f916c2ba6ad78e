package memoryfile

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// maxNote is how many characters one note has at most.
const maxNote = 4000

const stamp = "2006-01-02 15:04"

// plainContent is a content as it is written, or why it is not: without blanks
// around it, with every invisible character written out, so that the file shows
// all there is. What was changed is told.
func plainContent(content string) (plain string, told []string, err error) {
	if n := utf8.RuneCountInString(content); n > maxNote {
		return "", nil, fmt.Errorf("the note has %d characters, and at most %d are kept: nothing was written. Write what matters, or several notes", n, maxNote)
	}
	if !utf8.ValidString(content) {
		return "", nil, errors.New("the note is no valid text: nothing was written")
	}
	plain = strings.TrimSpace(strings.ReplaceAll(content, "\r\n", "\n"))
	if plain == "" {
		return "", nil, errors.New("the note has no text: nothing was written")
	}
	if shown := text.ShowForeign(plain); shown != plain {
		plain, told = shown, []string{"characters that nobody sees are written out, such as [U+200B]"}
	}
	return plain, told, nil
}

// written is a note as it stands in a file: an item of a list whose further lines
// are indented, so that no line of it begins another note or a heading.
func written(at time.Time, untrusted, plain string) string {
	var b strings.Builder
	b.WriteString("- " + at.Format(stamp) + " ")
	if untrusted != "" {
		b.WriteString(markBegin + sourceName(untrusted) + "] ")
	}
	for i, line := range strings.Split(plain, "\n") {
		if i > 0 {
			b.WriteString("\n")
			if strings.TrimSpace(line) != "" {
				b.WriteString("  ")
			}
		}
		b.WriteString(strings.TrimRight(line, " \t"))
	}
	return b.String() + "\n"
}

// markBegin begins the mark of a note that was written after content from outside
// was read. Results of tools are marked by the same words.
const markBegin = "[untrusted: "

// sourceName is the name of a tool as the mark has it.
func sourceName(tool string) string {
	tool = strings.Map(func(r rune) rune {
		if r == ']' || r == '[' || text.Invisible(r) || r == '\n' {
			return '_'
		}
		return r
	}, tool)
	return text.Clip(tool, 64)
}
