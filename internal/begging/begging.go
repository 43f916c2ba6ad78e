// Package begging knows questions that ask a person for a secret. Servers ask by
// forms and tools by the desk; what a person types goes to a model either way, so
// both warn in the same words. It imports nothing of ours. Its one invariant: it
// judges, and changes no text.
//
// The entry is [Warning].
package begging

import (
	"slices"
	"strings"
)

// Warning is what a person is told before a question that speaks of secrets; empty
// for any other. It begins with a blank, to stand behind "asks".
func Warning(texts ...string) string {
	if slices.ContainsFunc(texts, speaks) {
		return " (give it no password, passphrase or key here: it must not ask for one)"
	}
	return ""
}

// speaks reports whether a text has a word for a secret in it. Line ends and other
// blanks between two words do not count.
func speaks(text string) bool {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	return slices.ContainsFunc([]string{"password", "passphrase", "passcode", "api key", "apikey", "private key", "access token", "credential", "seed phrase", "your token", "your vault"}, func(word string) bool { return strings.Contains(text, word) })
}
