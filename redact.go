package toolcrib

import (
	"bytes"
	"encoding/json"

	"github.com/toolcrib/toolcrib/internal/schema"
)

const redactedText = `"[redacted]"`

// hasSecrets is a quick look at a parsed text: false means that redact would
// find nothing in it.
func hasSecrets(doc *schema.Doc) bool {
	for s := range doc.Strings() {
		if secretKey(s) || secretLook(s) {
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
// key's separators and case do not matter: api_key, apiKey and API-KEY are one.
func secretKey(key []byte) bool {
	if len(key) < 3 || len(key) > 64 {
		return false
	}
	tail := [3]byte(key[len(key)-3:])
	for i, c := range tail {
		if c >= 'A' && c <= 'Z' {
			tail[i] = c + 'a' - 'A'
		}
	}
	switch string(tail[:]) { // most keys end here
	case "ord", "swd", "ase", "ret", "ken", "key", "ion", "kie", "ial", "als":
	default:
		return false
	}
	var buf [64]byte
	word := buf[:0]
	for _, c := range key {
		switch {
		case c >= 'A' && c <= 'Z':
			word = append(word, c+'a'-'A')
		case c != '_' && c != '-' && c != '.':
			word = append(word, c)
		}
	}
	for _, suffix := range [...]string{
		"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey",
		"privatekey", "secretkey", "authorization", "cookie", "credential", "credentials",
	} {
		if len(word) >= len(suffix) && string(word[len(word)-len(suffix):]) == suffix {
			return true
		}
	}
	return false
}

// secretLook reports whether a string is a key or token by its form alone.
func secretLook(s []byte) bool {
	if len(s) < 16 {
		return false
	}
	switch s[0] {
	case 's', 'g', 'x', 'A', 'B':
		for _, prefix := range [...]string{
			"sk-", "sk_live_", "sk_test_", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-",
			"xoxb-", "xoxp-", "xoxa-", "AKIA", "ASIA", "Bearer ", "Basic ",
		} {
			if rest, ok := bytes.CutPrefix(s, []byte(prefix)); ok && bytes.IndexByte(rest, ' ') < 0 {
				return true
			}
		}
	}
	return bytes.Contains(s, []byte("PRIVATE KEY-----"))
}
