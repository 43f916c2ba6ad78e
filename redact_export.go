package toolcrib

import "encoding/json"

// Redact takes secrets out of valid JSON by the names of its keys and by the
// look of its strings. It is what a crib does to what it records if its Redact
// is nil; one of its own that is set should do no less, and may begin with it.
func Redact(text json.RawMessage) json.RawMessage { return redact(text) }

// RedactText takes what looks like a secret out of a plain text: words, and the
// base64 of private keys. Everything else stays, between the lines of a key too.
func RedactText(text string) string { return scrub(withoutKeys(text)) }

// SecretName reports whether values under a key of this name are secrets by
// custom, such as password, apiKey or Set-Cookie.
func SecretName(key string) bool { return secretKey([]byte(key)) }
