package chatui

import (
	"strings"
	"unicode"
)

// runeWidth is how many columns a character takes. Where terminals differ it is the
// most that one of them takes: a row may end early, and never runs over.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r < 0x1100:
		return 1
	case r <= 0x115f, r >= 0x2e80 && r <= 0x303e, r >= 0x3041 && r <= 0xa4cf, r >= 0xa960 && r <= 0xa97f, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe10 && r <= 0xfe19, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff01 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x16fe0 && r <= 0x18dff, r >= 0x1aff0 && r <= 0x1b2ff,
		r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f680 && r <= 0x1f6ff, r >= 0x1f7e0 && r <= 0x1f7f0, r >= 0x1f900 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return wideSymbol(r)
}

// wideSymbol looks up the symbols that are pictures by themselves.
func wideSymbol(r rune) int {
	const wide = "⌚⌛⏩⏪⏫⏬⏰⏳◽◾☔☕♈♉♊♋♌♍♎♏♐♑♒♓♿⚓⚡⚪⚫⚽⚾⛄⛅⛎⛔⛪⛲⛳⛵⛺⛽✅✊✋✨❌❎❓❔❕❗➕➖➗➰➿⬛⬜⭐⭕🀄🃏🆎🈁🈚🈯🉐🉑🌀〈〉"
	if r == 0x2329 || r == 0x232a || r >= 0x1f191 && r <= 0x1f19a || r >= 0x1f200 && r <= 0x1f265 || strings.ContainsRune(wide, r) {
		return 2
	}
	return 1
}

// width is how many columns a text takes.
func width(s string) (n int) {
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

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
