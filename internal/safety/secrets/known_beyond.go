package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// beyondForms gives the ways in which programs write a value that has letters
// beyond ASCII: those letters otherwise, and the rest of it as it is. Signs such
// as the backslash of \303 are left out: they are gaps.
func beyondForms(value string) []string {
	if strings.IndexFunc(value, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return nil
	}
	var out []string
	bytes := func(value string, write func(c byte) string) {
		var b strings.Builder
		for i := range len(value) {
			if c := value[i]; c < utf8.RuneSelf {
				b.WriteByte(c)
			} else {
				b.WriteString(write(c))
			}
		}
		out = append(out, b.String())
	}
	runes := func(value string, write func(r rune) string) {
		var b strings.Builder
		for _, r := range value {
			if r < utf8.RuneSelf {
				b.WriteRune(r)
			} else {
				b.WriteString(write(r))
			}
		}
		out = append(out, b.String())
	}
	for _, format := range []string{"%03o", "x%02x", "%02x", "=%02X", "%d"} { // od -c, printf %q, xxd, quoted-printable
		bytes(value, func(c byte) string { return fmt.Sprintf(format, c) })
	}
	bytes(value, metaByte) // cat -v
	// A dump with a byte a line leaves out lines that are equal to the one before.
	if short := string(slices.Compact([]byte(value))); len(short) < len(value) && len(short) >= encodedValue {
		bytes(short, func(c byte) string { return fmt.Sprintf("%03o", c) })
	}
	for _, text := range append([]string{value}, otherAccents(value)...) {
		if text != value {
			out = append(out, text, hex.EncodeToString([]byte(text)), html.EscapeString(text))
			out = append(out, base64Forms([]byte(text))...)
		}
		for _, format := range []string{"u%04x", "u{%x}", "U%08x", "x%02x", "%d", "x{%x}", "U+%04X"} {
			runes(text, func(r rune) string { return fmt.Sprintf(format, r) })
		}
		runes(text, func(r rune) string { // JSON beyond the first plane
			if a, b := utf16.EncodeRune(r); r > 0xffff {
				return fmt.Sprintf("u%04xu%04x", a, b)
			}
			return fmt.Sprintf("u%04x", r)
		})
	}
	if latin, ok := latin1(value); ok {
		out = append(out, string(latin), hex.EncodeToString(latin))
		out = append(out, base64Forms(latin)...)
	}
	return out
}

// wideForms gives a value in UTF-16, as hexadecimal digits and in base64.
func wideForms(value string) []string {
	var little, big []byte
	for _, u := range utf16.Encode([]rune(value)) {
		little = append(little, byte(u), byte(u>>8))
		big = append(big, byte(u>>8), byte(u))
	}
	out := []string{hex.EncodeToString(little), hex.EncodeToString(big)}
	return append(append(out, base64Forms(little)...), base64Forms(big)...)
}

// base64Forms gives bytes in base64, wherever in a group they begin.
func base64Forms(value []byte) []string {
	var out []string
	for shift := range 3 {
		padded := append(make([]byte, shift), value...)
		out = append(out, base64.RawStdEncoding.EncodeToString(padded)[(shift*8+5)/6:len(padded)*8/6])
	}
	return out
}

// metaByte is how cat -v shows a byte beyond ASCII.
func metaByte(c byte) string {
	switch c &= 0x7f; {
	case c < ' ':
		return "M-^" + string(rune(c+'@'))
	case c == 0x7f:
		return "M-^?"
	}
	return "M-" + string(rune(c))
}

// latin1 gives a value in the character set of one byte a letter.
func latin1(value string) ([]byte, bool) {
	var out []byte
	for _, r := range value {
		if r > 0xff {
			return nil, false
		}
		out = append(out, byte(r))
	}
	return out, true
}

// otherAccents gives a value with its accents put together with their letters, and
// taken apart from them, where that is another text. It knows the letters of the
// languages of Europe.
func otherAccents(value string) []string {
	var apart, together []string
	for mark, letters := range map[string][2]string{
		"\u0300": {"AEIOUNaeioun", "ÀÈÌÒÙǸàèìòùǹ"}, "\u0301": {"AEIOUYCLNRSZaeiouyclnrsz", "ÁÉÍÓÚÝĆĹŃŔŚŹáéíóúýćĺńŕśź"}, "\u0302": {"AEIOUCGHJSWYaeioucghjswy", "ÂÊÎÔÛĈĜĤĴŜŴŶâêîôûĉĝĥĵŝŵŷ"},
		"\u0303": {"AIONUaionu", "ÃĨÕÑŨãĩõñũ"}, "\u0304": {"AEIOUaeiou", "ĀĒĪŌŪāēīōū"}, "\u0306": {"AEGIOUaegiou", "ĂĔĞĬŎŬăĕğĭŏŭ"}, "\u0307": {"CEGIZcegz", "ĊĖĠİŻċėġż"},
		"\u0308": {"AEIOUYaeiouy", "ÄËÏÖÜŸäëïöüÿ"}, "\u030a": {"AUau", "ÅŮåů"}, "\u030b": {"OUou", "ŐŰőű"}, "\u030c": {"CDENRSTZcdenrstz", "ČĎĚŇŘŠŤŽčďěňřšťž"}, "\u0327": {"CGKLNRSTcgklnrst", "ÇĢĶĻŅŖŞŢçģķļņŗşţ"}, "\u0328": {"AEIUaeiu", "ĄĘĮŲąęįų"},
	} {
		plain := []rune(letters[0])
		for i, whole := range []rune(letters[1]) {
			apart = append(apart, string(whole), string(plain[i])+mark)
			together = append(together, string(plain[i])+mark, string(whole))
		}
	}
	var out []string
	for _, pairs := range [][]string{apart, together} {
		if text := strings.NewReplacer(pairs...).Replace(value); text != value {
			out = append(out, text)
		}
	}
	return out
}
