package secrets

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Hit says where in a JSON text a secret is, and by which rule.
type Hit struct {
	Path string // such as args.headers[2].value, from the name that was given
	Rule string
}

// maxPath bounds a path; what is longer is called by the name of the whole.
const maxPath = 200

// Hits says where the secrets of a JSON text are; name is what the whole of it
// is called.
func (s *Scanner) Hits(raw json.RawMessage, known *Known, name string) []Hit {
	found := s.Find(flatten(raw), known)
	if len(found) == 0 {
		return nil
	}
	var hits []Hit
	rest := found
	err := walk(raw, name, func(v *Visit) {
		for len(rest) > 0 && rest[0].End <= v.flatFrom {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].Start >= v.flatTo {
			return
		}
		hit := Hit{Path: v.Path(), Rule: rest[0].Rule}
		if len(hits) > 0 && hits[len(hits)-1] == hit {
			return
		}
		if hit.Path != name && len(s.Find(hit.Path, known)) > 0 {
			hit.Path = name // a key on the way is a secret itself
		}
		hits = append(hits, hit)
	})
	if err != nil || len(hits) == 0 {
		return []Hit{{Path: name, Rule: found[0].Rule}}
	}
	return hits
}

// Values calls see for every value that is no object or list.
func Values(raw json.RawMessage, name string, see func(*Visit)) error {
	return walk(raw, name, func(v *Visit) {
		if !v.isKey {
			see(v)
		}
	})
}

// All calls see for every key as well.
func All(raw json.RawMessage, name string, see func(*Visit)) error { return walk(raw, name, see) }

// Visit is a key or a value on the way through a JSON text. It holds only while
// it is shown.
type Visit struct {
	part
	raw   []byte
	name  string
	stack []level
}

// level is an object or list that is open.
type level struct {
	list     bool
	next     int // of a list
	from, to int // of the last key, in the text with its quotes; of a list, the key it stands under
}

// Token is the value: a text without its quotes, or a number or a name as it is
// written.
func (v *Visit) Token() (text string, isString bool) {
	if !v.isString {
		return string(v.raw[v.from:v.to]), false
	}
	return unquoted(v.raw[v.from:v.to]), true
}

// Key is the last key on the way here; a list stands under the key of its own.
// Of one that is very long it is the end, which tells what it is the name of.
func (v *Visit) Key() string {
	if len(v.stack) == 0 {
		return ""
	}
	top := v.stack[len(v.stack)-1]
	quoted := v.raw[top.from:top.to]
	if len(quoted) > 6*maxPath {
		quoted = quoted[len(quoted)-6*maxPath:]
	}
	return unquoted(quoted)
}

// Path leads here. One that is too long to be read is only the name of the
// whole: a path is made for people, and must cost no more than they read.
func (v *Visit) Path() string {
	path := append(make([]byte, 0, 64), v.name...)
	for i, l := range v.stack {
		switch {
		case l.list:
			path = append(strconv.AppendInt(append(path, '['), int64(l.next), 10), ']')
		case v.isKey && i == len(v.stack)-1: // it stands in the object, under no key
		default:
			if l.to-l.from > 6*maxPath {
				return v.name
			}
			path = append(append(path, '.'), unquoted(v.raw[l.from:l.to])...)
		}
		if len(path) > len(v.name)+maxPath {
			return v.name
		}
	}
	return string(path)
}

func unquoted(quoted []byte) string {
	var b strings.Builder
	unquote(&b, quoted)
	return b.String()
}

// walk goes through a JSON text.
func walk(raw []byte, name string, see func(*Visit)) error {
	if !json.Valid(raw) {
		return errors.New("reading JSON: it is not valid")
	}
	v := &Visit{raw: raw, name: name}
	parts(raw, func(t part) {
		switch {
		case !t.isString:
			v.between(t, see)
		case t.isKey:
			top := &v.stack[len(v.stack)-1]
			top.from, top.to = t.from, t.to
			fallthrough
		default:
			v.part = t
			see(v)
		}
	})
	return nil
}

// between goes through what stands between two strings.
func (v *Visit) between(t part, see func(*Visit)) {
	for i := t.from; i < t.to; {
		switch c := v.raw[i]; {
		case c == '{' || c == '[':
			open := level{list: c == '['}
			if n := len(v.stack); n > 0 && open.list {
				open.from, open.to = v.stack[n-1].from, v.stack[n-1].to
			}
			v.stack = append(v.stack, open)
		case c == '}' || c == ']':
			v.stack = v.stack[:len(v.stack)-1]
		case c == ',':
			v.stack[len(v.stack)-1].next++
		case !structure(c):
			from := i
			for i < t.to && !structure(v.raw[i]) {
				i++
			}
			v.part = part{from: from, to: i, flatFrom: t.flatFrom + from - t.from, flatTo: t.flatFrom + i - t.from}
			see(v)
			continue
		}
		i++
	}
}
