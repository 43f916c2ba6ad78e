package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestInvisible(t *testing.T) {
	for _, r := range []rune{0, 0x07, 0x1b, '\n', '\t', 0x7f, 0x85, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x200b, 0x202e, 0x2028,
		0x2029, 0x2060, 0x2065, 0x2800, 0x3164, 0xd800, 0xdfff, 0xfe0f, 0xfeff, 0xffa0, 0xfff0, 0xfff8, 0x13430, 0x1bca0, 0x1d159, 0x1d173, 0xe0001, 0xe0080, 0xe0159, 0xe01ef, 0xe0fff} {
		if !Invisible(r) {
			t.Errorf("%U counts as visible", r)
		}
	}
	for _, r := range "aZ09 ~\\äßéøЖ中あ한שع€→😀\u0301" {
		if Invisible(r) || Blank(r) {
			t.Errorf("%U counts as invisible", r)
		}
	}
	for _, r := range []rune{0xa0, 0x1680, 0x2003, 0x202f, 0x205f, 0x3000} {
		if !Blank(r) {
			t.Errorf("%U counts as a plain space", r)
		}
	}
}

// TestInvisibleAgainstUnicode: the ranges are held against Unicode's own tables,
// in both directions.
func TestInvisibleAgainstUnicode(t *testing.T) {
	drawn := func(r rune) bool { // format characters that have a shape
		return r >= 0x600 && r <= 0x605 || r == 0x6dd || r == 0x70f || r == 0x890 || r == 0x891 || r == 0x8e2 || r == 0x110bd || r == 0x110cd
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		listed := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
		if listed && !drawn(r) && !Invisible(r) {
			t.Errorf("%U is invisible and missing in the table", r)
		}
		if unicode.IsSpace(r) && r != ' ' && !Invisible(r) && !Blank(r) {
			t.Errorf("%U is a space of its own and missing", r)
		}
		letter := unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S, unicode.M)
		if letter && Invisible(r) && !unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) && r != 0x2800 && r != 0x1d159 {
			t.Errorf("%U is an ordinary character and counts as invisible", r)
		}
	}
}

func TestCode(t *testing.T) {
	for r, want := range map[rune]string{0x1b: "[U+001B]", 0x200b: "[U+200B]", 0xe0001: "[U+E0001]", unicode.MaxRune: "[U+10FFFF]", 0x1d159: "[U+1D159]"} {
		if got := Code(r); got != want {
			t.Errorf("Code(%U) = %s, want %s", r, got, want)
		}
	}
	if got := string(AppendCode([]byte("a"), 0x200b, 12)); got != "a[U+200B*12]" {
		t.Error(got)
	}
}

func TestShow(t *testing.T) {
	const in = "a\u200bb\n\tc\x1b[31m\u202e"
	if got, want := Show(in), "a[U+200B]b\n\tc[U+001B][31m[U+202E]"; got != want {
		t.Errorf("Show: %q, want %q", got, want)
	}
	if got, want := ShowLine(in), `a[U+200B]b\n\tc[U+001B][31m[U+202E]`; got != want {
		t.Errorf("ShowLine: %q, want %q", got, want)
	}
}

// TestNeededStays: what a script or an emoji needs is left alone, and the same
// characters elsewhere are not.
func TestNeededStays(t *testing.T) {
	for _, s := range []string{
		"👨\u200d👩\u200d👧 ❤️ 1️⃣ 👍🏽 🏳️\u200d🌈", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
		"می\u200cخواهم", "क्\u200dष", "ක්\u200dර", "עברית\u200f!", "ภาษา\u200bไทย", "葛\U000e0100城", "⠓⠑⠀⠺", "Grüße, 日本語 한국어 Привет",
		"line\nline\ttab",
	} {
		if got := ShowForeign(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
		if r, found := FirstHidden(s); found {
			t.Errorf("%q: %U counts as hidden", s, r)
		}
	}
	for s, want := range map[string]string{
		"pass\u200bword":                  "pass[U+200B]word",
		"a" + strings.Repeat("\u200b", 9): "a[U+200B*9]",
		"ig\u200dno\u200cre":              "ig[U+200D]no[U+200C]re",
		"x\ufe0f\u200d🔥":                  "x[U+FE0F][U+200D]🔥",
		"🏴\U000e0069\U000e0067":           "🏴[U+E0069][U+E0067]",
		"❤\ufe0f\ufe0f\ufe0f":             "❤\ufe0f[U+FE0F*2]",
		"\u3164\U000e0159\u2800\u034f":    "[U+3164][U+E0159][U+2800][U+034F]",
	} {
		if got := ShowForeign(s); got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
		if _, found := FirstHidden(s); !found {
			t.Errorf("nothing found in %q", s)
		}
	}
}

// TestShowLeavesNothing: whatever goes in, what comes out shows every character,
// and doing it again changes nothing.
func TestShowLeavesNothing(t *testing.T) {
	letters := rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune{'a', ' ', '\n', '\t', 0x1b, 0x200b, 0x200d, 0xfe0f, 0x2764, 0x1f525, 0x202e, 0x2800, 0x3164, 0xe0067, BlackFlag, 0x915, 0x94d, utf8.RuneError}))
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(letters, 0, 30).Draw(t, "s"))
		if out := ShowLine(s); strings.ContainsFunc(out, Invisible) || ShowLine(out) != out {
			t.Fatalf("ShowLine(%q) = %q", s, out)
		}
		out := ShowForeign(s)
		if r, found := FirstHidden(out); found || ShowForeign(out) != out {
			t.Fatalf("ShowForeign(%q) = %q: %U", s, out, r)
		}
		if !strings.ContainsFunc(s, Invisible) && out != s {
			t.Fatalf("%q had nothing to hide and became %q", s, out)
		}
	})
}

// TestShowExact: two texts that differ in a character which nobody sees look
// different.
func TestShowExact(t *testing.T) {
	for _, r := range []rune{0x34f, 0x17b4, 0x17b5, 0x180b, 0x200b, 0x2065, 0xfff0, 0xfff8, 0xe0001, 0xe0080, 0x1d159, 0xa0, 0x2003, 0x202f, 0x3000, 0x1b} {
		if got := ShowExact("src/a" + string(r) + "b.txt"); strings.ContainsRune(got, r) || got == "src/ab.txt" {
			t.Errorf("%U is shown as %q", r, got)
		}
	}
	if one, other := ShowExact("\u180bb"), ShowExact("\x180bb"); one == other {
		t.Errorf("two texts are both written as %s", one)
	}
	if s := `C:\dir ä 日本 x`; ShowExact(s) != s {
		t.Errorf("%q", ShowExact(s))
	}
}

func FuzzShowExact(f *testing.F) {
	f.Add("plain")
	f.Add("a\x1b[2J\u202eb\u00adc\ufe0f\xff\n\r\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		got := ShowExact(s)
		if ShowExact(got) != got || strings.ContainsAny(got, "\n\r\x1b\u202e\u200b\u2028\u00ad\x00\x7f") {
			t.Errorf("%q is shown as %q", s, got)
		}
	})
}
