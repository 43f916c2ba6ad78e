package files

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestReplace(t *testing.T) {
	for _, tt := range []struct {
		data, from, to string
		which          int
		want           string // the new data, or "!" and a part of the error
	}{
		{"one two", "two", "2", unique, "one 2"},
		{"a b a", "a", "x", unique, "!2 times, in lines 1, 1"},
		{"a\nb\na\n", "a", "x", unique, "!2 times, in lines 1, 3"},
		{"a b a", "a", "x", 1, "x b a"},
		{"a b a", "a", "x", 2, "a b x"},
		{"a b a", "a", "x", 3, "!occurrence 3 not found"},
		{"aaaa", "aa", "x", 2, "aax"}, {"aaaa", "aa", "x", 3, "!occurrence 3 not found"},
		{"a b a", "a", "x", everywhere, "x b x"},
		{"aaa", "aa", "b", everywhere, "ba"},
		{"aaa", "aa", "b", unique, "!2 times"},
		{"a", "b", "c", unique, "!not in the file"},
		{"a", "b", "c", everywhere, "!not in the file"},
		// Line ends.
		{"one\r\ntwo\r\n", "one\ntwo", "1\n2", unique, "1\r\n2\r\n"},
		{"one\r\ntwo\r\n", "one\r\ntwo", "1\n2", unique, "1\r\n2\r\n"},
		{"one\r\ntwo\r\n", "two", "2\n3", unique, "one\r\n2\r\n3\r\n"},
		{"one\r\ntwo\r\n", "\ntwo", "", unique, "one\r\n"},
		{"one\ntwo\r\nthree", "one\ntwo", "x\ny", unique, "x\ny\r\nthree"},
		{"one\ntwo\r\nthree", "two\nthree", "x\ny", unique, "one\nx\r\ny"},
		{"one\ntwo", "one", "1\r\n", unique, "1\r\n\ntwo"},
		{"one\rtwo", "one\ntwo", "x", unique, "!not in the file"},
		// Encodings.
		{"\ufeffone", "one", "two", unique, "\ufefftwo"},
		{"\xff caf\xe9 \xfe", "\u00e9", "e\u00e8", unique, "\xff cafe\xe8 \xfe"},
		{"\xff caf\xe9", "\u00e9", "€", unique, "!no form in the encoding"},
		{"\xff caf\xc3\xa9 \x00", "é", "è", unique, "\xff caf\xc3\xa8 \x00"},
		{"\xff\xfea\x00\r\x00\n\x00b\x00", "a\nb", "\u20ac\nc", unique, "\xff\xfe\xac\x20\r\x00\n\x00c\x00"},
		{"\xfe\xff\x00a\x00b", "b", "\U0001F98A", unique, "\xfe\xff\x00a\xd8\x3e\xdd\x8a"},
		{"\xff\xfe\x00a\x00b", "\u6100", "x", unique, "\xff\xfex\x00\x00b"},
		{"\xff\xfea\x62\x63\x00", "\u6362", "x", unique, "!not in the file"}, // only between two characters
	} {
		got, _, err := replace([]byte(tt.data), tt.from, tt.to, tt.which)
		if part, bad := strings.CutPrefix(tt.want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q, %q to %q: %q, %v; want %s", tt.data, tt.from, tt.to, got, err, part)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil {
			t.Errorf("%q, %q to %q: %v\n%s", tt.data, tt.from, tt.to, err, diff)
		}
	}
}

// FuzzEdit: an edit and the one back leave every byte as it was, and both
// touch nothing before and after.
func FuzzEdit(f *testing.F) {
	f.Add([]byte("one\r\ntwo\r\n"), "two", "2\n3")
	f.Add([]byte("\xff\xfea\x00b\x00"), "a", "\u20ac")
	f.Add([]byte("\ufeffx\n\xff"), "x", "y")
	f.Add([]byte("caf\xe9 \xe9t\xe9"), "ét", "at")
	f.Fuzz(func(t *testing.T, data []byte, from, to string) {
		if from == "" || to == "" || !utf8.ValidString(from) || !utf8.ValidString(to) {
			return
		}
		edited, n, err := replace(data, from, to, unique)
		if err != nil {
			return
		}
		if n != 1 {
			t.Fatalf("%d places", n)
		}
		back, _, err := replace(edited, to, from, unique)
		if err != nil {
			return // it is there twice now
		}
		// The form of a text is that of the file; if the edit changed that, the
		// way back may be another.
		if !sameForms(data, edited, from, to) {
			return
		}
		if !bytes.Equal(data, back) {
			t.Errorf("%q with %q for %q is %q, and back %q", data, to, from, edited, back)
		}
	})
}

func sameForms(a, b []byte, from, to string) bool {
	return cmp.Equal(forms(a, from), forms(b, from), cmp.AllowUnexported(form{})) && cmp.Equal(forms(a, to), forms(b, to), cmp.AllowUnexported(form{})) &&
		cmp.Equal(forms(a, from), forms(a, to), cmp.AllowUnexported(form{})) && len(forms(a, from)) == 1
}

// TestRoundTrips: every encoding is read and written back as it was.
func TestRoundTrips(t *testing.T) {
	text := "äöü €\r\nзавтра 日本語 🦊\n"
	for _, enc := range []string{encUTF8, encUTF16LE, encUTF16BE} {
		data, err := encode(text, enc)
		if err != nil {
			t.Fatal(err)
		}
		if got := decode(data, enc); got != text {
			t.Errorf("%s: %q", enc, got)
		}
	}
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	if data, err := encode(decode(all, encLatin1), encLatin1); err != nil || !bytes.Equal(data, all) {
		t.Errorf("latin-1: %v", err)
	}
	d := newDesk(t, Config{})
	for name, data := range map[string]string{
		"crlf": "one\r\ntwo\r\nthree\r\n", "bom": "\ufeffone\ntwo\nthree\n", "latin": "one \xe9\ntwo\nthree\xfc\n", "bad": "one \xff\xc3\xa9\ntwo\nthree\n",
		"le": "\xff\xfeo\x00n\x00e\x00\n\x00t\x00w\x00o\x00\n\x00", "mixed": "one\r\ntwo\nthree\r\n", "noeol": "one\ntwo", "cr": "one\rtwo\r",
	} {
		path := d.put(t, name, data)
		out := d.must(t, "read_file", map[string]any{"path": name})
		if !strings.Contains(out["content"].(string), "two") {
			t.Errorf("%s reads as %q", name, out["content"])
		}
		d.must(t, "edit_file", map[string]any{"path": name, "old_text": "two", "new_text": "2"})
		d.must(t, "edit_file", map[string]any{"path": name, "old_text": "2", "new_text": "two"})
		if got := content(t, path); got != data {
			t.Errorf("%s: %q became %q", name, data, got)
		}
		// What was read can be given back as it came.
		first, _, _ := strings.Cut(out["content"].(string), "two")
		if first != "" && name != "bad" {
			d.must(t, "edit_file", map[string]any{"path": name, "old_text": first + "two", "new_text": first + "TWO"})
			d.must(t, "edit_file", map[string]any{"path": name, "old_text": first + "TWO", "new_text": first + "two"})
			if got := content(t, path); got != data {
				t.Errorf("%s: %q became %q", name, data, got)
			}
		}
	}
}
