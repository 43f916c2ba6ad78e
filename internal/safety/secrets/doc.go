// Package secrets finds keys, tokens, passwords and private keys in texts and in
// JSON.
//
// Only internal/safety imports it: its guard and its vetter decide what is done
// with what is found. Of this module it imports the ground floor only. What it knows stands in
// two tables of our own, forms.txt (keys that are told by their look) and
// providers.txt (keys that only the name of their provider beside them tells),
// and in the lists of name.go (names of secrets, and what only stands for one):
//
//	text ─► words (one Aho-Corasick pass) ─► a form? the name of a provider?
//	        the name of a secret? an address, a header, a command?
//	     ─► a short look around that place, without a way back ─► a placeholder?
//
// No regular expression is used. Each word that is met costs a bounded look, so
// that the whole is linear in the text, whoever wrote that, and a small text
// without such words needs no memory.
//
// Its one invariant: what is taken out of a valid JSON text leaves a valid JSON
// text of the same shape, and a [Known] value never survives in it.
package secrets
