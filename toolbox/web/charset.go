package web

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/toolcrib/toolcrib/internal/text"
)

// decode makes UTF-8 of a body, by what its bytes begin with, then by what the
// server says, then by what an HTML page says of itself, and otherwise by how
// it looks. It names the charset it found. What is no letter becomes U+FFFD.
func decode(body []byte, declared string, isHTML bool) (page, charset string, err error) {
	label := strings.ToLower(strings.TrimSpace(declared))
	if label == "" && isHTML {
		label = metaCharset(body)
	}
	found, known := charsetOf(label)
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		body, found = body[3:], unicode.UTF8
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		body, found = body[2:], unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		body, found = body[2:], unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case known:
	case label != "" && !utf8.Valid(body):
		return "", "", fmt.Errorf("the page is written in %q, a character set that cannot be read here; look for a version of it in UTF-8", text.Clip(line(label), 40))
	case label == "" && !utf8.Valid(body) && !mostlyUTF8(body):
		// Only a text that is no UTF-8 at all is taken for the charset of old:
		// one that claims to be is damaged, and shows where.
		found = charmap.Windows1252
	default:
		found = unicode.UTF8
	}
	name, err := htmlindex.Name(found)
	if err != nil {
		return "", "", err
	}
	if found == unicode.UTF8 {
		return strings.ToValidUTF8(string(body), "\ufffd"), name, nil
	}
	decoded, err := found.NewDecoder().Bytes(body)
	return string(decoded), name, err
}

// charsetOf is the charset that a label means, as pages in the field use labels:
// whoever says latin-1 or ASCII means Windows.
func charsetOf(label string) (encoding.Encoding, bool) {
	switch label { // not in the standard's list, and yet in use
	case "latin-1":
		label = "latin1"
	case "latin9", "latin-9":
		label = "l9"
	case "ucs-2", "unicode", "iso-10646-ucs-2", "csunicode":
		label = "utf-16le"
	}
	found, err := htmlindex.Get(label)
	return found, err == nil && found != encoding.Replacement
}

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

// metaCharset is what the first tags of a page say. As in browsers, a page
// whose tags could be read cannot be in UTF-16, whatever they say.
func metaCharset(body []byte) string {
	z := newTokenizer(bytes.NewReader(body[:min(len(body), 4096)]))
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
			_, label, _ = strings.Cut(strings.ToLower(t.value("content")), "charset=")
			label, _, _ = strings.Cut(label, ";")
		}
		if label = strings.ToLower(strings.Trim(label, " \t\r\n\"'")); label != "" {
			if found, _ := charsetOf(label); found == unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM) || found == unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM) {
				return "utf-8"
			}
			return label
		}
	}
}
