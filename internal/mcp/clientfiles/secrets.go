package clientfiles

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/redact"
)

// Found is a credential that stood in a server's entry. Value is to be put into
// the vault under Name; the entry has ${secret:Name} in its place.
type Found struct {
	Name  string
	Value string
	Where string // env.GITHUB_TOKEN, headers.Authorization, args[2], url
}

// Secrets takes what looks like a credential out of a server: by the name of
// its variable, header, option or query parameter, and by its own look. known
// is asked about values whose names say nothing; it may be nil. References and
// placeholders stay as they are.
func Secrets(s Server, known func(string) bool) (Server, []Found) {
	f := &finder{server: s.Name, known: known, byName: map[string]string{}}
	s.Env, s.Headers = maps.Clone(s.Env), maps.Clone(s.Headers)
	s.Args, s.Notes = slices.Clone(s.Args), slices.Clone(s.Notes)
	for _, k := range sortedKeys(s.Env) {
		s.Env[k] = f.named(s.Env[k], k, "env."+show(k))
	}
	for _, k := range sortedKeys(s.Headers) {
		s.Headers[k] = f.header(s.Headers[k], k, "headers."+show(k))
	}
	f.args(s.Command, s.Args)
	s.URL = f.address(s.URL, "url", "url")
	if secret := s.OAuth.ClientSecret; secret != "" && !f.leave(secret, "oauth.client_secret") {
		s.OAuth.ClientSecret = f.keep(secret, "client-secret", "oauth.client_secret")
	}
	s.Notes = append(s.Notes, f.notes...)
	return s, f.found
}

type finder struct {
	server string
	known  func(string) bool
	found  []Found
	byName map[string]string
	notes  []string
	code   bool // the argument is a program for an interpreter
}

// keep stores a value and gives the reference to it. An argument that a shell or
// an interpreter could carry out stays in sight: a person is to see every command
// whole.
func (f *finder) keep(text, label, where string) string {
	plain := unescape(text)
	letters := keyLetters + "+/=.~:%@!#,^*"
	if f.code {
		letters = keyLetters
	}
	if strings.HasPrefix(where, "args[") && strings.Trim(plain, letters) != "" {
		f.mayBeCode(where)
		return text
	}
	name := secretName(f.server + "-" + label)
	for n := 2; ; n++ {
		have, taken := f.byName[name]
		if taken && have == plain {
			return "${secret:" + name + "}"
		}
		if !taken {
			break
		}
		name = secretName(fmt.Sprintf("%s-%s-%d", f.server, label, n))
	}
	f.byName[name] = plain
	f.found = append(f.found, Found{Name: name, Value: plain, Where: where})
	return "${secret:" + name + "}"
}

func (f *finder) mayBeCode(where string) {
	f.notes = append(f.notes, where+" may hold a secret, and could be code too: it stays as it is; put the secret into the vault yourself")
}

// keyLetters are those of keys that no language does anything with.
const keyLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// named judges a value by its name first.
func (f *finder) named(text, name, where string) string {
	if inner, ok := withDefault(text); ok {
		if !filler(inner) && (secretByName(name, inner) || f.looks(inner) || f.inAddress(inner)) && !f.leave(inner, where) {
			return strings.TrimSuffix(text, inner+"}") + f.keep(inner, name, where) + "}"
		}
		return text // it stays a variable
	}
	if scheme, rest, ok := cutScheme(text); ok && !f.leave(rest, where) {
		return scheme + f.keep(rest, name, where)
	}
	if strings.Contains(text, "://") {
		return f.address(text, name, where)
	}
	if secretByName(name, text) && !f.leave(text, where) {
		return f.keep(text, name, where)
	}
	return f.words(text, name, where)
}

// header knows besides that credentials stand behind the name of a scheme.
func (f *finder) header(text, name, where string) string {
	if strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Proxy-Authorization") || strings.EqualFold(name, "Cookie") {
		if _, _, ok := cutScheme(text); !ok && !f.leave(text, where) {
			return f.keep(text, name, where)
		}
	}
	return f.named(text, name, where)
}

// words looks for credentials inside a text by their look alone.
func (f *finder) words(text, label, where string) string {
	if text == "" || f.leave(text, "") && !strings.ContainsAny(text, " ,;") {
		return text
	}
	if strings.Contains(text, "-----BEGIN ") && f.looks(text) {
		return f.keep(text, label, where)
	}
	const apart = " \t\r\n,;\"'=&|"
	var out strings.Builder
	hit := false
	for _, p := range references(text) {
		if p.ref {
			out.WriteString(p.text)
			continue
		}
		for rest := p.text; rest != ""; {
			end := strings.IndexAny(rest, apart)
			if end == 0 {
				out.WriteByte(rest[0])
				rest = rest[1:]
				continue
			}
			if end < 0 {
				end = len(rest)
			}
			if word := rest[:end]; f.looks(word) {
				hit = true
				out.WriteString(f.keep(word, label, where))
			} else {
				out.WriteString(word)
			}
			rest = rest[end:]
		}
	}
	if !hit && f.known != nil && withoutReferences(text) == text && f.known(unescape(text)) {
		return f.keep(text, label, where)
	}
	return out.String()
}

// looks reports whether a text looks like a credential whatever its name.
func (f *finder) looks(text string) bool {
	plain := unescape(text)
	return len(plain) >= 8 && (redact.Text(plain) != plain || f.known != nil && f.known(plain))
}

// leave reports whether a value is no secret to be stored: it is empty, holds a
// reference, names a variable that the program itself puts in (as mcp-remote
// does in its headers), or is what a manual says to replace.
func (f *finder) leave(text, where string) bool {
	if strings.TrimSpace(text) == "" || withoutReferences(text) != text || namesVariable(unescape(text)) {
		return true
	}
	if placeholder(text) {
		if where != "" {
			f.notes = append(f.notes, where+" is a placeholder, not a secret")
		}
		return true
	}
	return false
}

func namesVariable(text string) bool {
	for _, form := range [...]struct{ open, shut string }{{"${", "}"}, {"$", ""}, {"%", "%"}} {
		inner, ok := strings.CutPrefix(text, form.open)
		if inner, shut := strings.CutSuffix(inner, form.shut); ok && shut && IsVariable(inner) {
			return true
		}
	}
	return false
}

func placeholder(text string) bool {
	lower := strings.ToLower(strings.TrimSpace(text))
	bracketed := strings.HasPrefix(lower, "<") && strings.HasSuffix(lower, ">")
	return bracketed || strings.HasPrefix(lower, "your") || strings.HasPrefix(lower, "replace") || strings.HasPrefix(lower, "changeme") ||
		strings.Trim(lower, "x") == "" || strings.Trim(lower, "*") == "" || strings.Trim(lower, ".…") == ""
}

// inAddress reports whether a text is an address with a credential in it.
func (f *finder) inAddress(text string) bool {
	probe := &finder{server: f.server, known: f.known, byName: map[string]string{}}
	return probe.address(text, "url", "") != text
}

// filler reports whether a default only says that there is none.
func filler(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "none", "null", "nil", "undefined", "unset", "empty", "default", "dummy", "test", "example", "todo", "missing", "disabled", "anonymous", "-", "n/a", "na":
		return true
	}
	return false
}

// withDefault gives the default of ${VAR:-default}, if that is all there is.
func withDefault(text string) (string, bool) {
	list := references(text)
	if len(list) != 1 || !list[0].ref {
		return "", false
	}
	_, inner, ok := strings.Cut(strings.TrimSuffix(text, "}"), ":-")
	return inner, ok && inner != ""
}

// cutScheme takes "Bearer " and its kin from a text with one word behind it.
func cutScheme(text string) (scheme, rest string, ok bool) {
	word, rest, ok := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" || strings.ContainsAny(rest, " \t") {
		return "", "", false
	}
	switch strings.ToLower(word) {
	case "bearer", "basic", "token", "apikey", "api-key", "digest":
		return word + " ", rest, true
	}
	return "", "", false
}

// secretName makes a name that the vault takes. A name that had to be changed
// gets a mark of what it was, so that two servers never share one.
func secretName(name string) string {
	const limit = 100
	var b strings.Builder
	for i := 0; i < len(name) && b.Len() < limit; i++ {
		c := name[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
		if !plain {
			c = '_'
		}
		if b.Len() == 0 && (c == '-' || c == '.') {
			continue
		}
		b.WriteByte(c)
	}
	if b.String() == name && name != "" {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	if b.Len() == 0 {
		b.WriteString("secret")
	}
	return b.String() + "-" + hex.EncodeToString(sum[:4])
}
