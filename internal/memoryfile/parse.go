package memoryfile

import (
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/toolbox/memory"
)

// fileNote is one note of a file.
type fileNote struct {
	text     string
	from, to int // lines, counted from 1
	by       string
	source   string // of an untrusted one: the tool that its mark names
	date     string // "2026-11-17 14:03", or empty
	section  string // the heading that it stands under
}

// maxBlock is how many bytes one note has at most: a longer one becomes several.
const maxBlock = 16 << 10

// parser cuts a Markdown file into notes: items of lists with what is indented
// below them, and paragraphs. Headings name sections. It knows no code blocks: a
// fence that a person forgot to close must not swallow the marks of what follows.
type parser struct {
	notes   []fileNote
	section string
	lines   []string // of the note that is being read
	from    int
	item    bool
	blank   int // empty lines since
}

// parse reads a file. It takes whatever there is.
func parse(file string) []fileNote {
	var p parser
	n := 0
	for line := range strings.Lines(file) {
		n++
		line = strings.TrimRight(line, "\r\n")
		p.line(n, line)
	}
	p.flush()
	return p.notes
}

func (p *parser) line(n int, line string) {
	indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
	switch {
	case strings.TrimSpace(line) == "":
		p.blank++
		if !p.item {
			p.flush()
		}
	case beginsItem(line):
		p.flush()
		p.item, p.from, p.lines = true, n, []string{line}
	case isHeading(line):
		p.flush()
		p.section = strings.TrimSpace(strings.Trim(line, "#"))
	case !indented && isRule(line):
		p.flush()
	case p.lines != nil && (p.item && indented || p.blank == 0):
		// A line right below an item belongs to it, also without a blank before it: so
		// Markdown reads it, and so no mark is lost.
		for ; p.blank > 0; p.blank-- {
			p.lines = append(p.lines, "")
		}
		p.lines = append(p.lines, line)
	default:
		p.flush()
		p.from, p.lines = n, []string{line}
	}
}

func beginsItem(line string) bool {
	return len(line) > 1 && strings.ContainsRune("-*+", rune(line[0])) && (line[1] == ' ' || line[1] == '\t')
}

func isHeading(line string) bool {
	rest := strings.TrimLeft(line, "#")
	marks := len(line) - len(rest)
	return marks > 0 && marks <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

func isRule(line string) bool {
	line = strings.ReplaceAll(line, " ", "")
	return len(line) >= 3 && strings.Trim(line, line[:1]) == "" && strings.Contains("-*_", line[:1])
}

// flush ends the note that is being read.
func (p *parser) flush() {
	lines, from := p.lines, p.from
	p.lines, p.blank = nil, 0
	item := p.item
	p.item = false
	if lines == nil {
		return
	}
	head := fileNote{by: memory.ByPerson, section: p.section}
	if item {
		lines[0] = strings.TrimLeft(lines[0][1:], " \t")
		lines[0] = head.readHeader(lines[0])
		for i, line := range lines[1:] {
			lines[i+1] = strings.TrimPrefix(line, "  ")
		}
	}
	// A mark counts wherever it stands: a person who joins two notes keeps it.
	for _, line := range lines {
		if head.by != memory.ByUntrusted && strings.Contains(line, markBegin) {
			head.by, head.section = memory.ByUntrusted, ""
		}
	}
	// Parts of a long one have its header, so that no part is without its mark.
	size, begin := 0, 0
	for i, line := range lines {
		if size > 0 && size+len(line) > maxBlock {
			p.keep(head, lines[begin:i], from+begin)
			begin, size = i, 0
		}
		size += len(line) + 1
	}
	p.keep(head, lines[begin:], from+begin)
}

func (p *parser) keep(head fileNote, lines []string, from int) {
	head.text = strings.TrimSpace(strings.ToValidUTF8(strings.Join(lines, "\n"), "\uFFFD"))
	head.from, head.to = from, from+len(lines)-1
	if head.text != "" {
		p.notes = append(p.notes, head)
	}
}

// readHeader takes the date and the mark off an item that memory_append wrote. A
// mark counts wherever it stands in front, with or without a date: who moves a note
// around keeps it.
func (n *fileNote) readHeader(line string) string {
	if len(line) >= len(stamp) {
		if _, err := time.Parse(stamp, line[:len(stamp)]); err == nil && (len(line) == len(stamp) || line[len(stamp)] == ' ') {
			n.by, n.date = memory.ByAgent, line[:len(stamp)]
			n.section = "" // it stands where the file ended, and was not put there by the person
			line = strings.TrimLeft(line[len(stamp):], " ")
		}
	}
	if rest, marked := strings.CutPrefix(line, markBegin); marked {
		n.by, n.source, n.section = memory.ByUntrusted, "", ""
		source, after, closed := strings.Cut(rest, "]")
		if !closed {
			return line
		}
		n.source, line = source, strings.TrimLeft(after, " ")
	}
	return line
}
