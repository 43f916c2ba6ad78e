package spec

import "slices"

// structure translates the keywords that hold schemas.
func (b *builder) structure(at located, o, out *Object, depth int) {
	child := func(v any) any { return b.schema(located{at.file, v}, depth+1) }
	left := b.properties(at, o, out, depth)
	if req := b.required(o, left); len(req) > 0 && !b.response {
		out.Set("required", req)
	}
	for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
		switch v, _ := o.Get(key); v := v.(type) {
		case bool:
			if !v && !b.response {
				out.Set(key, false)
			}
			if v && key == "additionalProperties" {
				out.Set(key, true)
			}
		case *Object:
			if v.Len() == 0 {
				out.Set(key, true)
			} else if key == "additionalProperties" {
				out.Set(key, child(v))
			}
		}
	}
	switch v, _ := o.Get("items"); v := v.(type) {
	case *Object, bool:
		out.Set("items", child(v))
	case []any: // a list of schemas is called prefixItems now
		if l := b.list(at, v, depth); len(l) > 0 {
			out.Set("prefixItems", l)
		}
	}
	if l := b.list(at, o.list("prefixItems"), depth); len(l) > 0 {
		out.Set("prefixItems", l)
	}
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		given := o.list(key)
		if len(given) == 0 {
			continue
		}
		name := key
		if b.response && key == "oneOf" { // made lenient, two of them may fit
			name = "anyOf"
		}
		if b.response && !allObjects(given) {
			continue
		}
		out.Set(name, b.list(at, given, depth))
	}
	if b.response {
		return
	}
	for _, key := range []string{"not", "if", "then", "else", "contains", "propertyNames"} {
		switch v, _ := o.Get(key); v := v.(type) {
		case *Object, bool:
			out.Set(key, child(v))
		}
	}
	for _, key := range []string{"patternProperties", "dependentSchemas"} {
		group := &Object{}
		for i, m := range o.object(key).members() {
			if i == 100 {
				b.cut = true
				break
			}
			if key != "patternProperties" || b.d.usablePattern(m.Key) {
				group.Set(m.Key, child(m.Value))
			}
		}
		if group.Len() > 0 {
			out.Set(key, group)
		}
	}
}

func allObjects(l []any) bool {
	return !slices.ContainsFunc(l, func(v any) bool { _, ok := v.(*Object); return !ok })
}

func (o *Object) members() []Member {
	if o == nil {
		return nil
	}
	return o.Members
}

func (b *builder) list(at located, l []any, depth int) []any {
	const most = 200
	var out []any
	for i, v := range l {
		if i == most {
			b.cut = true
			break
		}
		out = append(out, b.schema(located{at.file, v}, depth+1))
	}
	return out
}

// properties translates the properties, without those that only the other side sets:
// readOnly ones in a request, writeOnly ones in an answer. It tells which it left out.
func (b *builder) properties(at located, o, out *Object, depth int) (left map[string]bool) {
	given := o.object("properties")
	if given.Len() == 0 {
		return nil
	}
	props := &Object{Members: make([]Member, 0, min(given.Len(), maxParams))}
	seen := make(map[string]bool, min(given.Len(), maxParams))
	for i, m := range given.Members {
		if i == maxParams {
			b.cut = true
			break
		}
		if seen[m.Key] {
			continue
		}
		seen[m.Key] = true
		v, _ := given.Get(m.Key)
		if b.otherSide(located{at.file, v}) {
			if left == nil {
				left = map[string]bool{}
			}
			left[m.Key] = true
			continue
		}
		props.Members = append(props.Members, Member{m.Key, b.schema(located{at.file, v}, depth+1)})
	}
	if props.Len() > 0 {
		out.Set("properties", props)
	}
	return left
}

// otherSide reports whether a property is not for this direction.
func (b *builder) otherSide(at located) bool {
	word := "readOnly"
	if b.response {
		word = "writeOnly"
	}
	o, ok := at.value.(*Object)
	if !ok {
		return false
	}
	if o.flag(word) {
		return true
	}
	if _, is := refOf(o); is {
		if t, err := b.d.follow(at); err == nil {
			to, _ := t.value.(*Object)
			return to.flag(word)
		}
	}
	return false
}

// required lists names that count. Some documents write required: true in a property
// instead, which means nothing there.
func (b *builder) required(o *Object, left map[string]bool) []any {
	var out []any
	seen := map[string]bool{}
	for i, v := range o.list("required") {
		if s, ok := v.(string); ok && !left[s] && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
		if i == maxParams {
			break
		}
	}
	return out
}

// inlineDefs puts definitions that are used once where they are used: a model reads a
// schema from the top.
func inlineDefs(root *Object) {
	defs := root.object("$defs")
	used := map[string]int{}
	countRefs(root, used)
	keep := &Object{}
	byName := make(map[string]*Object, defs.Len())
	for _, m := range defs.Members {
		def, ok := m.Value.(*Object)
		if n := used[m.Key]; n == 1 && ok {
			byName[m.Key] = def
		} else if n > 0 {
			keep.Members = append(keep.Members, m)
		}
	}
	root.Members = slices.DeleteFunc(root.Members, func(m Member) bool { return m.Key == "$defs" })
	in := inliner{byName, keep}
	in.put(root, 0)
	for i := 0; i < len(keep.Members); i++ { // it may grow meanwhile
		keep.Members[i].Value = in.put(keep.Members[i].Value, 0)
	}
	if keep.Len() > 0 {
		root.Set("$defs", keep)
	}
}

const defsPrefix = "#/$defs/"

// localRef is the definition that a translated schema refers to.
func localRef(o *Object) (string, bool) {
	v, _ := o.Get("$ref")
	s, ok := v.(string)
	if !ok || len(s) <= len(defsPrefix) || s[:len(defsPrefix)] != defsPrefix {
		return "", false
	}
	return s[len(defsPrefix):], true
}

// data keywords hold values and names, not schemas.
func isData(key string) bool {
	return key == "enum" || key == "const" || key == "default" || key == "required"
}

func countRefs(v any, used map[string]int) {
	switch v := v.(type) {
	case *Object:
		if name, ok := localRef(v); ok {
			used[name]++
		}
		for _, m := range v.Members {
			if !isData(m.Key) || isSchemaMap(m.Value) {
				countRefs(m.Value, used)
			}
		}
	case []any:
		for _, e := range v {
			countRefs(e, used)
		}
	}
}

// isSchemaMap: a property may be called enum or default.
func isSchemaMap(v any) bool {
	o, ok := v.(*Object)
	if !ok {
		return false
	}
	for _, m := range o.Members {
		switch m.Key {
		case "$ref", "type", "properties", "items", "anyOf", "allOf", "oneOf":
			return true
		}
	}
	return false
}

// inliner knows the definitions that are used once, and those that stay.
type inliner struct {
	once map[string]*Object
	keep *Object
}

func (in inliner) put(v any, depth int) any {
	switch v := v.(type) {
	case *Object:
		if name, ok := localRef(v); ok {
			if def := in.once[name]; def != nil && depth < 40 {
				merged := &Object{Members: slices.Clone(def.Members)}
				for _, m := range v.Members {
					if m.Key != "$ref" {
						merged.Set(m.Key, m.Value)
					}
				}
				v.Members = merged.Members
			} else if def != nil { // deep enough: it stays a definition
				in.keep.Members = append(in.keep.Members, Member{name, def})
				delete(in.once, name)
			}
		}
		for i := range v.Members {
			if !isData(v.Members[i].Key) || isSchemaMap(v.Members[i].Value) {
				v.Members[i].Value = in.put(v.Members[i].Value, depth+1)
			}
		}
	case []any:
		for i := range v {
			v[i] = in.put(v[i], depth+1)
		}
	}
	return v
}
