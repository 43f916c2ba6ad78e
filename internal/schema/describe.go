package schema

import (
	"slices"

	"github.com/toolcrib/toolcrib/internal/text"
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

// describe says in a few words what a rule asks for.
func describe(sd *Doc, r *rule) string {
	left := maxForms
	return text.Clip(describeDepth(sd, r, &left), maxForm)
}

func describeDepth(sd *Doc, r *rule, left *int) string {
	if *left--; *left < 0 {
		return "a value"
	}
	switch {
	case r.enum != nil && r.enum.keyword == "const":
		return quoteValue(sd, r.enum.values[0])
	case r.enum != nil && len(r.enum.values) > 0:
		var list []string
		for j, x := range r.enum.values {
			if j == 8 {
				list = append(list, "another listed value")
				break
			}
			list = append(list, quoteValue(sd, x))
		}
		return orList(list)
	case r.types != 0:
		names := typeNames(sd, r.at)
		for j := range names {
			names[j] = withArticle(names[j])
		}
		return orList(names)
	case r.meta != 0:
		return "a JSON Schema"
	case r.ref != nil:
		return describeDepth(sd, r.ref, left)
	}
	for _, forms := range [...][]*rule{r.any, r.one} {
		if len(forms) == 0 || len(forms) > 6 {
			continue
		}
		var list []string
		for _, c := range forms {
			if form := describeDepth(sd, c, left); !slices.Contains(list, form) {
				list = append(list, form)
			}
		}
		return orList(list)
	}
	for _, c := range r.all {
		if s := describeDepth(sd, c, left); s != "a value" || *left < 0 {
			return s
		}
	}
	return "a value"
}
