package definition

import (
	"slices"
	"strings"
)

// facet is one of the forms that a value may have, each of one type: what an API that wants one type a node can be told.
type facet struct {
	kind  kinds // what it is; a text that stands for JSON is of the kinds it may hold
	node  *tree // type first; no description yet
	notes []string
	text  bool
	back  *undo
}

// root writes the arguments of a tool as one object.
func (w *writer) root(s *shape) (*tree, *undo) {
	root := *s
	root.kinds = isObject
	if root.enum != nil {
		root.note(listed(root.enum))
		root.enum = nil
	}
	if (s.enum != nil || s.cut != "") && root.extra == nil { // there is more to give than is declared
		root.extra, root.closed = free(), false
	}
	f := w.object(&root, 1)
	back := f.back
	if len(f.node.get("properties").members) == 0 && w.gemini {
		return nil, back // which refuses an object without properties: a tool without arguments has no schema
	}
	describe(f.node, sentence(root.about, append(slices.Clone(root.notes), f.notes...)))
	return f.node, back
}

// value writes one value. optional asks for a form of it that also says that it is left out.
func (w *writer) value(s *shape, depth int, name string, optional bool) (*tree, *undo) {
	s = onePlain(s)
	facets, null := w.facets(s, depth)
	facets = merge(facets)
	notes := slices.Clone(s.notes)
	back := &undo{}
	if optional {
		if null && (s.deft == nil || s.deft.kind != kindNull) {
			facets, notes = w.markNull(facets, notes, back)
		}
		null = true
	}
	if len(facets) == 0 { // nothing but null
		node := object()
		node.set("type", text("null"))
		if w.gemini {
			node = object()
			node.set("type", text("STRING"))
			node.set("nullable", truth(true))
			notes = append(notes, "always null")
		}
		describe(node, sentence(s.words(name), notes))
		back.kinds = isNull
		return node, back
	}
	for i, f := range facets {
		if f.text {
			facets[i].notes = append([]string{f.kind.words() + ", as JSON text"}, f.notes...)
		}
		back.add(f.back)
	}
	if null {
		back.kinds |= isNull
	}
	if words := defaultWords(s.deft); words != "" {
		notes = append(notes, words)
	}
	return w.joinForms(facets, null, s.words(name), notes), back
}

// joinForms makes one node of the forms.
func (w *writer) joinForms(facets []facet, null bool, about string, notes []string) *tree {
	if len(facets) == 1 {
		f := facets[0]
		describe(f.node, sentence(about, append(notes, f.notes...)))
		if null {
			w.nullable(f.node)
		}
		return f.node
	}
	node := object()
	var parts []*tree
	for i, f := range facets {
		words := sentence("", f.notes)
		if w.gemini && i == 0 { // which wants nothing beside the alternatives
			words = strings.TrimSpace(sentence(about, notes) + " " + words)
		}
		describe(f.node, words)
		if null && w.gemini {
			w.nullable(f.node)
		}
		parts = append(parts, f.node)
	}
	if null && !w.gemini {
		n := object()
		n.set("type", text("null"))
		parts = append(parts, n)
	}
	if words := sentence(about, notes); words != "" && !w.gemini {
		node.set("description", text(words))
	}
	node.set("anyOf", list(parts...))
	return node
}

// nullable lets null stand for a node that has a type.
func (w *writer) nullable(node *tree) {
	if w.gemini {
		node.set("nullable", truth(true))
		return
	}
	node.members[0].value = list(node.members[0].value, text("null"))
	if e := node.get("enum"); e != nil {
		e.elems = append(slices.Clone(e.elems), &tree{kind: kindNull, text: "null"})
	}
}

// describe puts a description right behind the type.
func describe(node *tree, words string) {
	if words != "" {
		node.members = slices.Insert(node.members, 1, member{"description", text(words)})
	}
}

// onePlain takes alternatives away where they stand beside structure: the structure would have to be told once for each.
func onePlain(s *shape) *shape {
	if s.any != nil && (s.props != nil || s.items != nil || s.extra != nil || s.enum != nil || s.cut != "") {
		return flatten(s)
	}
	return s
}

// facets lists the forms of a value, without null, which is told apart.
func (w *writer) facets(s *shape, depth int) (facets []facet, null bool) {
	if s.any != nil {
		return w.alternatives(s, depth)
	}
	null = s.kinds&isNull != 0
	k := s.kinds &^ isNull
	asText := w.asText(s, depth)
	if asText != 0 && k&isString != 0 {
		asText = k // one text cannot be read in two ways
	}
	if asText != 0 {
		facets = append(facets, w.jsonText(s, asText))
	}
	k &^= asText
	if k&isString != 0 {
		facets = append(facets, w.string(s))
	}
	if k&isNumber != 0 {
		facets = append(facets, w.number(s))
	}
	if k&isBool != 0 {
		facets = append(facets, w.boolean(s))
	}
	if k&isObject != 0 {
		facets = append(facets, w.object(s, depth))
	}
	if k&isArray != 0 {
		facets = append(facets, w.array(s, depth))
	}
	return facets, null
}

// asText gives the kinds of a value that have to be given as JSON text, because the API has no words for their inside.
func (w *writer) asText(s *shape, depth int) kinds {
	k := s.kinds &^ isNull
	inside := k & (isArray | isObject)
	switch {
	case s.cut != "" || s.enum != nil || depth > w.depth:
		return inside
	case s.kinds&isObject != 0 && !s.declares() && (!s.closed || w.gemini):
		if k&isArray != 0 && s.items == nil {
			return inside
		}
		return isObject
	}
	return 0
}

// merge leaves at most one form that is a string and stands for more than that: two could not be told apart.
func merge(facets []facet) []facet {
	i := slices.IndexFunc(facets, func(f facet) bool { return f.text })
	if i < 0 {
		return facets
	}
	var out []facet
	one := facets[i]
	for j, f := range facets {
		switch {
		case j == i:
			out = append(out, facet{})
			i = len(out) - 1
		case f.text || f.kind == isString:
			one.kind |= f.kind
			one.notes = append(slices.Clone(one.notes), f.notes...)
			if e := f.node.get("enum"); e != nil {
				one.notes = append(one.notes, "if a string, "+listed(e.elems))
			}
		default:
			out = append(out, f)
		}
	}
	one.back = &undo{text: one.kind}
	out[i] = one
	return out
}
