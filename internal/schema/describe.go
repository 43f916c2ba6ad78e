package schema

import (
	"slices"
	"strings"
)

// typeNames gives the types that the subschema at node at of a schema names.
func typeNames(sd *Doc, at uint32) []string {
	v, ok := Node{sd, at}.Member("type")
	if !ok {
		return nil
	}
	if v.Kind() == String {
		return []string{string(v.Str())}
	}
	var names []string
	for _, e := range v.Elems() {
		names = append(names, string(e.Str()))
	}
	return names
}

// maxForms bounds how much of a schema is read to describe it, and maxForm the description in bytes: alternatives of
// alternatives would fill a page.
const (
	maxForms = 64
	maxForm  = 300
)

// describe says in a few words what the subschema at node at asks for.
func describe(sd *Doc, at uint32) string {
	left := maxForms
	return cut(describeDepth(sd, at, &left), maxForm)
}

func describeDepth(sd *Doc, at uint32, left *int) string {
	n := Node{sd, at}
	if *left--; *left < 0 || n.Kind() != Object {
		return "a value"
	}
	if v, ok := n.Member("const"); ok {
		return show(sd, v.i)
	}
	if v, ok := n.Member("enum"); ok && v.Len() > 0 {
		var list []string
		for j, e := range v.Elems() {
			if j == 8 {
				list = append(list, "another listed value")
				break
			}
			list = append(list, show(sd, e.i))
		}
		return orList(list)
	}
	if names := typeNames(sd, at); len(names) > 0 {
		for j := range names {
			names[j] = article(names[j])
		}
		return orList(names)
	}
	if v, ok := n.Member("$ref"); ok {
		if target, _, found := sd.lookup(v.Str()); found {
			return describeDepth(sd, target, left)
		}
	}
	for _, key := range [...]string{"anyOf", "oneOf"} {
		v, ok := n.Member(key)
		if !ok || v.Len() > 6 {
			continue
		}
		var list []string
		for _, e := range v.Elems() {
			if form := describeDepth(sd, e.i, left); !slices.Contains(list, form) {
				list = append(list, form)
			}
		}
		return orList(list)
	}
	if v, ok := n.Member("allOf"); ok && v.Kind() == Array {
		for _, e := range v.Elems() {
			if s := describeDepth(sd, e.i, left); s != "a value" || *left < 0 {
				return s
			}
		}
	}
	return "a value"
}

// longest bounds the names that are compared, because the cost grows with the square of the length; with more candidates
// than maxCandidates none is looked for.
const (
	longest       = 64
	maxCandidates = 256
)

// nearest gives the candidate that a name was probably meant to be, or nothing.
func nearest(given []byte, candidates []string) string {
	if len(given) == 0 || len(given) > longest || len(candidates) > maxCandidates {
		return ""
	}
	name := string(given)
	best, bestDistance := "", len(name)/3+2
	for _, c := range candidates {
		if len(c) > longest || c == name {
			continue
		}
		d := distance(plainName(name), plainName(c))
		if short, long := min(len(name), len(c)), max(len(name), len(c)); d > 1 && short >= 3 && (strings.HasPrefix(c, name) || strings.HasPrefix(name, c)) {
			d = 1 + (long-short)/16 // one is the beginning of the other
		}
		if d < bestDistance && d < max(len(name), len(c)) {
			best, bestDistance = c, d
		}
	}
	return best
}

// plainName drops what writers of names disagree on: case and separators.
func plainName(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, s))
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that lead from a to b.
func distance(a, b string) int {
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	var rows [3][longest + 1]int
	prev2, prev, cur := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
