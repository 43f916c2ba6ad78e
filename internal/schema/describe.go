package schema

import (
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

// describe says in a few words what the subschema at node at asks for.
func describe(sd *Doc, at uint32) string { return describeDepth(sd, at, 0) }

func describeDepth(sd *Doc, at uint32, depth int) string {
	n := Node{sd, at}
	if depth > 6 || n.Kind() != Object {
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
			return describeDepth(sd, target, depth+1)
		}
	}
	for _, key := range [...]string{"anyOf", "oneOf"} {
		v, ok := n.Member(key)
		if !ok || v.Len() > 6 {
			continue
		}
		var list []string
		for _, e := range v.Elems() {
			list = append(list, describeDepth(sd, e.i, depth+1))
		}
		return orList(list)
	}
	if v, ok := n.Member("allOf"); ok && v.Kind() == Array {
		for _, e := range v.Elems() {
			if s := describeDepth(sd, e.i, depth+1); s != "a value" {
				return s
			}
		}
	}
	return "a value"
}

// longest bounds the names that are compared: the cost grows with the square of the length.
const longest = 64

// nearest gives the candidate that name was probably meant to be, or nothing.
func nearest(name string, candidates []string) string {
	if name == "" || len(name) > longest || len(candidates) > 1000 {
		return ""
	}
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
