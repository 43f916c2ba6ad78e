// Package invisible says which characters a person does not see as what they are,
// and how they are written where a person has to see them: in questions, in
// lists, in what the command line prints. One table, so that what is shown in
// one place is not hidden in another.
//
// The entry is [Rune]; [Blank] is about blanks that look like the plain one, and
// [Code] is how a character is written out.
package invisible

import (
	"fmt"
	"unicode"
)

// Rune reports whether a character has no shape of its own, or does something to
// a terminal or to the order of letters rather than being shown. The ends of
// lines and tabs are among them: what may have those says so itself.
func Rune(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	switch r {
	case 0x2800, 0x1d159: // signs that are drawn empty
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Blank reports whether a character looks like a blank and is another one: two
// names that differ in it look the same, and programs read them as different.
func Blank(r rune) bool { return r > 0x7f && unicode.Is(unicode.Zs, r) }

// Code writes a character out. The code has an end of its own, so that letters
// behind it are not taken for a part of it.
func Code(r rune) string {
	if r < 0x100 {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u{%04x}`, r)
}
