package toolcrib

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/internal/schema"
)

const redactedText = `"[redacted]"`

// hasSecrets is a quick look at a parsed text: false means that redact would
// find nothing in it.
func hasSecrets(doc *schema.Doc) bool {
	for s := range doc.Strings() {
		if secretLook(s) {
			return true
		}
	}
	for key := range doc.Keys() {
		if secretKey(key) {
			return true
		}
	}
	return false
}

// redact takes secrets out of valid JSON by the names of its keys and by the
// look of its strings. It copies only if it finds something.
func redact(text []byte) json.RawMessage {
	var out []byte
	kept := 0 // everything before this is in out already
	cut := func(from, to int) {
		out = append(append(out, text[kept:from]...), redactedText...)
		kept = to
	}
	for i := 0; i < len(text); i++ {
		quote := bytes.IndexByte(text[i:], '"')
		if quote < 0 {
			break
		}
		i += quote
		end := stringEnd(text, i)
		word := unescaped(text[i:end])
		colon := skipSpace(text, end)
		switch isKey := colon < len(text) && text[colon] == ':'; {
		case !isKey && secretLook(word):
			cut(i, end)
			i = end - 1
		case isKey && secretKey(word):
			value := skipSpace(text, colon+1)
			stop := valueEnd(text, value)
			cut(value, stop)
			i = stop - 1
		case isKey:
			i = colon
		default:
			i = end - 1
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[kept:]...)
}

// unescaped gives the content of a string token; an escaped letter must not
// hide a key's name.
func unescaped(token []byte) []byte {
	if bytes.IndexByte(token, '\\') >= 0 {
		var s string
		if json.Unmarshal(token, &s) == nil {
			return []byte(s)
		}
	}
	return token[1 : len(token)-1]
}

// stringEnd gives the index after the string that opens at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); {
		quote := bytes.IndexByte(text[i:], '"')
		if quote < 0 {
			break
		}
		i += quote
		slashes := 0
		for text[i-1-slashes] == '\\' {
			slashes++ // an even number of them escapes itself, not the quote
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
	return len(text)
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// valueEnd gives the index after the value that begins at i.
func valueEnd(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
		if depth == 0 && (text[i-1] == '"' || text[i-1] == '}' || text[i-1] == ']') {
			return i
		}
	}
	return i
}

// secretKey reports whether values under this key are secrets by custom. The
// key's separators, case and number do not matter: api_key, apiKey and
// API-KEYS are one.
func secretKey(key []byte) bool {
	for len(key) > 0 && (key[len(key)-1] == '_' || key[len(key)-1] == '-' || key[len(key)-1] == ' ') {
		key = key[:len(key)-1]
	}
	if n := len(key); n > 2 && key[n-1]|0x20 == 's' && key[n-2]|0x20 != 's' {
		key = key[:n-1]
	}
	if len(key) < 3 {
		return false
	}
	tail := [3]byte(key[len(key)-3:])
	for i, c := range tail {
		if c >= 'A' && c <= 'Z' {
			tail[i] = c + 'a' - 'A'
		}
	}
	switch string(tail[:]) { // most keys end here
	case "ord", "swd", "ase", "ret", "ken", "key", "ion", "kie", "ial", "pwd", "jwt":
	case "uth", "ass", "lue": // auth, pass, token_value
	default:
		return false
	}
	var buf [64]byte
	word := buf[:0]
	for _, c := range key[max(0, len(key)-len(buf)):] {
		switch {
		case c >= 'A' && c <= 'Z':
			word = append(word, c+'a'-'A')
		case c != '_' && c != '-' && c != '.' && c != ' ':
			word = append(word, c)
		}
	}
	word = bytes.TrimSuffix(word, []byte("value"))
	switch string(word) {
	case "auth", "pass", "pwd", "jwt":
		return true
	}
	if n := len(key) - len("_pass"); n > 0 && (key[n] == '_' || key[n] == '-') && bytes.EqualFold(key[n+1:], []byte("pass")) {
		return true // db_pass, and not compass
	}
	for _, suffix := range [...]string{
		"password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "accesskey",
		"privatekey", "secretkey", "signingkey", "encryptionkey", "authorization", "cookie", "credential",
	} {
		if len(word) >= len(suffix) && string(word[len(word)-len(suffix):]) == suffix {
			return true
		}
	}
	return false
}

// secretPath reports whether a path such as db.passwords[2] leads through a
// key whose values are secrets.
func secretPath(path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' || r == '"' }) {
		if secretKey([]byte(part)) {
			return true
		}
	}
	return false
}

// scrub takes what looks like a secret out of a plain text.
func scrub(text string) string {
	const apart = " \t\n\"'`,;()<>"
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
		case secretLook([]byte(word)), len(word) >= 8 && (before == "Bearer" || before == "Basic"):
			out.WriteString("[redacted]")
		case assigned && value != "" && secretKey([]byte(key)):
			out.WriteString(key + "=[redacted]")
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

// secretLook reports whether a string is a key or token by its form alone.
func secretLook(s []byte) bool {
	if len(s) < 16 {
		return false
	}
	switch s[0] {
	case 's', 'g', 'x', 'A', 'B', 'e':
		for _, prefix := range [...]string{
			"sk-", "sk_live_", "sk_test_", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-",
			"xoxb-", "xoxp-", "xoxa-", "AKIA", "ASIA", "AIza", "eyJ", "Bearer ", "Basic ",
		} {
			if rest, ok := bytes.CutPrefix(s, []byte(prefix)); ok && bytes.IndexByte(rest, ' ') < 0 {
				return true
			}
		}
	}
	return bytes.Contains(s, []byte("PRIVATE KEY-----"))
}
