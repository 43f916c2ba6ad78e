package tsdecl

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// writer writes the type of one schema.
type writer struct {
	root  *root
	d     detail
	names *names
	made  int             // schemas
	bytes int             // of them
	room  int             // how long the text may get
	spent int             // how long it is, about
	over  bool            // it has got longer, and is not gone on with
	types []named         // in the order in which they were met
	open  []string        // references that are being followed
	loops map[string]bool // references that lead back to themselves: these types need a name
}

type named struct{ ref, name, body string }

func newWriter(r *root, d detail, room int, names *names) *writer {
	return &writer{root: r, d: d, room: room, names: names, loops: map[string]bool{}}
}

// top writes the whole type. References that turn out to lead back to themselves are named, and it is written again.
func (w *writer) top() string {
	for try := 1; ; try++ {
		known := len(w.loops)
		w.made, w.bytes, w.spent, w.types, w.open = 0, 0, 0, nil, nil
		names := w.names.fork()
		own := w.names
		w.names = names
		out := w.write(w.root.text, 0)
		w.names = own
		if len(w.loops) == known || try == 4 || w.over {
			own.adopt(names)
			return out.text
		}
	}
}

// named gives the types that the text of top needs.
func (w *writer) named() string {
	var b strings.Builder
	for _, t := range w.types {
		b.WriteString("type " + t.name + " = " + t.body + "\n")
	}
	return b.String()
}

// needsOne reports that a call has to have arguments.
func (w *writer) needsOne() bool {
	n := w.root.top
	return len(n.required()) > 0 || w.combines(n)
}

// takesNothing reports that there is no argument to give.
func (w *writer) takesNothing() bool {
	n := w.root.top
	if w.root.text == nil || n.words == nil {
		return false
	}
	for word := range n.words {
		switch word {
		case "type", "title", "description", "$schema", "required", "additionalProperties":
		case "properties":
			if s := bytes.TrimSpace(bytes.Trim(n.words[word], "{}")); len(s) > 0 {
				return false
			}
		default:
			return false
		}
	}
	free := n.words["additionalProperties"]
	return n.string("type") == "object" && len(n.required()) == 0 && (free == nil || string(free) == "false")
}

// typed is a type as text. Loose: it has to stand in brackets before [] and beside &.
type typed struct {
	text  string
	loose bool
	lines bool     // it has more than one line
	names []string // of types that it is, or may be, itself
}

func plain(s string) typed { return typed{text: s} }

func (t typed) tight() string {
	if t.loose {
		return "(" + t.text + ")"
	}
	return t.text
}

func (w *writer) write(raw json.RawMessage, depth int) typed {
	w.made++
	w.bytes += len(raw)
	if w.over = w.over || w.spent > w.room; w.over {
		return plain("any")
	}
	if w.made > maxNodes || w.bytes > maxBytes || len(w.open) > maxNested {
		return plain("any")
	}
	n := open(raw)
	if n.never {
		return plain("never")
	}
	if n.words == nil {
		return plain("any")
	}
	var parts []typed // all of which hold
	if ref := n.string("$ref"); ref != "" {
		parts = append(parts, w.follow(ref, depth))
	}
	if n.words["$dynamicRef"] != nil || n.words["$recursiveRef"] != nil {
		parts = append(parts, plain("any"))
	}
	if own, says := w.own(n, depth); says {
		parts = append(parts, own)
	}
	for i, part := range n.list("allOf") {
		if i == maxEnum {
			break // less is said, and nothing wrong
		}
		parts = append(parts, w.write(part, depth))
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if list := n.list(word); len(list) > 0 {
			if len(list) > maxEnum {
				continue // any of them: nothing is said
			}
			var either []typed
			for _, part := range list {
				either = append(either, w.write(part, depth))
			}
			parts = append(parts, union(either))
		}
	}
	return meet(parts)
}

// own writes what the keywords of a schema itself say; false: nothing about types.
func (w *writer) own(n node, depth int) (typed, bool) {
	if c, ok := n.words["const"]; ok {
		return w.values([]json.RawMessage{c}), true
	}
	if list := n.list("enum"); list != nil {
		return w.enum(n, list), true
	}
	types := n.types()
	if types == nil {
		switch {
		case n.words["properties"] != nil || n.words["patternProperties"] != nil || n.words["additionalProperties"] != nil:
			if n.words["items"] == nil && n.words["prefixItems"] == nil {
				return w.object(n, depth), true
			}
		case n.words["items"] != nil || n.words["prefixItems"] != nil:
			return w.array(n, depth), true
		}
		return typed{}, false
	}
	var either []typed
	for _, t := range types {
		either = append(either, w.kind(t, n, depth))
	}
	if n.truth("nullable") && !slices.Contains(types, "null") {
		either = append(either, plain("null"))
	}
	return union(either), true
}

func (w *writer) combines(n node) bool {
	return n.words["anyOf"] != nil || n.words["oneOf"] != nil || n.words["allOf"] != nil || n.words["$ref"] != nil
}

func (w *writer) kind(name string, n node, depth int) typed {
	switch name {
	case "string", "boolean", "null":
		return plain(name)
	case "integer", "number":
		return plain("number")
	case "array":
		return w.array(n, depth)
	case "object":
		return w.object(n, depth)
	}
	return plain("any")
}

// follow writes what a reference leads to: its name if it has to have one.
func (w *writer) follow(ref string, depth int) typed {
	target := w.root.resolve(ref)
	if target == nil {
		return plain("any")
	}
	for _, t := range w.types {
		if t.ref == ref {
			return typed{text: t.name, names: []string{t.name}}
		}
	}
	if slices.Contains(w.open, ref) {
		w.loops[ref] = true
		return plain("any")
	}
	w.open = append(w.open, ref)
	defer func() { w.open = w.open[:len(w.open)-1] }()
	if !w.loops[ref] || w.d.depth <= 1 {
		return w.write(target, depth)
	}
	at := len(w.types)
	name := w.names.reserve(ref[strings.LastIndexByte(ref, '/')+1:])
	w.types = append(w.types, named{ref: ref, name: name})
	body := w.write(target, 0)
	if slices.ContainsFunc(body.names, w.unfinished) {
		body = plain("any") // it would be nothing but itself, which the compiler refuses
	}
	w.types[at].body = body.text
	return typed{text: name, names: []string{name}}
}

func (w *writer) unfinished(name string) bool {
	return slices.ContainsFunc(w.types, func(t named) bool { return t.name == name && t.body == "" })
}
