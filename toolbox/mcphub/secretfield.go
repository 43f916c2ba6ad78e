package mcphub

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// secretField finds a field of a form that asks for a secret by its name or its
// title. The protocol forbids servers to ask for one so: what is typed goes
// through the client, and often past a model.
func secretField(schema json.RawMessage) string {
	// Members are taken by their exact names, as clients take them: a struct would
	// take Properties for properties.
	var s, properties map[string]json.RawMessage
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil || json.Unmarshal(s["properties"], &properties) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := properties[name]
		if textMember(p, "type") == "boolean" || choice(p) {
			continue // whether or which, and not the secret itself
		}
		if secretName(name) || secretName(textMember(p, "title")) || textMember(p, "format") == "password" {
			return name
		}
	}
	return ""
}

// choice reports whether a field offers what can be chosen.
func choice(field json.RawMessage) bool {
	var all map[string]json.RawMessage
	if json.Unmarshal(field, &all) != nil {
		return false
	}
	if textMember(field, "type") == "array" {
		return choice(all["items"])
	}
	for _, key := range []string{"enum", "oneOf", "anyOf"} {
		var list []json.RawMessage
		if json.Unmarshal(all[key], &list) == nil && len(list) > 0 {
			return true
		}
	}
	return false
}

// secretName reports whether a name is that of a secret: its last words are,
// since a password_hint and a token_count are none.
func secretName(name string) bool {
	words := nameWords(name)
	for n := min(2, len(words)); n > 0; n-- {
		switch strings.Join(words[len(words)-n:], "") {
		case "password", "passwords", "passwd", "pwd", "passphrase", "passcode", "secret", "credential", "credentials",
			"apikey", "privatekey", "secretkey", "accesskey", "masterkey", "vaultkey",
			"accesstoken", "authtoken", "bearertoken", "apitoken", "refreshtoken", "sessiontoken", "personaltoken",
			"cvv", "cvc", "cardnumber", "creditcard", "seedphrase", "recoveryphrase":
			return true
		}
	}
	return len(words) == 1 && (words[0] == "token" || words[0] == "pin")
}

// nameWords takes a name apart, at what is no letter and where a capital begins.
func nameWords(name string) []string {
	var words []string
	var word []rune
	lower := false
	end := func() {
		if len(word) > 0 {
			words = append(words, string(word))
		}
		word = nil
	}
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
			end()
		default:
			if unicode.IsUpper(r) && lower {
				end()
			}
			word = append(word, unicode.ToLower(r))
		}
		lower = unicode.IsLower(r)
	}
	end()
	return words
}
