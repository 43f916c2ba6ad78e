package secrets

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"math/bits"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// plainForms gives a value and the ways in which it stands in addresses, in
// JSON and in HTML.
func plainForms(value string) []string {
	printable := strings.ReplaceAll(value, "=", "=3D") // quoted-printable
	out := []string{value, url.QueryEscape(value), url.PathEscape(value), html.EscapeString(value), printable, strings.ReplaceAll(printable, " ", "=20")}
	if text, err := json.Marshal(value); err == nil {
		out = append(out, string(text[1:len(text)-1]))
	}
	out = append(out, string(jsontext.Quote(value)[1:len(jsontext.Quote(value))-1]))
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
	if strings.Contains(value, " ") {
		out = append(out, strings.ReplaceAll(value, " ", "sp")) // od -a
	}
	out = append(out, squeezed(bytes)...)
	out = append(out, shifted(value)...)
	var lsb strings.Builder // basenc --base2lsbf
	for _, c := range bytes {
		fmt.Fprintf(&lsb, "%08b", bits.Reverse8(c))
	}
	out = append(out, lsb.String())
	// Within a longer encoded text a value begins at one of several places in a
	// group; the letters it shares with its neighbours are left out.
	for shift := range 3 {
		from := (shift*8 + 5) / 6
		padded := append(make([]byte, shift), value...)
		to := len(padded) * 8 / 6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			form := enc.EncodeToString(padded)[from:to]
			out = append(out, form, reversed(form)) // base64 | rev
		}
		out = append(out, base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), backwards...))[from:to]) // rev | base64
		out = append(out, uuencoded(padded)[from:to])
	}
	for _, enc := range []*base32.Encoding{base32.StdEncoding.WithPadding(base32.NoPadding), base32.HexEncoding.WithPadding(base32.NoPadding)} {
		for shift := range 5 {
			padded := append(make([]byte, shift), value...)
			out = append(out, enc.EncodeToString(padded)[(shift*8+4)/5:len(padded)*8/5])
		}
	}
	return append(out, base85Forms(value)...)
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// squeezed gives the forms of a dump with a byte a line, in which a row of equal
// lines is one line and a star.
func squeezed(bytes []byte) []string {
	short := slices.Compact(slices.Clone(bytes))
	if len(short) == len(bytes) || len(short) < encodedValue {
		return nil
	}
	out := []string{string(short), hex.EncodeToString(short)}
	for _, format := range []string{"%d", "%03o", "%o"} {
		var b strings.Builder
		for _, c := range short {
			fmt.Fprintf(&b, format, c)
		}
		out = append(out, b.String())
	}
	return out
}

// shifted gives a value in which letters are exchanged as tr and dd do it.
func shifted(value string) []string {
	by := func(n int) string {
		b := []byte(value)
		for i, c := range b {
			if letter(c) {
				base := c &^ 31
				b[i] = base + 1 + byte((int(c-base-1)+n+26)%26)
			}
		}
		return string(b)
	}
	rot47 := []byte(value)
	for i, c := range rot47 {
		if c > ' ' && c < 0x7f {
			rot47[i] = '!' + (c-'!'+47)%94
		}
	}
	out := []string{by(1), by(-1), string(rot47)}
	for from := range 2 { // dd conv=swab
		b := []byte(value[from:])
		b = b[:len(b)/2*2]
		for i := 0; i+1 < len(b); i += 2 {
			b[i], b[i+1] = b[i+1], b[i]
		}
		if len(b) >= encodedValue {
			out = append(out, string(b))
		}
	}
	return out
}

// uuencoded gives the letters of uuencode without its lines.
func uuencoded(b []byte) string {
	const std = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	out := []byte(base64.RawStdEncoding.EncodeToString(b))
	for i, c := range out {
		if out[i] = ' ' + byte(strings.IndexByte(std, c)); out[i] == ' ' {
			out[i] = '`'
		}
	}
	return string(out)
}

// base85Forms gives a value in the three alphabets of base85. It may begin
// anywhere in a group of four bytes; the bytes before its first whole group are
// left out.
func base85Forms(value string) []string {
	const (
		z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
		b85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	)
	a85 := make([]byte, 85)
	for i := range a85 {
		a85[i] = '!' + byte(i)
	}
	var out []string
	for _, alphabet := range []string{z85, b85, string(a85)} {
		for shift := range 4 {
			var b []byte
			for at := shift; at+4 <= len(value); at += 4 {
				n := uint32(value[at])<<24 | uint32(value[at+1])<<16 | uint32(value[at+2])<<8 | uint32(value[at+3])
				var group [5]byte
				for i := 4; i >= 0; i-- {
					group[i] = alphabet[n%85]
					n /= 85
				}
				b = append(b, group[:]...)
			}
			if len(b) >= 10 {
				out = append(out, string(b))
			}
		}
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
	}{{2, []string{"%04x", "%06o", "%d", "%05d"}}, {4, []string{"%08x", "%011o", "%d", "f"}}, {8, []string{"%016x", "%022o", "%d", "f"}}} {
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
					switch {
					case format != "f":
						fmt.Fprintf(&b, format, n)
					case w.size == 4:
						b.WriteString(strconv.FormatFloat(float64(math.Float32frombits(uint32(n))), 'g', -1, 32))
					default:
						b.WriteString(strconv.FormatFloat(math.Float64frombits(n), 'g', -1, 64))
					}
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
