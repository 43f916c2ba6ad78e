package definition

import "slices"

// looseRoot writes the arguments of a tool for an API that takes most of JSON Schema but no alternatives and no
// enumeration at the root, and wants properties there.
func (w *writer) looseRoot(s *shape) *tree {
	root := *s
	if root.kinds = isObject; root.enum != nil {
		root.note(listed(root.enum))
		root.enum = nil
	}
	return w.loose(&root, "")
}

// loose writes one schema. name is that of the property it belongs to, if any.
func (w *writer) loose(s *shape, name string) *tree {
	o := object()
	notes := slices.Clone(s.notes)
	tell := func(words string) {
		if words != "" {
			notes = append(notes, words)
		}
	}
	said := s.kinds == isAny || alternatives(s) // the type needs no word
	if !said {
		if names := s.kinds.names(); len(names) == 1 {
			o.set("type", text(names[0]))
		} else {
			o.set("type", texts(names))
		}
	}
	body := object()
	if s.enum != nil {
		if ok, words := w.enum(s.enum); ok {
			body.set("enum", list(s.enum...))
		} else {
			tell(words)
		}
	}
	if s.kinds&isNumber != 0 {
		w.looseNumber(s, body)
	}
	if s.kinds&isString != 0 {
		tell(w.looseString(s, body))
	}
	if s.kinds&isArray != 0 {
		w.looseArray(s, body, said)
	}
	if s.kinds&isObject != 0 {
		w.looseObject(s, body, said || w.shown == nil)
	}
	if s.any != nil {
		var parts []*tree
		for _, b := range s.any {
			parts = append(parts, w.loose(b, ""))
		}
		body.set("anyOf", list(parts...))
	}
	if s.deft != nil && len(s.deft.String()) <= maxDefaultText {
		body.set("default", s.deft)
	}
	if s.cut != "" {
		tell(s.cut)
	}
	if words := sentence(s.words(name), notes); words != "" {
		o.set("description", text(words))
	}
	o.members = append(o.members, body.members...)
	return o
}

// alternatives reports that a value is told by its alternatives alone, which have all of its types.
func alternatives(s *shape) bool {
	var all kinds
	for _, b := range s.any {
		all |= b.kinds
	}
	return s.any != nil && all == s.kinds && s.props == nil && s.items == nil && s.extra == nil && !s.closed
}

func (w *writer) looseNumber(s *shape, o *tree) {
	for _, k := range []struct{ key, value string }{
		{"minimum", s.min}, {"maximum", s.max}, {"exclusiveMinimum", s.above}, {"exclusiveMaximum", s.below}, {"multipleOf", s.step},
	} {
		if k.value != "" {
			o.set(k.key, numeral(k.value))
		}
	}
}

func (w *writer) looseString(s *shape, o *tree) (words string) {
	setCounts(o, "minLength", s.minLen, "maxLength", s.maxLen)
	if s.format != "" && len(s.format) <= 40 {
		o.set("format", text(s.format))
	}
	switch {
	case s.pattern == "":
	case plainPattern(s.pattern):
		o.set("pattern", text(s.pattern))
	case len(s.pattern) <= maxRuleText:
		return "matches " + s.pattern
	}
	return ""
}

func (w *writer) looseArray(s *shape, o *tree, brief bool) {
	if s.items != nil {
		o.set("items", w.loose(s.items, ""))
	} else if !brief { // OpenAI refuses an array that says nothing of its items
		o.set("items", object())
	}
	setCounts(o, "minItems", s.minItems, "maxItems", s.maxItems)
	if s.unique {
		o.set("uniqueItems", truth(true))
	}
}

func (w *writer) looseObject(s *shape, o *tree, brief bool) {
	props, must := object(), []string{}
	for _, p := range s.props {
		if p.never() {
			continue
		}
		name := w.name(p.name)
		props.set(name, w.loose(p.shape, p.name))
		if p.must {
			must = append(must, name)
		}
	}
	if len(props.members) > 0 || !brief { // nor an object that says nothing of its properties
		o.set("properties", props)
	}
	if len(must) > 0 {
		o.set("required", texts(must))
	}
	switch {
	case s.closed:
		o.set("additionalProperties", truth(false))
	case s.extra == nil:
	case s.extra.kinds == isAny && s.extra.bare():
		o.set("additionalProperties", truth(true))
	default:
		o.set("additionalProperties", w.loose(s.extra, ""))
	}
	setCounts(o, "minProperties", s.minProps, "maxProperties", s.maxProps)
}

func setCounts(o *tree, low string, least int, high string, most int) {
	if least > 0 {
		o.set(low, numeral(count(least)))
	}
	if most >= 0 {
		o.set(high, numeral(count(most)))
	}
}
