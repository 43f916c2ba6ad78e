package toolcrib

import (
	"encoding/json"
	"strings"
)

// Redact takes secrets out of valid JSON by the names of its keys and by the
// look of its strings. It is what a crib does to what it records if its Redact
// is nil; one of its own that is set should do no less, and may begin with it.
func Redact(text json.RawMessage) json.RawMessage { return redact(text) }

// RedactText takes what looks like a secret out of a plain text: words, and
// private keys from their first line to their last, or to the end of the text
// if there is none.
func RedactText(text string) string { return scrub(withoutKeys(text)) }

func withoutKeys(text string) string {
	const begin, key, end = "-----BEGIN ", "PRIVATE KEY", "-----END "
	var out strings.Builder
	for {
		from := strings.Index(text, begin)
		if from < 0 {
			break
		}
		label, body, closed := strings.Cut(text[from+len(begin):], "-----")
		if !closed || !strings.Contains(label, key) || strings.Contains(label, "\n") {
			out.WriteString(text[:from+len(begin)])
			text = text[from+len(begin):]
			continue
		}
		out.WriteString(text[:from])
		out.WriteString("[redacted]")
		_, rest, ended := strings.Cut(body, end)
		if !ended {
			return out.String()
		}
		if _, after, ok := strings.Cut(rest, "-----"); ok {
			rest = after
		}
		text = rest
	}
	return out.String() + text
}

// SecretName reports whether values under a key of this name are secrets by
// custom, such as password, apiKey or Set-Cookie.
func SecretName(key string) bool { return secretKey([]byte(key)) }
