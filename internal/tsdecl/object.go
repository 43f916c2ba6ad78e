package tsdecl

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
)

// object writes the type of an object.
func (w *writer) object(n node, depth int) typed {
	var props []jsontext.Member
	if raw := n.words["properties"]; len(raw) > 0 {
		_ = jsontext.Members(raw, func(m jsontext.Member) bool { // an error: there are none
			for i := range props {
				if props[i].Key == m.Key {
					props[i] = m
					return true
				}
			}
			props = append(props, m)
			return true
		})
	}
	must := n.required()
	if len(props) == 0 && len(must) == 0 {
		return w.record(n, depth)
	}
	if depth >= w.d.depth || depth >= maxDepth {
		return plain("any")
	}
	var members []string
	lines := false
	for i, p := range props {
		if i == w.d.props && len(props) > w.d.props+2 {
			members = append(members, "[more: string]: any // "+keysLeft(props[i:], max(12, w.d.keys)))
			lines = true
			break
		}
		member, long := w.member(p.Key, p.Value, must[p.Key], depth)
		delete(must, p.Key)
		lines = lines || long
		members = append(members, member)
	}
	members = append(members, w.undeclared(n, must, len(members) == 0 || !strings.HasPrefix(members[len(members)-1], "[more"))...)
	if lines {
		return typed{text: "{\n" + strings.Join(members, "\n") + "\n}", lines: true}
	}
	return plain("{" + strings.Join(members, ", ") + "}")
}

// undeclared are names that have to be there and have no schema, and what is said of names that are free.
func (w *writer) undeclared(n node, must map[string]bool, open bool) []string {
	var out []string
	for _, raw := range n.list("required") { // in their order
		var name string
		if json.Unmarshal(raw, &name) == nil && must[name] && open {
			out = append(out, key(name)+": any")
			delete(must, name)
		}
	}
	extra := n.words["additionalProperties"]
	if open && (len(extra) > 0 && string(extra) != "false" || n.words["patternProperties"] != nil) {
		out = append(out, "[more: string]: any")
	}
	return out
}

// member writes one property; long: it needs a line of its own.
func (w *writer) member(name string, raw json.RawMessage, must bool, depth int) (string, bool) {
	t := w.write(raw, depth+1)
	words := w.about(raw, t)
	out := key(name) + mark(!must) + ": " + t.text
	w.spent += len(name) + len(words) + 6
	if words == "" {
		return out, t.lines
	}
	return out + " // " + words, true
}

// record is an object whose names are free.
func (w *writer) record(n node, depth int) typed {
	var values []typed
	if raw := n.words["patternProperties"]; len(raw) > 0 {
		_ = jsontext.Members(raw, func(m jsontext.Member) bool { // an error: there are none
			values = append(values, w.write(m.Value, depth+1))
			return true
		})
		if n.words["additionalProperties"] == nil {
			values = append(values, plain("any"))
		}
	}
	switch extra := n.words["additionalProperties"]; {
	case string(extra) == "false" && len(values) == 0:
		return plain("{}")
	case len(extra) > 0 && string(extra) != "false":
		values = append(values, w.write(extra, depth+1))
	case len(values) == 0:
		return plain("Record<string, any>")
	}
	v := union(values)
	if v.text == "any" {
		return plain("Record<string, any>")
	}
	return typed{text: "{[name: string]: " + v.text + "}", lines: v.lines} // Record would be resolved at once, which a recursion must not
}

// array writes the type of a list, or of one whose places differ.
func (w *writer) array(n node, depth int) typed {
	places, rest := n.list("prefixItems"), n.words["items"]
	if len(rest) > 0 && rest[0] == '[' {
		places, rest = n.list("items"), n.words["additionalItems"]
	}
	if len(places) == 0 || len(places) > 12 {
		if len(rest) == 0 || len(places) > 0 {
			return plain("any[]")
		}
		t := w.write(rest, depth)
		return typed{text: t.tight() + "[]", lines: t.lines}
	}
	least := n.count("minItems")
	var out []string
	lines := false
	for i, p := range places {
		t := w.write(p, depth)
		lines = lines || t.lines
		if i < least {
			out = append(out, t.tight())
		} else {
			out = append(out, t.tight()+"?")
		}
	}
	if most := n.count("maxItems"); string(rest) != "false" && (most < 0 || most > len(places)) {
		out = append(out, "..."+w.write(rest, depth).tight()+"[]")
	}
	return typed{text: "[" + strings.Join(out, ", ") + "]", lines: lines}
}

// about is the comment behind a property: what it is for, and rules that a type cannot say.
func (w *writer) about(raw json.RawMessage, t typed) string {
	n := open(raw)
	if n.words["$ref"] != nil && n.words["description"] == nil {
		target := open(w.root.resolve(n.string("$ref")))
		n.words = map[string]json.RawMessage{"description": target.words["description"]}
	}
	var notes []string
	if w.d.rules {
		notes = rules(n)
		if list := n.list("enum"); len(list) > maxEnum {
			notes = append(notes, "one of "+strconv.Itoa(len(list))+" values, as "+clip(string(list[0]), 30))
		}
	}
	if keys := w.hidden(raw, t.text); keys != "" {
		notes = append(notes, keys)
	}
	words := comment(n.string("description"), w.d.about)
	if len(notes) > 0 {
		more := comment(strings.Join(notes, ", "), 120)
		if words != "" {
			words += " "
		}
		words += "(" + more + ")"
	}
	return words
}

// hidden names the properties of an object, or of those in a list, in whose place any stands.
func (w *writer) hidden(raw json.RawMessage, shown string) string {
	if w.d.keys == 0 || !slices.Contains([]string{"any", "any[]", "any | null", "any[] | null"}, shown) {
		return ""
	}
	for range 8 { // steps to the object
		n := open(raw)
		var props []jsontext.Member
		_ = jsontext.Members(n.words["properties"], func(m jsontext.Member) bool { props = append(props, m); return true }) // an error: there are none
		switch list := n.list("anyOf"); {
		case len(props) > 0:
			return "{" + keysLeft(props, w.d.keys) + "}"
		case n.string("$ref") != "":
			raw = w.root.resolve(n.string("$ref"))
		case len(n.words["items"]) > 0 && n.words["items"][0] == '{':
			raw = n.words["items"]
		case len(list) > 0:
			raw = list[0]
		case len(n.list("oneOf")) > 0:
			raw = n.list("oneOf")[0]
		case len(n.list("allOf")) > 0:
			raw = n.list("allOf")[0]
		default:
			return ""
		}
	}
	return ""
}

// rules are limits in short.
func rules(n node) []string {
	var out []string
	raw := func(word string) string { return clip(string(n.words[word]), 24) }
	if slices.Contains(n.types(), "integer") {
		out = append(out, "integer")
	}
	low, high := raw("minimum"), raw("maximum")
	switch {
	case low != "" && high != "":
		out = append(out, low+" to "+high)
	case low != "":
		out = append(out, "at least "+low)
	case high != "":
		out = append(out, "at most "+high)
	}
	if f := n.string("format"); f != "" && len(f) <= 24 {
		out = append(out, f)
	}
	if p := n.string("pattern"); p != "" && len(p) <= 60 {
		out = append(out, "matches "+p)
	}
	if d := n.words["default"]; len(d) > 0 && string(d) != "null" && len(d) <= 60 {
		out = append(out, "default "+string(d))
	}
	if c := n.count("maxItems"); c >= 0 {
		out = append(out, "at most "+strconv.Itoa(c)+" items")
	}
	if c := n.count("minItems"); c > 0 {
		out = append(out, "at least "+strconv.Itoa(c)+" items")
	}
	return out
}

// keysLeft names properties that are not declared.
func keysLeft(props []jsontext.Member, most int) string {
	var names []string
	for i, p := range props {
		if i == most {
			names = append(names, "… "+strconv.Itoa(len(props)-most)+" more")
			break
		}
		names = append(names, clip(p.Key, 40))
	}
	return comment(strings.Join(names, ", "), 400)
}

func clip(s string, most int) string { return text.ClipRunes(s, most) }
