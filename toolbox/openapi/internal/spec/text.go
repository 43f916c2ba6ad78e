package spec

import (
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Clean makes plain text of what a document says to people: no tags, no characters that
// cannot be seen, no runs of blanks, and at most so many characters.
func Clean(s string, most int) string {
	if s == "" || most <= 0 {
		return ""
	}
	s = text.Head(s, 8*most+4096) // what is far beyond the cut need not be looked at
	if strings.IndexByte(s, '<') >= 0 {
		s = untagged(s)
	}
	s = strings.Join(strings.Fields(text.ShowForeign(s)), " ")
	return strings.Clone(text.ClipSentence(s, most))
}

// untagged takes out what looks like a tag of HTML.
func untagged(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 || i+1 >= len(s) {
			break
		}
		rest := s[i+1:]
		c := rest[0] | 0x20
		end := strings.IndexByte(rest, '>')
		if !(c >= 'a' && c <= 'z' || rest[0] == '/' || rest[0] == '!') || end < 0 || end > 500 || !tagName(rest) {
			b.WriteString(s[:i+1])
			s = rest
			continue
		}
		b.WriteString(s[:i])
		b.WriteByte(' ')
		s = rest[end+1:]
	}
	b.WriteString(s)
	return b.String()
}

// tagName tells <b> and <a href=…> from <name> placeholders, which people need.
func tagName(rest string) bool {
	name := strings.ToLower(strings.TrimLeft(rest, "/"))
	if strings.HasPrefix(name, "!--") {
		return true
	}
	if i := strings.IndexAny(name, " >/\n\t"); i >= 0 {
		name = name[:i]
	}
	switch name {
	case "a", "abbr", "b", "blockquote", "br", "caption", "center", "code", "dd", "details", "div", "dl", "dt", "em", "fieldset", "font", "h1", "h2", "h3",
		"h4", "h5", "h6", "hr", "i", "img", "important", "li", "note", "ol", "p", "pre", "q", "s", "section", "small", "span", "strong", "sub", "summary",
		"sup", "table", "tbody", "td", "th", "thead", "tr", "tt", "u", "ul", "var", "fullname", "para", "title", "mixed":
		return true
	}
	return false
}
