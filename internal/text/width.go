package text

import (
	"strings"
	"unicode"
)

// RuneWidth is how many columns a character takes. Where terminals differ it is the
// most that one of them takes: a row may end early, and never runs over.
func RuneWidth(r rune) int {
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

// Width is how many columns a text takes.
func Width(s string) (n int) {
	for _, r := range s {
		n += RuneWidth(r)
	}
	return n
}

// ClipWidth cuts a text to so many columns, with a … in the place of what is missing.
func ClipWidth(s string, most int) string {
	if Width(s) <= most {
		return s
	}
	room := most - 1
	for i, r := range s {
		if room -= RuneWidth(r); room < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// Pad fills a text up with spaces to so many columns.
func Pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-Width(s)))
}
