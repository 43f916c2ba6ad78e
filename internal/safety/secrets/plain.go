package secrets

import "strings"

// plainPassword: a password that looks like nothing at all, where its place says
// that it is one: a connection string, a login, a line of settings.
func (h *textScan) plainPassword(text string, v value, m composition, op operator) bool {
	if m.space && h.phrase(text, v, m, op) {
		return true
	}
	if op == opComma && !h.setter(v) && !v.word || op == opCall || m.space && (!v.quoted || strings.Count(text, " ") > 2) {
		return false
	}
	if !v.quoted && !v.linked && m.letters()+strings.Count(text, "_")+strings.Count(text, ".") == len(text) && (h.lexicon.tells.in(text) && !v.tight || strings.IndexByte(text, '.') >= 0 || byteAt(h.text, v.to) == ',' || byteAt(h.text, v.to) == ';') {
		return false // a name in source code
	}
	if v.linked || h.withUser(v, op) {
		return h.weak(text, v, m)
	}
	if m.space || !v.setting && !v.quoted || len(text) < 4 || !v.quoted && (!v.word && !h.endsLine(v) || strings.Contains(text, "::")) || wordOfLanguage(text, m) && !v.tight && !v.word {
		return false
	}
	if m.kebab && m.other > 0 && m.lower > 0 && v.quoted && v.setting && passphrase(text) && !h.lexicon.tells.in(text) {
		return h.weak(text, v, m)
	}
	if op == opTag && m.other == 0 && !h.namesItself(text, v) && h.weak(text, v, m) {
		return true
	}
	if h.lexicon.tells.in(text) && !(v.quoted && !v.compared && containsFold(text, "secret") && !h.namesSecret(text)) {
		// A name more often than a password, but for what nobody would name so.
		return h.weak(text, v, m) && (len(text) >= 12 && m.lower == len(text) || m.digit > 0 && m.other == 0 && (v.quoted || v.tight || v.word || op == opPair || h.colonBefore(v.from) && !containsFold(text, "passw")) && !fieldName(text) || v.tight && v.setting && m.other == 0 && m.lower > 0 && m.upper > 0)
	}
	if !v.quoted && !v.tight && !v.word && m.digit == 0 && (m.other > 0 || m.lower != len(text) || op != opPair && !h.colonBefore(v.from) && !h.inSection(v.from)) {
		return false
	}
	return h.weak(text, v, m) && (m.other == 0 || m.digit > 0 || v.quoted && !m.kebab || v.tight || v.word)
}

// phrase: several words in quotes behind the sign of an assignment, and nothing
// that a program says to people: that begins with a capital or is about a password.
func (h *textScan) phrase(text string, v value, m composition, op operator) bool {
	if op != opAssign || !v.quoted || v.compared || strings.Count(text, " ") > 8 || len(text) < 6 || upper(text[0]) || text[0] <= ' ' || text[len(text)-1] <= ' ' || m.letters() < 4 || strings.ContainsAny(text, "%${}<>()[]:=\\\n\"'`") || spoken(text) || h.placeholder(text) {
		return false
	}
	if before := strings.TrimRight(h.text[max(0, v.from-8):v.from], " \t\"'`"); before != "" && before[len(before)-1] == ':' {
		return (v.setting || v.sure) && quoteByte(h.text[v.from-1]) && m.lower+m.digit+strings.Count(text, " ") == len(text) && strings.Count(text, " ") < 6 && h.keyBare(v.from)
	}
	return true
}

// spoken: a sentence that a program says about a password or a key.
func spoken(text string) bool {
	return containsAnyFold(text, "passw", "passphrase", "secret", "token", "api", "your", "please", "enter", "must", "valid", "required", "optional", "login", "user", "default", "the ", "this ")
}

// keyBare: the name before a colon has no quotes, so that this is a file of
// settings or source code and no text of a program in other languages.
func (h *textScan) keyBare(at int) bool {
	i := at - 2
	for i > 0 && (h.text[i] == ' ' || h.text[i] == ':') {
		i--
	}
	return i > 0 && wordByte(h.text[i])
}

// passphrase: at least three words of three letters or more, with one sign between
// them.
func passphrase(text string) bool {
	sign := byte('-')
	if strings.IndexByte(text, '_') >= 0 {
		sign = '_'
	}
	n, words := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == sign:
			if n < 3 {
				return false
			}
			n = 0
			words++
		case text[i] >= 'a' && text[i] <= 'z':
			n++
		default:
			return false
		}
	}
	return words >= 3
}

// namesSecret: the name of a field or a setting with the word secret in it.
func (h *textScan) namesSecret(text string) bool {
	low := strings.ToLower(text)
	return containsAnyFold(text, "key", "token", "pass", "pwd", "auth", "cred", "client", "name", "id", "field", "input", "api") ||
		strings.ContainsAny(text, "._-/:") || low == "secret" || low == "secrets"
}

// setter: a function that sets what it is given by name, or gives it if there is
// none, is called here: define("NAME", "value").
func (h *textScan) setter(v value) bool {
	before := h.text[max(0, v.from-96):v.from]
	open := strings.LastIndexByte(before, '(')
	if open < 0 || !v.quoted || strings.IndexByte(before[open:], '[') >= 0 {
		return false
	}
	for _, word := range [...]string{"define", "put", "set", "setproperty", "setenv", "getenv", "environ.get", "env", "setdefault", "setparameter", "setattribute", "addparameter", "setconfig", "setitem", "addheader", "setheader"} {
		if n := open - len(word); n >= 0 && strings.EqualFold(before[n:open], word) && (n == 0 || !letter(before[n-1]) || upper(before[n])) {
			return true
		}
	}
	return false
}

// fieldName: password1, newPassword2, token_2: a field of a form.
func fieldName(text string) bool {
	name := strings.TrimRight(text, "0123456789")
	return len(text)-len(name) == 1 && (strings.HasSuffix(strings.ToLower(name), "password") || wordy(name))
}

// colonBefore: a colon and a space stand before a value, as in YAML.
func (h *textScan) colonBefore(at int) bool {
	return at > 2 && h.text[at-1] == ' ' && h.text[at-2] == ':' && wordByte(h.text[at-3])
}

// wordOfLanguage: Password, PASSWORD: what a person reads, or a name.
func wordOfLanguage(text string, m composition) bool {
	return m.letters() == len(text) && (upper(text[0]) && m.upper == 1 || m.upper == len(text)) || text[0] >= 0x80
}

// endsLine: nothing but a comment follows a value on its line.
func (h *textScan) endsLine(v value) bool {
	i := endOf(h.text, v.to, len(h.text), func(c byte) bool { return strings.IndexByte(" \t,;\r", c) >= 0 })
	return i >= len(h.text) || h.text[i] == '\n' || h.text[i] == '#' || quoteByte(h.text[i]) || h.text[i] == '\\'
}

// userReach is how far before a password the name of its user is looked for.
const userReach = 120

// withUser: a name of a user with its value stands before the password, so that
// this is a login and not the description of one.
func (h *textScan) withUser(v value, op operator) bool {
	if op != opAssign && op != opSpace && op != opTag && op != opPair || !v.quoted && !v.setting && !strings.ContainsAny(h.text[v.from:v.to], "0123456789") {
		return false
	}
	t := h.text
	for _, word := range [...]string{"user", "login", "email", "id"} {
		before := t[max(0, v.from-userReach):v.from]
		for {
			n := lastFold(before, word)
			if n < 0 {
				break
			}
			rest := strings.TrimLeft(before[n+len(word):], "nameNAMEidID_")
			if op == opSpace && v.quoted && len(rest) > 2 && rest[0] == ' ' && quoteByte(rest[1]) && rest[2] != rest[1] {
				return true // username "bob"
			}
			rest = strings.TrimLeft(rest, "\"'`] \t")
			if rest != "" && (rest[0] == '=' || rest[0] == ':' && !strings.HasPrefix(rest, "::")) {
				rest = strings.TrimLeft(rest, "=:> \t")
				if rest != "" && (quoteByte(rest[0]) && len(rest) > 1 && rest[1] != rest[0] || wordByte(rest[0]) && !v.quoted) {
					return true
				}
			}
			before = before[:n]
		}
	}
	return false
}

func lastFold(s, word string) int {
	for i := len(s) - len(word); i >= 0; i-- {
		if lower(s[i]) == word[0] && hasFold(s[i:], word) {
			return i
		}
	}
	return -1
}

// weak: a value that is no good password and yet is one, and no placeholder.
func (h *textScan) weak(text string, v value, m composition) bool {
	if v.linked && m.letters() == len(text) && len(text) >= 4 {
		switch strings.ToLower(text) {
		case "password", "string", "none", "null", "true", "false", "undefined":
			return false
		}
		return !hasFold(text, "your")
	}
	if h.placeholder(text) || number(text) || text[0] == '\\' || m.distinct < 2 || spliced(text) || !v.quoted && strings.ContainsAny(text, "()[]{}<>|*") || fileLike(text) || typeName(strings.ToLower(text)) {
		return false
	}
	if v.quoted && !v.setting && !v.linked && m.upper > 0 && m.lower > 0 && m.digit+m.other == 0 && wordy(text) && !(containsFold(text, "secret") && !h.namesSecret(text) && !v.compared) {
		return false // userName
	}
	return m.digit > 0 && m.digit+m.letters() > 3 || m.letters() >= 4 || v.linked && m.letters() >= 3
}

// typeName: what a setting or a field is said to be made of, or what it is called.
func typeName(text string) bool {
	switch text {
	case "password", "passwd", "pass", "pwd", "string", "str", "text", "required", "true", "false", "none", "nil", "null", "token", "secret", "optional", "varchar", "hash", "hashed", "value", "username", "user", "prompt", "bytes", "any", "object", "unknown", "number", "error", "type", "field", "input", "data", "bearer", "basic", "default", "empty", "auto", "credentials", "passphrase", "passwort", "self", "this", "mypass", "newpassword", "oldpassword", "userpassword", "yourpassword", "char", "bool", "const", "public", "private", "static", "return", "await", "async", "function", "undefined", "never", "void", "integer", "boolean", "sensitive", "readonly", "disabled", "enabled", "always", "encrypted", "plaintext", "stdin", "keyring", "prompted", "nullable", "hidden", "missing", "invalid", "random", "generated", "cleartext", "kennwort", "wachtwoord", "senha", "contraseña", "contrasena", "motdepasse", "lozinka", "heslo", "haslo", "parola", "salasana", "button", "submit", "name", "label", "email", "login", "json", "yaml", "file", "path", "url", "uri", "model", "schema", "strict", "simple", "plain", "argon2", "bcrypt", "scrypt", "pbkdf2", "sha1", "sha256", "sha512", "md5", "off", "yes", "new", "current", "current-password", "new-password", "one-time-code", "config", "params", "props", "state", "options", "args", "method", "example", "changed", "expired", "reset", "https", "http", "root_password", "db_password", "get", "post", "set", "not", "and", "for", "with", "from", "in":
		return true
	}
	return false
}
