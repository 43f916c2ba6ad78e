package files

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
)

// wideText is a text in UTF-16 without a mark in front.
func wideText(text string, big bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b.WriteByte(byte(u >> 8))
		}
		b.WriteByte(byte(u))
		if !big {
			b.WriteByte(byte(u >> 8))
		}
	}
	return b.String()
}

// leaks looks for a value in an answer in every way that it could be read.
func leaks(text, value string) bool {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return r == '"' || r == ' ' || r == '[' || r == ']' || r == ':' || r == '{' || r == '}'
	}) {
		if data, err := base64.StdEncoding.DecodeString(word); err == nil {
			text += string(data) + strings.ReplaceAll(string(data), "\x00", "")
		}
	}
	for _, big := range []bool{false, true} { // letters of two bytes each
		text += wideText(text, big)
	}
	return strings.Contains(strings.ReplaceAll(text, "\x00", ""), value)
}

// TestDisguisedText: a text that looks like something else shows nothing that
// is hidden in it, in whatever encoding it is read.
func TestDisguisedText(t *testing.T) {
	const secret = "sk-abcdef"
	text := "# settings\ntoken: " + secret + "\nlast\n"
	for name, content := range map[string]string{
		"gif": "GIF89a" + text, "gif with zeros": "GIF89a\x00\x01" + text, "webp": "RIFF1234WEBP" + text, "png": "\x89PNG\r\n\x1a\n" + text, "jpeg": "\xff\xd8\xff" + text,
		"gif and wide": "GIF89a" + wideText(text, false), "gif, odd and wide": "GIF89a1" + wideText(text, true),
		"mark le": "\xff\xfe" + text, "mark be": "\xfe\xff" + text, "mark le, odd": "\xff\xfe" + text + "x", "mark and latin": "\xff\xfer\xe9sum\xe9" + text,
		"wide le": wideText(text, false), "wide be": wideText(text, true), "wide, odd": "x" + wideText(text, false), "wide, late": strings.Repeat("# nothing here\n", 1000) + wideText(text, false),
		"marked and wide": "\xff\xfe" + wideText(text, false), "plain": text, "zeros": "\x00" + text, "late zeros": text + strings.Repeat("x", 9000) + "\x00",
	} {
		d := veiledDesk(t)
		d.put(t, "f", content)
		for _, encoding := range []string{"", "auto", "utf-8", "utf-16le", "utf-16be", "latin-1", "base64"} {
			for _, in := range []map[string]any{{"path": "f"}, {"path": "f", "start_line": 2}} {
				if encoding != "" {
					in["encoding"] = encoding
				}
				if answer := d.whole(t, "read_file", in); leaks(answer, secret) {
					t.Errorf("%s in %q: %.300q", name, encoding, answer)
				}
			}
		}
		for _, in := range []map[string]any{{"pattern": "s"}, {"pattern": "k"}, {"pattern": "."}, {"pattern": "k.?-"}} {
			for _, path := range []string{".", "f"} {
				in["path"], in["binary"], in["regex"] = path, true, true
				if answer := d.whole(t, "search_files", in); leaks(answer, secret) {
					t.Errorf("%s, searched for %v: %.300q", name, in, answer)
				}
			}
		}
	}
	d := veiledDesk(t)
	d.put(t, "wide", wideText("a\ntoken: "+secret+"\nb\n", false))
	if out := d.must(t, "read_file", map[string]any{"path": "wide", "encoding": "utf-16le"}); out["content"] != "a\ntoken: [redacted]\nb\n" {
		t.Errorf("the encoding that it has: %q", out["content"])
	}
}

// whole is all that a call gives back, with pictures, without what the crib
// would still take out of plain letters.
func (d *desk) whole(t *testing.T, tool string, in map[string]any) string {
	t.Helper()
	result, err := d.Call(t.Context(), callOf(t, tool, in))
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	b.WriteString(shown(valueText(t, result.Value)))
	for _, c := range result.Content {
		b.WriteString(shown(c.Text))
		b.Write(c.Data)
	}
	return b.String()
}

// TestDisguisingEdit: no edit makes a text look like something else in which
// hidden values are not recognised.
func TestDisguisingEdit(t *testing.T) {
	const secret = "sk-abcdef"
	for name, c := range map[string]struct{ content, old, new string }{
		"gif":       {"x: 1\ntoken: " + secret + "\n", "x: 1", "GIF89ax: 1"},
		"mark":      {"# r\xe9sum\xe9\ntoken: " + secret + "\n", "# r\u00e9sum\u00e9", "\u00ff\u00fe# r\u00e9sum\u00e9"},
		"zero":      {"x: 1\ntoken: " + secret + "\n", "x: 1", "x: \x00"},
		"no longer": {"\xff\xfe" + wideText("x: 1\ntoken: "+secret+"\n", false), "x: 1", "x"},
	} {
		d := veiledDesk(t)
		d.put(t, "f", c.content)
		d.must(t, "read_file", map[string]any{"path": "f"})
		edit := d.whole(t, "edit_file", map[string]any{"path": "f", "old_text": c.old, "new_text": c.new})
		if answer := edit + d.whole(t, "read_file", map[string]any{"path": "f"}); leaks(answer, secret) {
			t.Errorf("%s: %.300q", name, answer)
		}
	}
	d := veiledDesk(t)
	d.put(t, "f", "token: "+secret+"\n")
	d.must(t, "read_file", map[string]any{"path": "f"})
	d.must(t, "write_file", map[string]any{"path": "f", "content": "GIF89a: all else is gone\n"})
}

// TestWindowsOverlap: what is hidden because of a line before it is hidden
// wherever the text is cut to be looked through.
func TestWindowsOverlap(t *testing.T) {
	for _, shift := range []int{-40, -24, -20, -1, 0, 1, 5, 19, 20, 30} {
		filler := strings.Repeat("# fifteen bytes\n", (windowSize-windowTail)/16)
		text := filler[:len(filler)+min(shift, 0)] + strings.Repeat("y", max(shift, 0)) + "\nname: PASS\nvalue: hunter2hunter\n" + strings.Repeat("z\n", windowTail)
		hide := func(text string) ([]Span, error) {
			const before = "name: PASS\nvalue: "
			if i := strings.Index(text, before); i >= 0 && strings.HasPrefix(text[i+len(before):], "hunter") {
				return []Span{{i + len(before), i + len(before) + 13}}, nil
			}
			return nil, nil
		}
		b := &Box{cfg: Config{Hide: hide}.filled()}
		var out strings.Builder
		if err := b.covered(strings.NewReader(text), func() io.Reader { return strings.NewReader(text) }, func(p []byte) error { out.Write(p); return nil }); err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(text, "hunter2hunter", "[redacted]", 1); out.String() != want {
			t.Errorf("shifted by %d: %d bytes, want %d; shown: %v", shift, out.Len(), len(want), strings.Contains(out.String(), "hunter2"))
		}
	}
}
