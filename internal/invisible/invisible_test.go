package invisible

import (
	"testing"
	"unicode"
)

func TestWhatIsNotSeen(t *testing.T) {
	for _, r := range []rune{0, 0x07, 0x1b, '\n', '\t', 0x7f, 0x85, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x200b, 0x202e, 0x2028,
		0x2029, 0x2060, 0x2065, 0x2800, 0x3164, 0xfe0f, 0xfeff, 0xffa0, 0xfff0, 0xfff8, 0x13430, 0x1bca0, 0x1d159, 0x1d173, 0xe0001, 0xe0080, 0xe01ef, 0xe0fff} {
		if !Rune(r) {
			t.Errorf("%U is taken for one that is seen", r)
		}
	}
	for _, r := range "aZ09 ~\\äßéøЖ中あ한שع€→😀́" {
		if Rune(r) || Blank(r) {
			t.Errorf("%U is taken for one that is not seen", r)
		}
	}
	for _, r := range []rune{0xa0, 0x1680, 0x2003, 0x202f, 0x205f, 0x3000} {
		if !Blank(r) {
			t.Errorf("%U is taken for a plain blank", r)
		}
	}
}

// TestEveryIgnorable: what Unicode says is ignored where it is shown is in the
// table, and so is every blank.
func TestEveryIgnorable(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		ignorable := unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf, unicode.Cc)
		if ignorable && !Rune(r) || unicode.IsSpace(r) && !Rune(r) && !Blank(r) {
			t.Fatalf("%U is missing", r)
		}
	}
}

// TestCodesDoNotMerge: a code and the letters behind it are told apart.
func TestCodesDoNotMerge(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{"\u180bb", "\x180bb", "\x1bb", "\u01bb", "\u200b0", "\U000200b0"} {
		out := ""
		for _, r := range text {
			if r < 0x80 && r >= ' ' {
				out += string(r)
			} else {
				out += Code(r)
			}
		}
		if before, ok := seen[out]; ok {
			t.Errorf("%q and %q are both written as %s", before, text, out)
		}
		seen[out] = text
	}
}
