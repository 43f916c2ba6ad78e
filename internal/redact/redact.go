// Package redact takes secrets out of texts that are recorded or shown, by the names
// of keys and by their look.
package redact

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/schema"
)

const redactedText = `"[redacted]"`

// Finds is a quick look at a parsed text: false means that JSON would
// find nothing in it.
func Finds(doc *schema.Doc) bool {
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

// JSON takes secrets out of valid JSON by the names of its keys and by the
// look of its strings. It copies only if it finds something. What is no secret
// stays, beside one too: who reads a record or a question must see what a call
// does, and must not be kept from it by a few letters that look like a key.
func JSON(text []byte) json.RawMessage {
	var out []byte
	kept := 0 // everything before this is in out already
	cut := func(from, to int, by string) {
		out = append(append(out, text[kept:from]...), by...)
		kept = to
	}
	for i := 0; i < len(text); i++ {
		quote := bytes.IndexByte(text[i:], '"')
		if quote < 0 {
			break
		}
		i += quote
		end := jsontext.StringEnd(text, i)
		word, _ := jsontext.Unquote(text[i:end])
		colon := jsontext.SkipSpace(text, end)
		switch isKey := colon < len(text) && text[colon] == ':'; {
		case !isKey && secretLook([]byte(word)):
			if shown := withoutLook(word); shown != word {
				cut(i, end, string(jsontext.Quote(shown)))
			}
			i = end - 1
		case isKey && countsTokens(word, text[jsontext.SkipSpace(text, colon+1):]):
			i = colon
		case isKey && secretKey([]byte(word)):
			i = redactValue(text, jsontext.SkipSpace(text, colon+1), true, cut) - 1
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

// redactValue takes the value at i out and gives the index after it. Of a list
// every entry goes. Of an object the names stay, so that it is seen what it is;
// under one that is no name of a secret, a text of several words stays as well.
func redactValue(text []byte, i int, whole bool, cut func(from, to int, by string)) int {
	if i >= len(text) {
		return i
	}
	switch text[i] {
	case '"':
		end := jsontext.StringEnd(text, i)
		word, _ := jsontext.Unquote(text[i:end])
		if whole || !strings.ContainsAny(word, " \t\r\n") {
			cut(i, end, redactedText)
		} else if shown := withoutLook(word); shown != word {
			cut(i, end, string(jsontext.Quote(shown)))
		}
		return end
	case '[', '{':
		object := text[i] == '{'
		for i = jsontext.SkipSpace(text, i+1); i < len(text) && text[i] != ']' && text[i] != '}'; {
			named := whole
			if object {
				end := jsontext.StringEnd(text, i)
				word, _ := jsontext.Unquote(text[i:end])
				named = secretKey([]byte(word))
				i = jsontext.SkipSpace(text, jsontext.SkipSpace(text, end)+1)
			}
			i = jsontext.SkipSpace(text, redactValue(text, i, named, cut))
			if i < len(text) && text[i] == ',' {
				i = jsontext.SkipSpace(text, i+1)
			}
		}
		return min(i+1, len(text))
	}
	end := i + 1
	for end < len(text) && strings.IndexByte(",]} \t\r\n", text[end]) < 0 {
		end++
	}
	cut(i, end, redactedText)
	return end
}

// countsTokens: under input_tokens and the like a whole number says how many tokens of
// text a model has read. A secret is one token, or a text.
func countsTokens(key string, value []byte) bool {
	if !strings.HasSuffix(key, "tokens") {
		return false
	}
	n := 0
	for n < len(value) && value[n] >= '0' && value[n] <= '9' {
		n++
	}
	return n > 0 && n <= 9 && n < len(value) && strings.IndexByte(",]} \t\r\n", value[n]) >= 0
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

// SecretPath reports whether a path such as db.passwords[2] leads through a
// key whose values are secrets.
func SecretPath(path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' || r == '"' }) {
		if secretKey([]byte(part)) {
			return true
		}
	}
	return false
}
