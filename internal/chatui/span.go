package chatui

import (
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/internal/text"
)

// style is how a span looks. Nothing is said by colour alone: signs and words say it
// too. Only the sixteen colours of the terminal's own theme are used, and neither black
// nor white, so that dark and light backgrounds both do.
type style uint8

const (
	plain style = iota
	bold
	dim
	good   // green
	bad    // red
	notice // yellow
	accent // cyan
	title  // bold cyan
	alarm  // bold red
)

func (s style) code() string {
	return [...]string{plain: "", bold: "1", dim: "2", good: "32", bad: "31", notice: "33", accent: "36", title: "1;36", alarm: "1;31"}[s]
}

// span is a piece of a line in one style. It is made by span and exact only: its text
// has no character that steers a terminal or that nobody sees.
type span struct {
	style style
	text  string
}

// line is one row of text, or a paragraph before it was wrapped.
type line []span

// say makes a line of what a model or a tool says. Line ends are gone: callers split
// first. Tabs become spaces, so that widths are known.
func say(s style, given string) line {
	if given == "" {
		return nil
	}
	return line{{s, visible(given)}}
}

// exact is say for what a person decides on: every odd character is written out.
func exact(s style, given string) line {
	if given == "" {
		return nil
	}
	return line{{s, untab(text.ShowExact(whole(given)))}}
}

func (l line) and(more ...line) line {
	out := slices.Clip(l)
	for _, m := range more {
		out = append(out, m...)
	}
	return out
}

func (l line) width() (n int) {
	for _, s := range l {
		n += width(s.text)
	}
	return n
}

func (l line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// visible writes out what cannot be seen, but for what models write in good faith: the
// sign that makes a picture of a symbol, and the one that joins two pictures, are left
// out, since each terminal draws the result in another width.
func visible(given string) string {
	given = whole(given)
	if strings.ContainsAny(given, "\ufe0f\u200d\u20e3") {
		given = calm(given)
	}
	return untab(text.ShowLine(strings.ReplaceAll(given, "\t", "    ")))
}

// whole puts a sign in place of broken bytes: alone, some terminals obey them.
func whole(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func untab(s string) string { return strings.ReplaceAll(s, "\t", "    ") }

func calm(given string) string {
	var b strings.Builder
	runes := []rune(given)
	for i, r := range runes {
		switch {
		case r == '\ufe0f' && i > 0 && (pictured(runes[i-1]) || keycap(runes[i-1])):
		case r == '\u20e3' && i > 1 && runes[i-1] == '\ufe0f' && keycap(runes[i-2]):
		case r == '\u200d' && i > 0 && i+1 < len(runes) && (pictured(runes[i-1]) || runes[i-1] == '\ufe0f') && pictured(runes[i+1]):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func pictured(r rune) bool {
	return r > 0x7f && (unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) || unicode.Is(unicode.Sm, r))
}
func keycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }
