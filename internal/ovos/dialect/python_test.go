package dialect

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// The right-hand sides are what CPython 3.11 says.

func TestRepr(t *testing.T) {
	for in, want := range map[string]string{
		"cat": `'cat'`, "a'b": `"a'b"`, `a"b`: `'a"b'`, `a'"b`: `'a\'"b'`, `a\b`: `'a\\b'`, "a\nb\t\r": `'a\nb\t\r'`, "": `''`,
		"\x7f\x00é\u200b\U0001f600\u2028\u00a0\u00ad\u0378": `'\x7f\x00é\u200b😀\u2028\xa0\xad\u0378'`, "a b": `'a b'`, "\U000e0001": `'\U000e0001'`,
	} {
		if got := repr(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestUndecodable(t *testing.T) {
	for in, want := range map[string]string{
		"\xff": "byte 0xff in position 0: invalid start byte", "\xe2": "byte 0xe2 in position 0: unexpected end of data",
		"\xe2\x82": "bytes in position 0-1: unexpected end of data", "\xe2\x82A": "bytes in position 0-1: invalid continuation byte",
		"\xe2A": "byte 0xe2 in position 0: invalid continuation byte", "\xed\xa0\x80": "byte 0xed in position 0: invalid continuation byte",
		"\xc0\x80": "byte 0xc0 in position 0: invalid start byte", "\xf5": "byte 0xf5 in position 0: invalid start byte",
		"a\x80": "byte 0x80 in position 1: invalid start byte", "\xf0\x9f\x98": "bytes in position 0-2: unexpected end of data",
		"\xf0\x9f\x98A": "bytes in position 0-2: invalid continuation byte", "\xf0\x80\x80\x80": "byte 0xf0 in position 0: invalid continuation byte",
		"\xf4\x90\x80\x80": "byte 0xf4 in position 0: invalid continuation byte", "\xe0\x80": "byte 0xe0 in position 0: invalid continuation byte",
		"\xe0\xa0": "bytes in position 0-1: unexpected end of data", "\xc3": "byte 0xc3 in position 0: unexpected end of data",
		"é\xc3(": "byte 0xc3 in position 2: invalid continuation byte", "\xf0\x9fA": "bytes in position 0-1: invalid continuation byte",
	} {
		if got := undecodable([]byte(in)); got != "'utf-8' codec can't decode "+want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// Bytes are told to be bad if and only if they are.
func TestUndecodableFindsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.SampledFrom([]byte{'a', 0x80, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff, 0x90}), 0, 8).Draw(t, "data")
		told := undecodable(data)
		if (told == "") != utf8.Valid(data) || strings.HasSuffix(told, ": ") {
			t.Fatalf("%q: %q", data, told)
		}
		if cut := wholeRunes([]byte("éß😀日" + string(data))); len(cut) > 11+len(data) || len(cut) < 11+len(data)-3 {
			t.Fatalf("%q was cut to %q", data, cut)
		}
	})
}

func TestWholeRunes(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "aé": "aé", "a\xc3": "a", "a\xf0\x9f\x98": "a", "😀": "😀", "a\xff": "a\xff", "\x80\x80\x80\x80": "\x80\x80\x80\x80", "日\xe6\x97": "日",
	} {
		if got := string(wholeRunes([]byte(in))); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestNewlines(t *testing.T) {
	for in, want := range map[string]string{"a\r\nb\rc\nd\r\r\n": "a\nb\nc\nd\n\n", "a\n": "a\n", "": ""} {
		if got := newlines(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestNativeRegex(t *testing.T) {
	for in, want := range map[string]string{`a\Z`: `a\z`, `a\\Z`: `a\\Z`, "": "(?:)", `\`: `\`, `[\w]+`: `[\w]+`, `\\\Z`: `\\\z`} {
		if got := nativeRegex(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func TestByElements(t *testing.T) {
	for _, tt := range [][2]string{{"/a", "/a/b"}, {"/a/b", "/a-b"}, {"/a/b/c", "/a/c"}, {"/", "/a"}} {
		if byElements(tt[0], tt[1]) >= 0 || byElements(tt[1], tt[0]) <= 0 || byElements(tt[0], tt[0]) != 0 {
			t.Errorf("%s and %s", tt[0], tt[1])
		}
	}
}
