package spec

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Template is a path with places for values. It alternates: text, name, text, …, text.
type Template struct {
	parts []string
	query string          // what stands behind a ? in the path, as some documents have it
	rest  map[string]bool // places that take several segments: {+name}
}

// ParseTemplate reads a path such as /pets/{id}.
func ParseTemplate(path string) (Template, error) {
	path, _, _ = strings.Cut(path, "#") // it tells operations apart and is never sent
	path, query, _ := strings.Cut(path, "?")
	if strings.ContainsAny(query, "{}") {
		query = "" // a template of what the parameters say anyway
	}
	if len(path) > 8192 {
		return Template{}, errors.New("the path is longer than 8192 bytes")
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	t := Template{query: strings.Clone(query)}
	rest := path
	for {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			break
		}
		j := strings.IndexByte(rest[i:], '}')
		if rest[i] == '}' || j < 0 {
			return Template{}, fmt.Errorf("the path %s has a brace without its partner", quoted(path))
		}
		name := rest[i+1 : i+j]
		if strings.ContainsAny(name, "{") {
			return Template{}, fmt.Errorf("the path %s has a brace without its partner", quoted(path))
		}
		several := strings.HasPrefix(name, "+")
		name = strings.TrimSuffix(strings.TrimLeft(name, "+.;*/?&"), "*")
		if before, _, found := strings.Cut(name, ":"); found { // {id:[0-9]+}
			name = before
		}
		if several {
			if t.rest == nil {
				t.rest = map[string]bool{}
			}
			t.rest[strings.Clone(name)] = true
		}
		if name == "" {
			return Template{}, fmt.Errorf("the path %s has a place without a name", quoted(path))
		}
		t.parts = append(t.parts, literal(rest[:i]), strings.Clone(name))
		rest = rest[i+j+1:]
	}
	t.parts = append(t.parts, literal(rest))
	for i := 0; i < len(t.parts); i += 2 {
		for s := range strings.SplitSeq(t.parts[i], "/") {
			if (s == "." || s == "..") && len(t.parts) == 1 {
				return Template{}, fmt.Errorf("the path %s leads upwards", quoted(path))
			}
		}
	}
	return t, nil
}

// literal is text of a path as it is sent. What is escaped already stays so.
func literal(s string) string {
	if _, err := url.PathUnescape(s); err != nil {
		s = strings.ReplaceAll(s, "%", "%25")
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/%!$&'()*+,;=:@", c) >= 0:
			b.WriteByte(c)
		default:
			const hex = "0123456789ABCDEF"
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// Names lists the places, each once.
func (t Template) Names() []string {
	var out []string
	for i := 1; i < len(t.parts); i += 2 {
		if !slices.Contains(out, t.parts[i]) {
			out = append(out, t.parts[i])
		}
	}
	return out
}

// Several reports whether a place takes several segments, so that a slash in its value stays one.
func (t Template) Several(name string) bool { return t.rest[name] }

// Query is the fixed part of the query.
func (t Template) Query() string { return t.query }

// Fill puts values in, which have to be escaped already. No segment of the outcome may
// be a dot segment, escaped or not: servers and proxies read %2E as a dot.
func (t Template) Fill(value func(name string) (string, error)) (string, error) {
	var b strings.Builder
	for i, part := range t.parts {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		v, err := value(part)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
	}
	segments := strings.Split(b.String(), "/")
	for _, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil {
			return "", errors.New("the path cannot be made of these values")
		}
		if plain == "." || plain == ".." {
			return "", fmt.Errorf("a value of the path is %q: that would lead to another operation", plain)
		}
	}
	return strings.Join(segments, "/"), nil
}

// GobEncode keeps nothing of it: a template is read again from its path.
func (t Template) GobEncode() ([]byte, error) { return nil, nil }

// GobDecode leaves it empty; see [Template.GobEncode].
func (t *Template) GobDecode([]byte) error { return nil }
