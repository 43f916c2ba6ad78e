package redact

import (
	"bytes"
	"strings"

	"github.com/toolcrib/toolcrib/internal/keytext"
)

const redactedMark = "[redacted]"

// scrub takes what looks like a secret out of a plain text: words, and of those
// only as much as a key can be made of. What follows it in the same word, such
// as a pipe into another program, is no part of it.
func scrub(text string) string {
	text = withoutTokens(text, false)
	var out strings.Builder
	before := ""
	for text != "" {
		n := strings.IndexAny(text, apart)
		if n < 0 {
			n = len(text)
		}
		word := text[:n]
		key, value, assigned := strings.Cut(word, "=")
		switch {
		case before == "Bearer" || before == "Basic":
			if size := tokenSize(word); size >= 8 {
				out.WriteString(redactedMark + word[size:])
			} else {
				out.WriteString(word)
			}
		case assigned && value != "" && secretKey([]byte(key)):
			if size := strings.IndexAny(value, "|&$"); size >= 0 { // a shell goes on there
				value = value[size:]
				if size > 0 {
					value = redactedMark + value
				}
			} else {
				value = redactedMark
			}
			out.WriteString(key + "=" + value)
		default:
			out.WriteString(word)
		}
		if word != "" {
			before = word
		}
		if n < len(text) {
			out.WriteByte(text[n])
			n++
		}
		text = text[n:]
	}
	return out.String()
}

// secretLook is a quick look at a string: false means that withoutLook finds
// nothing in it.
func secretLook(s []byte) bool {
	if len(s) < 16 {
		return false
	}
	for i := range len(s) - 15 {
		switch s[i] {
		case 's', 'g', 'x', 'A', 'B', 'e':
			if begins(s, i) && (i == 0 || s[i] != 'B') && lookSize(string(s[i:min(i+24, len(s))])) > 0 {
				return true
			}
		}
	}
	return bytes.Contains(s, []byte("PRIVATE KEY-----")) || bytes.Contains(s, []byte("PRIVATE KEY BLOCK-----"))
}

// apart is what words end with.
const apart = " \t\n\"'`,;()<>"

// begins tells whether a key or token could begin at a place: a word does, or what is
// assigned, or the text of a line of a difference.
func begins[T string | []byte](text T, i int) bool {
	if i == 0 {
		return true
	}
	switch before := text[i-1]; before {
	case '=', ':':
		return true
	case '+', '-':
		return i == 1 || text[i-2] == '\n'
	default:
		return strings.IndexByte(apart, before) >= 0
	}
}

// withoutLook takes out what is a key or token by its form alone, and the base64 of
// private keys.
func withoutLook(text string) string { return withoutKeys(withoutTokens(text, true)) }

// withoutTokens takes out what is a token by its form; named also what stands behind the word
// for one at the beginning of the text. Within a text that may be a word as any other.
func withoutTokens(text string, named bool) string {
	var out strings.Builder
	kept := 0
	for i := 0; i+16 <= len(text); i++ {
		switch text[i] {
		case 's', 'g', 'x', 'A', 'B', 'e':
		default:
			continue
		}
		if text[i] == 'B' && (i > 0 || !named) || !begins(text, i) {
			continue
		}
		if size := lookSize(text[i:]); size > 0 {
			out.WriteString(text[kept:i] + redactedMark)
			kept = i + size
			i = kept - 1
		}
	}
	if kept == 0 {
		return text
	}
	return out.String() + text[kept:]
}

func withoutKeys(text string) string {
	return keytext.Strike(text, keytext.Keys(text), redactedMark)
}

// lookSize gives how much of the beginning of a text is a key or token by its
// form; 0: nothing.
func lookSize(text string) int {
	if len(text) < 16 {
		return 0
	}
	for _, prefix := range [...]string{
		"sk-", "sk_live_", "sk_test_", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-",
		"xoxb-", "xoxp-", "xoxa-", "AKIA", "ASIA", "AIza", "eyJ", "Bearer ", "Basic ",
	} {
		rest, ok := strings.CutPrefix(text, prefix)
		if !ok {
			continue
		}
		size := tokenSize(rest)
		if strings.HasSuffix(prefix, " ") && size < len(rest) && rest[size] == ' ' {
			return 0 // words follow: it is about them, such as "Basic authentication is"
		}
		if size += len(prefix); size >= 16 {
			return size
		}
	}
	return 0
}

// tokenSize gives how many bytes at the beginning can be of one key or token.
// No blank is among them and no sign that a shell or a language goes by.
func tokenSize(text string) int {
	for i := range len(text) {
		c := text[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_-.+/=~%", c) >= 0) {
			return i
		}
	}
	return len(text)
}

// Text takes what looks like a secret out of a plain text: words, and the
// base64 of private keys. Everything else stays, between the lines of a key too.
func Text(text string) string { return scrub(withoutKeys(text)) }

// SecretName reports whether values under a key of this name are secrets by
// custom, such as password, apiKey or Set-Cookie.
func SecretName(key string) bool { return secretKey([]byte(key)) }
