package oauth

import (
	"net/http"
	"slices"
	"strings"
)

const (
	maxChallenge = 16 << 10 // bytes of one header
	maxScopes    = 64
)

// demand is what a server says it wants, in the Bearer challenges of its refusal.
type demand struct {
	metadata string   // where its metadata lies
	scopes   []string // what a token has to be good for
	fault    string   // what was wrong with the token that was sent
}

// parseDemand reads the challenges of a refusal. What cannot be read is left
// out: the metadata has a place where it is looked for anyway.
func parseDemand(h http.Header) demand {
	var d demand
	for _, value := range h.Values("WWW-Authenticate") {
		for _, c := range parseChallenges(value) {
			if c.scheme != "bearer" {
				continue
			}
			if d.metadata == "" {
				d.metadata = c.params["resource_metadata"]
			}
			if len(d.scopes) == 0 {
				d.scopes = parseScopes(c.params["scope"])
			}
			if d.fault == "" {
				d.fault = c.params["error"]
			}
		}
	}
	return d
}

// challenge is one way of authentication that a server offers. The scheme and
// the names of the parameters are in small letters.
type challenge struct {
	scheme string
	params map[string]string
}

// parseChallenges reads one WWW-Authenticate header. A comma separates both
// parameters and challenges; a word that is followed by = is a parameter, any
// other begins a challenge. Reading ends at the first thing that is neither.
func parseChallenges(text string) []challenge {
	if len(text) > maxChallenge {
		return nil
	}
	var found []challenge
	s := &scanner{rest: text}
	for {
		s.skip(" \t,")
		word := s.token()
		if word == "" {
			return found
		}
		spaced := s.skip(" \t")
		if strings.HasPrefix(s.rest, "=") {
			s.rest = s.rest[1:]
			s.skip(" \t")
			value, ok := s.value()
			if !ok || len(found) == 0 {
				return found
			}
			params, name := found[len(found)-1].params, strings.ToLower(word)
			if _, twice := params[name]; !twice {
				params[name] = value
			}
			continue
		}
		found = append(found, challenge{scheme: strings.ToLower(word), params: map[string]string{}})
		if spaced {
			s.token68()
		}
	}
}

type scanner struct{ rest string }

func (s *scanner) skip(set string) bool {
	was := len(s.rest)
	s.rest = strings.TrimLeft(s.rest, set)
	return len(s.rest) < was
}

func (s *scanner) token() string {
	end := strings.IndexFunc(s.rest, func(r rune) bool { return !isTokenRune(r) })
	if end < 0 {
		end = len(s.rest)
	}
	word := s.rest[:end]
	s.rest = s.rest[end:]
	return word
}

// token68 steps over a blob of credentials that stands in the place of
// parameters, as after Negotiate.
func (s *scanner) token68() {
	end := strings.IndexFunc(s.rest, func(r rune) bool { return !isTokenRune(r) && r != '/' })
	if end < 0 {
		end = len(s.rest)
	}
	after := strings.TrimLeft(s.rest[end:], "=")
	if tail := strings.TrimLeft(after, " \t"); tail == "" || tail[0] == ',' {
		s.rest = after
	}
}

// value reads a word or a quoted text.
func (s *scanner) value() (string, bool) {
	if !strings.HasPrefix(s.rest, `"`) {
		end := strings.IndexAny(s.rest, ", \t\"")
		if end < 0 {
			end = len(s.rest)
		}
		word := s.rest[:end]
		s.rest = s.rest[end:]
		return word, true
	}
	var b strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; c {
		case '"':
			s.rest = s.rest[i+1:]
			return b.String(), true
		case '\\':
			if i++; i == len(s.rest) {
				return "", false
			}
			b.WriteByte(s.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

func isTokenRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r < 0x80 && strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// parseScopes splits a list of scopes as it stands on the wire, without what
// cannot be one.
func parseScopes(text string) []string {
	var scopes []string
	for s := range strings.FieldsSeq(text) {
		if isScope(s) && !slices.Contains(scopes, s) && len(scopes) < maxScopes {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// isScope reports whether a word can be a scope: visible ASCII but " and \.
func isScope(s string) bool {
	return s != "" && len(s) <= 256 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// union has every scope of all lists once, in the order of first mention.
func union(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, s := range list {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// without has the scopes of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// subset reports whether every scope of a is in b.
func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}
