package schema

import (
	"slices"
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
