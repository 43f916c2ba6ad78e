package voice

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The kinds of lines of Markdown.
type kind int

const (
	moreLine  kind = iota // of a paragraph, or of the item before
	emptyLine             // ends a paragraph
	fenceLine             // begins or ends code
	headLine
	itemLine
	tableLine
	ruleLine // says nothing
)

// beginsParagraph reports whether a line can only be one of a paragraph, by its
// beginning: it is said before its end has come.
func beginsParagraph(line string) bool {
	r, size := utf8.DecodeRuneInString(line)
	return size > 0 && unicode.IsLetter(r)
}

// lineKind tells lines apart, and gives what of it is text.
func lineKind(line string) (kind, string) {
	line = strings.TrimRight(line, " \t\r")
	rest := strings.TrimLeft(line, " \t>")
	if rest == "" {
		return emptyLine, ""
	}
	switch {
	case strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "~~~"):
		return fenceLine, rest
	case strings.Trim(rest, "-*_= \t") == "" && len(rest) >= 3:
		return ruleLine, ""
	case rest[0] == '#':
		return headLine, strings.TrimLeft(rest, "# ")
	case rest[0] == '|':
		if strings.Trim(rest, "|-: \t") == "" {
			return ruleLine, ""
		}
		return tableLine, strings.Join(cells(rest), ", ")
	case strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "* ") || strings.HasPrefix(rest, "+ ") || strings.HasPrefix(rest, "• "):
		_, text, _ := strings.Cut(rest, " ")
		return itemLine, strings.TrimPrefix(strings.TrimPrefix(strings.TrimLeft(text, " "), "[ ] "), "[x] ")
	}
	if n := digits(rest); n > 0 && n <= 3 && len(rest) > n+1 && (rest[n] == '.' || rest[n] == ')') && rest[n+1] == ' ' {
		return itemLine, strings.TrimLeft(rest[n+2:], " ")
	}
	return moreLine, rest
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// cells are the cells of a table's row that say something.
func cells(row string) (list []string) {
	for cell := range strings.SplitSeq(strings.Trim(row, "|"), "|") {
		if cell = strings.TrimSpace(cell); cell != "" {
			list = append(list, cell)
		}
	}
	return list
}

// sentenceEnd finds the end of the first sentence of a paragraph that goes on
// behind it; negative: there is none yet.
func sentenceEnd(text string) int {
	ticks, brackets := 0, 0
	for i, r := range text {
		switch r {
		case '`':
			ticks++
		case '[', '(':
			brackets++
		case ']', ')':
			brackets = max(brackets-1, 0)
		case '.', '!', '?', '…':
			if ticks%2 == 1 || brackets > 0 && i < 500 || r == '.' && shortened(text[:i]) {
				continue
			}
			end := i + utf8.RuneLen(r)
			for end < len(text) && strings.IndexByte(`.!?"'*_)`, text[end]) >= 0 {
				end++
			}
			if end < len(text) && (text[end] == ' ' || text[end] == '\t') {
				return end
			}
		}
	}
	return -1
}

// shortened reports whether a full stop ends a short form or a number, and not a
// sentence.
func shortened(before string) bool {
	word := before[strings.LastIndexAny(before, " \t(")+1:]
	if word == "" || digits(word) == len(word) && len(word) <= 2 {
		return true // 3. Mai
	}
	if utf8.RuneCountInString(word) == 1 || strings.Contains(word, ".") && len(word) <= 5 {
		return true // z. B., e.g.
	}
	switch strings.ToLower(word) {
	case "dr", "mr", "mrs", "ms", "st", "prof", "ca", "bzw", "usw", "vgl", "nr", "no", "evtl", "ggf", "etc", "approx":
		return true
	}
	return false
}
