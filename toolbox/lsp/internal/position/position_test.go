package position

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// sample has one character of each length, an emoji of several, and a letter with a
// combining accent.
const sample = "a é € 👋🏽 e\u0301 👩‍👩‍👧 z\r\nsecond\rthird\n\nlast"

func TestPlaces(t *testing.T) {
	text := New(sample)
	if text.Lines() != 5 {
		t.Fatalf("%d lines", text.Lines())
	}
	z := strings.Index(sample, "z")
	for e, want := range map[Encoding]int{UTF8: z, UTF16: len(utf16.Encode([]rune(sample[:z]))), UTF32: utf8.RuneCountInString(sample[:z])} {
		if p := text.Position(z, e); p != (Position{0, want}) {
			t.Errorf("%s: %v, want %d", e, p, want)
		}
		if at := text.Offset(Position{0, want}, e); at != z {
			t.Errorf("%s: byte %d, want %d", e, at, z)
		}
	}
	if p := text.Place(z); p != (Place{1, 19}) {
		t.Errorf("%v", p)
	}
	if p := text.Place(strings.Index(sample, "last")); p != (Place{5, 1}) {
		t.Errorf("%v", p)
	}
	wave := strings.Index(sample, "👋")
	for p, want := range map[Position]int{
		{0, 7}:  wave,                                // in the middle of a pair
		{0, 99}: strings.Index(sample, "\r\n"),       // beyond the line
		{1, 99}: strings.Index(sample, "\rthird"),    // a line that ends with a carriage return
		{9, 0}:  len(sample), {-1, 5}: 0, {0, -5}: 0, // nowhere
	} {
		if at := text.Offset(p, UTF16); at != want {
			t.Errorf("%v: byte %d, want %d", p, at, want)
		}
	}
	for _, bad := range []Place{{0, 1}, {6, 1}, {1, 0}, {1, 21}, {2, 8}} {
		if at, err := text.At(bad.Line, bad.Column); err == nil {
			t.Errorf("%v is byte %d", bad, at)
		}
	}
	if at, err := text.At(2, 7); err != nil || at != strings.Index(sample, "\rthird") {
		t.Errorf("the end of a line is %d, %v", at, err)
	}
}

func TestFind(t *testing.T) {
	const line = "cat concat cat.meow(cat) größe größer naïve\n"
	text := New(line + "\tx->y::z ok\n")
	for _, tt := range []struct {
		line, column int
		symbol       string
		want         int // -1: not found
	}{
		{1, 0, "cat", 0}, {1, 9, "cat", 11}, {1, 22, "cat", 20}, {1, 99, "cat", 20}, {1, 0, "cat.meow", 15}, {1, 0, "meow", 15},
		{1, 0, "con", -1}, {1, 0, "größe", 25}, {1, 0, "größer", 33}, {1, 0, "", -1}, {1, 0, "dog", -1}, {9, 0, "cat", -1},
		{2, 0, "x->y", len(line) + 4}, {2, 0, "y::z", len(line) + 7}, {2, 0, "z", len(line) + 7},
	} {
		at, err := text.Find(tt.line, tt.symbol, tt.column)
		if err != nil {
			at = -1
		}
		if at != tt.want {
			t.Errorf("%+v: %d", tt, at)
		}
	}
}

// FuzzPositions: every place of a text comes back from every encoding, and none that a
// server could name leads outside or into the middle of a character.
func FuzzPositions(f *testing.F) {
	for _, seed := range []string{sample, "", "\n", "\r", "\r\n", "\r\r\n\n", "👋", "e\u0301", "\xff\x80a", "a\u2028b", "\uFEFFa"} {
		f.Add(seed, 0, 1)
	}
	f.Fuzz(func(t *testing.T, s string, line, character int) {
		text := New(s)
		for _, e := range []Encoding{UTF8, UTF16, UTF32} {
			at := text.Offset(Position{line, character}, e)
			if at < 0 || at > len(s) || (at < len(s) && utf8.ValidString(s) && !utf8.RuneStart(s[at])) {
				t.Fatalf("%d:%d is byte %d of %q", line, character, at, s)
			}
			for i := range s {
				p := text.Position(i, e)
				if from, to := text.Bounds(p.Line); i >= from && i <= to { // not within a line end
					if back := text.Offset(p, e); back != i {
						t.Fatalf("%s: byte %d of %q is %v, which is byte %d", e, i, s, p, back)
					}
					place := text.Place(i)
					if back, err := text.At(place.Line, place.Column); err != nil || back != i {
						t.Fatalf("byte %d of %q is %v, which is byte %d, %v", i, s, place, back, err)
					}
				}
			}
		}
		if n := text.Lines(); n < 1 || n > len(s)+1 {
			t.Fatalf("%d lines", n)
		}
		if at, err := text.Find(line, s[:min(len(s), 5)], character); err == nil && (at < 0 || at > len(s)) {
			t.Fatalf("found at %d", at)
		}
	})
}
