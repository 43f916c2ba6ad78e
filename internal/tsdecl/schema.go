package tsdecl

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// node is one schema taken apart: its keywords as they are written.
type node struct {
	raw   json.RawMessage
	words map[string]json.RawMessage // nil: it says nothing, such as true
	never bool                       // false: nothing fits
}

// open takes a schema apart. What is none is taken for one that says nothing.
func open(raw json.RawMessage) node {
	n := node{raw: raw}
	switch {
	case string(raw) == "false":
		n.never = true
	case len(raw) > 0 && raw[0] == '{':
		n.words = map[string]json.RawMessage{}
		if jsontext.Members(raw, func(m jsontext.Member) bool { n.words[m.Key] = m.Value; return true }) != nil {
			n.words = nil
		}
	}
	return n
}

func (n node) string(word string) string {
	var s string
	if json.Unmarshal(n.words[word], &s) != nil {
		return ""
	}
	return s
}

func (n node) list(word string) []json.RawMessage {
	var l []json.RawMessage
	if json.Unmarshal(n.words[word], &l) != nil {
		return nil
	}
	return l
}

// types are the names of the types that a schema allows; none: it does not say.
func (n node) types() []string {
	if s := n.string("type"); s != "" {
		return []string{s}
	}
	var l []string
	if json.Unmarshal(n.words["type"], &l) != nil {
		return nil
	}
	return l
}

func (n node) truth(word string) bool { return string(n.words[word]) == "true" }

// required are the names that have to be there.
func (n node) required() map[string]bool {
	out := map[string]bool{}
	for _, raw := range n.list("required") {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			out[s] = true
		}
	}
	return out
}

// count reads a limit, -1 if there is none.
func (n node) count(word string) int {
	var c int
	if raw, ok := n.words[word]; !ok || json.Unmarshal(raw, &c) != nil || c < 0 {
		return -1
	}
	return c
}

// root is a schema as a whole. It finds what references inside its text lead to, and keeps what it has taken apart: a text with
// thousands of references is not read thousands of times.
type root struct {
	text  json.RawMessage // nil: it cannot be read
	top   node
	inner map[string]node // by pointer
}

func newRoot(schema json.RawMessage) *root {
	r := &root{inner: map[string]node{}}
	if readable(schema) {
		r.text = bytes.TrimSpace(schema)
		r.top = open(r.text)
	}
	return r
}

// resolve gives nil if there is nothing.
func (a *root) resolve(ref string) json.RawMessage {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok || len(rest) > 1000 {
		return nil
	}
	pointer, err := url.PathUnescape(rest)
	if err != nil || pointer != "" && pointer[0] != '/' {
		return nil
	}
	at, done := a.text, 0
	if pointer == "" {
		return at
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		place := pointer[:done]
		done += 1 + len(step)
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if len(at) > 0 && at[0] == '[' {
			at = element(at, step)
		} else {
			n, known := a.inner[place]
			if !known {
				n = open(at)
				a.inner[place] = n
			}
			at = n.words[step]
		}
		if at == nil {
			return nil
		}
	}
	return at
}

func element(list json.RawMessage, step string) json.RawMessage {
	var l []json.RawMessage
	var i int
	if json.Unmarshal(list, &l) != nil || json.Unmarshal([]byte(step), &i) != nil || i < 0 || i >= len(l) {
		return nil
	}
	return l[i]
}

// readable reports whether a text is fit to be taken apart.
func readable(raw json.RawMessage) bool {
	return len(raw) <= maxSchema && json.Valid(raw) && jsontext.Depth(string(raw)) <= maxNested
}
