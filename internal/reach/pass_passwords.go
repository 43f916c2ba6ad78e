package reach

import (
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// tokenLeast is how long a name has to be that may be a token.
const tokenLeast = 16

// addressScheme is what an address of a proxy may begin with.
var addressScheme = pattern.Of(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// escaped is one letter as addresses write it.
var escaped = pattern.Of(`%[0-9A-Fa-f]{2}`)

// Passwords are those in the addresses that are passed, as they stand
// there and as they are meant, with their names and without. Programs take
// addresses that are none to url.Parse, so they are also read by hand: up to the
// last @, and with every sign in between.
func (p Pass) Passwords(env func(string) (string, bool)) []string {
	var out []string
	add := func(login string) {
		user, password, _ := strings.Cut(login, ":")
		found := []string{login, password}
		if password == "" {
			found = []string{user} // a token alone stands where names do
			if len(user) < tokenLeast {
				return
			}
		}
		for _, written := range found {
			meant := escaped.Regexp().ReplaceAllStringFunc(written, func(code string) string {
				letter, err := hex.DecodeString(code[1:])
				if err != nil {
					return code
				}
				return string(letter)
			})
			for _, text := range []string{written, meant} {
				if !slices.Contains(out, text) {
					out = append(out, text)
				}
			}
		}
	}
	for _, rest := range p.addresses(env) {
		end := strings.LastIndexByte(rest, '@')
		if end < 0 {
			continue
		}
		add(rest[:end])
		// An @ after the host ends nothing; and this is how Go's programs write it.
		if u, err := url.Parse("http://" + rest); err == nil && u.User != nil {
			add(u.User.String())
		}
	}
	return out
}

// addresses are those in the variables that are passed, without their schemes: of a proxy
// the whole value, which may have no scheme, and elsewhere every word that has one.
func (p Pass) addresses(env func(string) (string, bool)) (out []string) {
	for _, name := range p.Names(env) {
		value, _ := env(name)
		if strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			value = strings.TrimSpace(value)
			out = append(out, value[len(addressScheme.Regexp().FindString(value)):])
			continue
		}
		for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == ',' || r == '|' }) {
			if _, rest, ok := strings.Cut(word, "://"); ok {
				out = append(out, rest)
			}
		}
	}
	return out
}
