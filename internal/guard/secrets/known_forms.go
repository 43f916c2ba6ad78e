package secrets

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
)

// plainForms gives a value and the ways in which it stands in addresses, in
// JSON and in HTML.
func plainForms(value string) []string {
	printable := strings.ReplaceAll(value, "=", "=3D") // quoted-printable
	out := []string{value, url.QueryEscape(value), url.PathEscape(value), html.EscapeString(value), printable, strings.ReplaceAll(printable, " ", "=20")}
	if text, err := json.Marshal(value); err == nil {
		out = append(out, string(text[1:len(text)-1]))
	}
	out = append(out, string(quote(value)[1:len(quote(value))-1]))
	if trimmed := strings.TrimSpace(value); trimmed != value {
		out = append(out, trimmed)
	}
	return out
}

// encodedForms gives the ways in which programs write a value as other letters.
// The signs between these letters, such as those of \x41, &#65; and 41:42, are
// left out: they are gaps.
func encodedForms(value string) []string {
	bytes := []byte(value)
	backwards := slices.Clone(bytes)
	slices.Reverse(backwards)
	runes := []rune(value)
	slices.Reverse(runes)
	out := []string{string(backwards), string(runes), rot13(value), hex.EncodeToString(bytes), hex.EncodeToString(backwards)}
	each := func(format string) {
		var b strings.Builder
		for _, c := range bytes {
			fmt.Fprintf(&b, format, c)
		}
		out = append(out, b.String())
	}
	for _, format := range []string{"x%02x", "0x%02x", "%d", "%03o", "0%03o", "%o", "u%04x", "u00%02x", "%08b"} {
		each(format)
	}
	// Within a longer encoded text a value begins at one of several places in a
	// group; the letters it shares with its neighbours are left out.
	for shift := range 3 {
		padded := append(make([]byte, shift), value...)
		from, to := (shift*8+5)/6, len(padded)*8/6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, enc.EncodeToString(padded)[from:to])
		}
	}
	raw := base32.StdEncoding.WithPadding(base32.NoPadding)
	for shift := range 5 {
		padded := append(make([]byte, shift), value...)
		out = append(out, raw.EncodeToString(padded)[(shift*8+4)/5:len(padded)*8/5])
	}
	return out
}

// wordForms gives a value as the words of a dump on a machine that has the last
// byte of a word first: od -x, od, od -d, od -t x4, hexdump. It may begin
// anywhere in a word.
func wordForms(value string) []string {
	var out []string
	for _, w := range []struct {
		size    int
		formats []string
	}{{2, []string{"%04x", "%06o", "%d"}}, {4, []string{"%08x", "%011o"}}, {8, []string{"%016x"}}} {
		for shift := range w.size {
			if len(value)-shift < max(w.size, encodedValue-1) {
				break
			}
			for _, format := range w.formats {
				var b strings.Builder
				for at := shift; at+w.size <= len(value); at += w.size {
					var n uint64
					for i := w.size - 1; i >= 0; i-- {
						n = n<<8 | uint64(value[at+i])
					}
					fmt.Fprintf(&b, format, n)
				}
				if b.Len() >= 8 {
					out = append(out, b.String())
				}
			}
		}
	}
	return out
}

func rot13(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}
