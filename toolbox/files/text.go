package files

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The encodings a file can be read in.
const (
	encAuto    = "auto"
	encUTF8    = "utf-8"
	encUTF16LE = "utf-16le"
	encUTF16BE = "utf-16be"
	encLatin1  = "latin-1"
	encBase64  = "base64"
	encBinary  = "binary" // told, never asked for
)

// The marks in front of texts that tell their encoding.
const (
	bomUTF8    = "\xef\xbb\xbf"
	bomUTF16LE = "\xff\xfe"
	bomUTF16BE = "\xfe\xff"
)

// guess tells the encoding of a text by its first bytes.
func guess(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte(bomUTF16LE)):
		return encUTF16LE
	case bytes.HasPrefix(head, []byte(bomUTF16BE)):
		return encUTF16BE
	case bytes.IndexByte(head, 0) >= 0:
		return encBinary
	}
	return encUTF8
}

// image tells the type of an image by its first bytes, empty for no image.
func image(head []byte) string {
	h := string(head)
	switch {
	case strings.HasPrefix(h, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(h, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(h, "GIF87a"), strings.HasPrefix(h, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(h, "RIFF") && len(h) >= 12 && h[8:12] == "WEBP":
		return "image/webp"
	}
	return ""
}

// kind is how a whole file is read: as text of one kind, as a picture, or not at
// all.
func kind(data []byte) string {
	head := data[:min(len(data), 8<<10)]
	if mime := image(head); mime != "" {
		return mime
	}
	if e := guess(head); e != encUTF8 {
		return e
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return encBinary
	}
	return encUTF8
}

// decode turns bytes into text.
func decode(data []byte, encoding string) string {
	switch encoding {
	case encUTF16LE, encUTF16BE:
		return decodeUTF16(data, encoding == encUTF16BE)
	case encLatin1:
		var b strings.Builder
		b.Grow(len(data) + len(data)/8)
		for _, c := range data {
			b.WriteRune(rune(c))
		}
		return b.String()
	}
	return strings.ToValidUTF8(string(data), "\ufffd")
}

func decodeUTF16(data []byte, big bool) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		lo, hi := data[2*i], data[2*i+1]
		if big {
			lo, hi = hi, lo
		}
		units[i] = uint16(lo) | uint16(hi)<<8
	}
	if len(units) > 0 && units[0] == 0xfeff {
		units = units[1:]
	}
	text := string(utf16.Decode(units))
	if len(data)%2 == 1 {
		text += "\ufffd"
	}
	return text
}

var errNoForm = errors.New("a character has no form in the encoding of the file")

// encode turns text into bytes of an encoding, without a mark in front.
func encode(text, encoding string) ([]byte, error) {
	switch encoding {
	case encUTF16LE, encUTF16BE:
		var out []byte
		for _, u := range utf16.Encode([]rune(text)) {
			lo, hi := byte(u), byte(u>>8)
			if encoding == encUTF16BE {
				lo, hi = hi, lo
			}
			out = append(out, lo, hi)
		}
		return out, nil
	case encLatin1:
		out := make([]byte, 0, len(text))
		for _, r := range text {
			if r > 0xff {
				return nil, errNoForm
			}
			out = append(out, byte(r))
		}
		return out, nil
	}
	return []byte(text), nil
}

// looksLatin1 reports whether bytes that are no UTF-8 make a text in which
// every high byte is a character: if some of them were UTF-8, the rest is
// damage rather than another encoding.
func looksLatin1(data []byte) bool {
	if utf8.Valid(data) {
		return false
	}
	for len(data) > 0 {
		_, n := utf8.DecodeRune(data)
		if n > 1 {
			return false
		}
		data = data[n:]
	}
	return true
}

// countLines counts lines; the last one need not end in a newline.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
