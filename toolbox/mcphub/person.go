package mcphub

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// personRef stands in args, env and cwd for whom a running server is, so that each
// person's can have a file or a directory of its own.
const personRef = "{person}"

// nobody is the word for the server that is asked what it offers, for everybody. No
// person is called so: their words begin with a letter or a digit, or are long.
const nobody = "+nobody"

// personWord is one part of a path, and another one for each person: as they are
// called if that is plain, else a fingerprint. Small letters only: some file systems
// take Ann and ann for the same.
func (i *instance) personWord() string {
	if i.key == "" {
		return nobody
	}
	organisation, subject, _ := strings.Cut(i.key, "\x00")
	if at := strings.LastIndexByte(subject, 0); at >= 0 && i.box.server.Instance == PerSession {
		subject = subject[:at]
	}
	kind, name, typed := strings.Cut(subject, ":") // as in token:ann
	if !typed {
		kind, name = "", subject
	}
	if plainPart(name) && (!typed || plainPart(kind)) && (organisation == "" || plainPart(organisation)) {
		if typed {
			name = kind + "+" + name
		}
		if organisation != "" {
			name = organisation + "~" + name
		}
		return name
	}
	sum := sha256.Sum256([]byte(organisation + "\x00" + subject))
	return "+" + hex.EncodeToString(sum[:16])
}

// plainPart reports whether a name can be part of a file's name anywhere.
func plainPart(s string) bool {
	if s == "" || len(s) > 64 || strings.ContainsRune("._@-", rune(s[0])) || strings.HasSuffix(s, ".") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._@-", r)
	})
}

// withPerson puts the word in. As with every reference, $$ stands for a dollar sign.
func withPerson(text, word string) string {
	var b strings.Builder
	for {
		at := strings.Index(text, personRef)
		if at < 0 {
			return b.String() + text
		}
		before := text[:at]
		dollars := len(before) - len(strings.TrimRight(before, "$"))
		if dollars%2 == 1 {
			b.WriteString(before[:at-1] + word)
		} else {
			b.WriteString(before + personRef)
		}
		text = text[at+len(personRef):]
	}
}

// namesPerson reports whether a text refers to whom the server is for.
func namesPerson(text string) bool { return withPerson(text, "x") != withPerson(text, "y") }
