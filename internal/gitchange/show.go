package gitchange

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// The bounds on what is shown of one commit.
const (
	maxSubject = 200 // runes
	maxMessage = 30  // lines after the first
	maxNames   = 100 // files
)

// subject is the first line of a message, in quotes.
func subject(message string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n")
	return strconv.Quote(clipped(line))
}

func clipped(text string) string {
	runes := []rune(text)
	if len(runes) > maxSubject {
		return string(runes[:maxSubject]) + "…"
	}
	return text
}

// plain quotes a text that could be taken for other ones.
func plain(text string) string {
	text = clipped(text)
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == '"' }) {
		return strconv.Quote(text)
	}
	return text
}

// showCommit adds the lines about one commit: the rest of its message, and its files.
func (j *judge) showCommit(c gitobject.CommitInfo, files []File) {
	_, rest, _ := strings.Cut(strings.TrimLeft(c.Message, "\n"), "\n")
	lines := strings.Split(strings.Trim(rest, "\n"), "\n")
	for i, line := range lines {
		if len(lines) == 1 && line == "" {
			break
		}
		if i == maxMessage {
			j.show("    | (%s)", counted(len(lines)-i, "more line"))
			break
		}
		j.show("    | %s", plainLine(line))
	}
	for i, f := range files {
		if i == maxNames {
			j.show("    (%s)", counted(len(files)-i, "more file"))
			break
		}
		j.show("    %s %s%s", f.word(), plain(f.Path), f.detail())
	}
}

func plainLine(line string) string {
	if line == "" {
		return ""
	}
	return plain(line)
}

// word is what became of a file.
func (f *File) word() string {
	switch {
	case f.New.Mode == 0:
		return "deleted"
	case f.Old.Mode == 0:
		return "created"
	}
	return "changed"
}

// detail says what is no ordinary file.
func (f *File) detail() string {
	switch f.New.Mode {
	case gitobject.ModeSymlink:
		return " (a link)"
	case gitobject.ModeModule:
		return " (a submodule)"
	}
	return ""
}
