package web

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// decode makes UTF-8 of a body, by what its bytes begin with, then by what the
// server says, then by what an HTML page says of itself, and otherwise by how
// it looks. It names the charset it found. What is no letter becomes U+FFFD.
func decode(body []byte, declared string, isHTML bool) (page, charset string, err error) {
	switch {
	case hasPrefix(body, "\xef\xbb\xbf"):
		return valid(body[3:]), "utf-8", nil
	case hasPrefix(body, "\xff\xfe"):
		return wide(body[2:], false), "utf-16le", nil
	case hasPrefix(body, "\xfe\xff"):
		return wide(body[2:], true), "utf-16be", nil
	}
	label := lower(strings.TrimSpace(declared))
	if label == "" && isHTML {
		label = metaCharset(body)
	}
	charset = charsetOf(label)
	switch {
	case charset == "" && label != "" && !utf8.Valid(body):
		return "", "", fmt.Errorf("the page is written in %q, a character set that cannot be read here; look for a version of it in UTF-8", text.Clip(line(label), 40))
	case charset == "" || charset == "utf-8":
		// Only a text that is no UTF-8 at all is taken for the charset of old:
		// one that claims to be is damaged, and shows where.
		if label == "" && !utf8.Valid(body) && !mostlyUTF8(body) {
			return single(body, table("windows-1252")), "windows-1252", nil
		}
		return valid(body), "utf-8", nil
	case charset == "utf-16le" || charset == "utf-16be":
		return wide(body, charset == "utf-16be"), charset, nil
	}
	return single(body, table(charset)), charset, nil
}

func hasPrefix(body []byte, prefix string) bool {
	return len(body) >= len(prefix) && string(body[:len(prefix)]) == prefix
}

func valid(body []byte) string { return strings.ToValidUTF8(string(body), "\ufffd") }

// mostlyUTF8 reports whether a text is UTF-8 with a few bytes damaged, such as
// the last letter of one that was cut.
func mostlyUTF8(body []byte) bool {
	good, bad := 0, 0
	for len(body) > 0 {
		r, n := utf8.DecodeRune(body)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		body = body[n:]
	}
	return good > bad
}

// wide reads UTF-16.
func wide(body []byte, big bool) string {
	units := make([]uint16, len(body)/2)
	for i := range units {
		a, b := uint16(body[2*i]), uint16(body[2*i+1])
		if big {
			a, b = b, a
		}
		units[i] = b<<8 | a
	}
	return string(utf16.Decode(units))
}

// single reads a charset of one byte a letter; upper is its second half.
func single(body []byte, upper []rune) string {
	var b strings.Builder
	b.Grow(len(body) + len(body)/4)
	for _, c := range body {
		if c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			b.WriteRune(upper[c-utf8.RuneSelf])
		}
	}
	return b.String()
}

// metaCharset is what the first tags of a page say. As in browsers, a page
// whose tags could be read cannot be in UTF-16, whatever they say.
func metaCharset(body []byte) string {
	z := tokenizer{src: string(body[:min(len(body), 4096)])}
	for {
		t, ok := z.next()
		if !ok {
			return ""
		}
		if t.kind != startToken || t.name != "meta" {
			continue
		}
		label := t.value("charset")
		if label == "" && strings.EqualFold(strings.TrimSpace(t.value("http-equiv")), "content-type") {
			_, label, _ = strings.Cut(lower(t.value("content")), "charset=")
			label, _, _ = strings.Cut(label, ";")
		}
		if label = lower(strings.Trim(label, " \t\r\n\"'")); label != "" {
			if strings.HasPrefix(charsetOf(label), "utf-16") {
				return "utf-8"
			}
			return label
		}
	}
}
