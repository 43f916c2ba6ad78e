package definition

import (
	"slices"
	"strings"
)

// nullMark is what a model gives for null where null itself already says that a property is left out.
const nullMark = "__null__"

// moreName is the property under which entries with free names are given to an API that knows none.
const moreName = "additional_properties"

// typed begins a node. Gemini writes types in capitals.
func (w *writer) typed(name string) *tree {
	o := object()
	if w.gemini {
		name = strings.ToUpper(name)
	}
	o.set("type", text(name))
	return o
}

// jsonText is a form in which a value of these kinds is given as text. The schema stands in the description if it is
// short.
func (w *writer) jsonText(s *shape, k kinds) facet {
	f := facet{kind: k, node: w.typed("string"), text: true, back: &undo{text: k}}
	if s.cut != "" {
		f.notes = append(f.notes, s.cut)
	}
	if !s.bare() {
		inside := *s
		inside.kinds, inside.about, inside.title, inside.notes, inside.deft, inside.cut = k, "", "", nil, nil, ""
		plain := &writer{flavour: looseFlavour()} // with the real names: what is in a text is not turned back
		if words := plain.loose(&inside, "").String(); len(words) <= maxQuoted {
			f.notes = append(f.notes, "by this JSON Schema: "+words)
		}
	}
	return f
}

// values takes the enumerated values of one kind.
func (f *facet) values(w *writer, s *shape, node *tree) {
	if s.enum == nil {
		return
	}
	var some []*tree
	words := false // Gemini enumerates strings, and none that is empty
	for _, v := range s.enum {
		if valueKind(v)&f.kind != 0 {
			some = append(some, v)
			words = words || w.gemini && (v.kind != kindString || v.text == "")
		}
	}
	f.back.listed, f.back.only = f.kind, some
	if words {
		f.notes = append(f.notes, listed(some))
		return
	}
	ok, told := w.enum(some)
	if !ok {
		f.notes = append(f.notes, told)
		return
	}
	node.set("enum", list(some...))
}

func (f *facet) addWords(words ...string) {
	for _, s := range words {
		if s != "" {
			f.notes = append(f.notes, s)
		}
	}
}

func (w *writer) boolean(s *shape) facet {
	f := facet{kind: isBool, node: w.typed("boolean"), back: &undo{kinds: isBool}}
	f.values(w, s, f.node)
	return f
}

func (w *writer) number(s *shape) facet {
	f := facet{kind: s.kinds & isNumber, back: &undo{kinds: s.kinds & isNumber}}
	f.node = w.typed(f.kind.names()[0])
	f.values(w, s, f.node)
	if w.gemini {
		if s.min != "" {
			f.node.set("minimum", numeral(s.min))
		}
		if s.max != "" {
			f.node.set("maximum", numeral(s.max))
		}
		f.addWords(prefixed("more than ", s.above), prefixed("less than ", s.below), prefixed("a multiple of ", s.step))
		return f
	}
	w.looseNumber(s, f.node)
	return f
}

func (w *writer) string(s *shape) facet {
	f := facet{kind: isString, node: w.typed("string"), back: &undo{kinds: isString}}
	f.values(w, s, f.node)
	switch {
	case s.format == "" || len(s.format) > 40:
	case w.gemini && s.format == "date-time", !w.gemini && strictFormat(s.format):
		f.node.set("format", text(s.format))
	default:
		f.addWords("format " + s.format)
	}
	if w.gemini {
		setCounts(f.node, "minLength", s.minLen, "maxLength", s.maxLen)
	} else if s.minLen > 0 || s.maxLen >= 0 {
		low := s.minLen
		if low == 0 {
			low = -1
		}
		f.addWords(bounds(count(low), count(s.maxLen), "characters"))
	}
	if s.pattern != "" && len(s.pattern) <= maxRuleText {
		f.addWords("matches " + s.pattern)
	}
	return f
}

// strictFormat: the formats that strict OpenAI definitions may name.
func strictFormat(name string) bool {
	switch name {
	case "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid":
		return true
	}
	return false
}

func (w *writer) array(s *shape, depth int) facet {
	f := facet{kind: isArray, node: w.typed("array")}
	items := s.items
	if items == nil {
		items = free()
	}
	node, back := w.value(items, depth+1, "", false)
	f.node.set("items", node)
	setCounts(f.node, "minItems", s.minItems, "maxItems", s.maxItems)
	if s.unique {
		f.addWords("no item twice")
	}
	f.back = &undo{arrays: []*undo{back}}
	return f
}

func (w *writer) object(s *shape, depth int) facet {
	f := facet{kind: isObject, node: w.typed("object")}
	back := &objectUndo{fields: map[string]field{}}
	props, must := object(), []string{}
	for _, p := range s.props {
		if p.never() {
			continue
		}
		name := w.name(p.name)
		optional := !p.must && !w.gemini
		node, b := w.value(p.shape, depth+1, p.name, optional)
		props.set(name, node)
		back.fields[name] = field{name: p.name, drop: optional, back: b}
		w.count++
		w.bytes += len(name)
		if p.must || !w.gemini {
			must = append(must, name)
		}
	}
	if s.extra != nil && !s.closed {
		back.more = moreName
		for back.fields[back.more].back != nil {
			back.more += "_"
		}
		props.set(back.more, w.more(s.extra))
		w.count++
		if !w.gemini {
			must = append(must, back.more)
		}
	}
	back.must = must
	f.node.set("properties", props)
	if len(must) > 0 || !w.gemini {
		f.node.set("required", texts(must))
	}
	if !w.gemini {
		f.node.set("additionalProperties", truth(false))
	}
	if s.minProps > 0 || s.maxProps >= 0 {
		f.addWords(bounds(strings.TrimPrefix(count(s.minProps), "0"), count(s.maxProps), "entries"))
	}
	f.back = &undo{objects: []*objectUndo{back}}
	return f
}

// more asks for entries with free names.
func (w *writer) more(extra *shape) *tree {
	node := w.typed("string")
	notes := []string{"further entries by name, as JSON text of an object"}
	entry := w.jsonText(extra, extra.kinds)
	if extra.kinds != isAny {
		notes = append(notes, "each is "+extra.kinds.words())
	}
	describe(node, sentence("", append(notes, entry.notes...)))
	if !w.gemini {
		w.nullable(node)
	}
	return node
}

// markNull lets an optional value be null as well as left out.
func (w *writer) markNull(facets []facet, notes []string, back *undo) ([]facet, []string) {
	for i := range facets {
		f := &facets[i]
		switch {
		case f.text:
			f.kind |= isNull
			f.back = &undo{text: f.kind}
			return facets, notes
		case f.kind == isString:
			if e := f.node.get("enum"); e != nil {
				e.elems = append(slices.Clone(e.elems), text(nullMark))
			}
			back.null = true
			return facets, append(notes, `null leaves it out, "`+nullMark+`" makes it null`)
		}
	}
	f := facet{kind: isString, node: w.typed("string"), back: &undo{kinds: isString}}
	f.node.set("enum", list(text(nullMark)))
	back.null = true
	return append(facets, f), append(notes, `null leaves it out, "`+nullMark+`" makes it null`)
}
