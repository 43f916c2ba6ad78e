package chatui

import (
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

func runeWidth(r rune) int { return text.RuneWidth(r) }

func width(s string) int { return text.Width(s) }

// clip cuts a line to a width, with a … at its end.
func (l line) clip(most int) line {
	if l.width() <= most {
		return l
	}
	head, _ := l.cut(max(most-1, 0))
	st := plain
	if len(head) > 0 {
		st = head[len(head)-1].style
	}
	return head.and(line{{st, "…"}})
}

// cut parts a line at a width.
func (l line) cut(most int) (head, rest line) {
	for i, s := range l {
		for at, r := range s.text {
			if w := runeWidth(r); w > most {
				if at > 0 {
					head = append(head, span{s.style, s.text[:at]})
				}
				return head, append(line{{s.style, s.text[at:]}}, l[i+1:]...)
			} else {
				most -= w
			}
		}
		head = append(head, s)
	}
	return head, nil
}

// wrap parts a paragraph into rows, at spaces where there are any. Rows after the first
// begin with the indent.
func (l line) wrap(most int, indent line) []line {
	most = max(most, 4)
	if indent.width() > most/2 {
		indent = nil
	}
	var rows []line
	room := most
	for {
		head, rest := l.cut(room)
		if len(rest) == 0 {
			return append(rows, prefix(indent, head, len(rows)))
		}
		if len(head) == 0 { // a wide character in the narrowest of rows
			head, rest = rest.cut(2)
			if len(head) == 0 {
				return rows
			}
		}
		if at := lastSpace(head); at > head.width()/3 && !beginsWithSpace(rest) {
			head, rest = l.cut(at)
		}
		rows = append(rows, prefix(indent, head.trimRight(), len(rows)))
		if l = rest.trimLeft(); len(l) == 0 {
			return rows
		}
		room = most - indent.width()
	}
}

func prefix(indent, l line, row int) line {
	if row == 0 {
		return l
	}
	return indent.and(l)
}

// lastSpace is the column after the last space of a line; 0: there is none.
func lastSpace(l line) int {
	at, n := 0, 0
	for _, s := range l {
		for _, r := range s.text {
			if n += runeWidth(r); r == ' ' {
				at = n
			}
		}
	}
	return at
}

func beginsWithSpace(l line) bool { return len(l) > 0 && strings.HasPrefix(l[0].text, " ") }

func (l line) trimLeft() line {
	for len(l) > 0 {
		if t := strings.TrimLeft(l[0].text, " "); t != "" {
			return append(line{{l[0].style, t}}, l[1:]...)
		}
		l = l[1:]
	}
	return nil
}

func (l line) trimRight() line {
	for len(l) > 0 {
		last := l[len(l)-1]
		if t := strings.TrimRight(last.text, " "); t != "" {
			return l[: len(l)-1 : len(l)-1].and(line{{last.style, t}})
		}
		l = l[:len(l)-1]
	}
	return nil
}
