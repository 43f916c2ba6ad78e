package spec

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// limits bound the schema of one tool.
type limits struct {
	nodes int // schemas in it
	words int // characters of one description; zero: none is kept
	below int // the same, in definitions: what is further down matters less
}

func inputLimits() limits  { return limits{nodes: 400, words: 300, below: 120} }
func outputLimits() limits { return limits{nodes: 120} }

// builder translates schemas of OpenAPI into one JSON Schema of draft 2020-12. What is
// referred to becomes an entry of $defs, so that circles stay circles. Definitions
// are translated breadth first: if there are too many, those far from the top are
// left open.
type builder struct {
	d        *Document
	lim      limits
	response bool
	where    string

	names map[string]string // by file and reference
	taken map[string]bool
	queue []wanted
	defs  *Object
	nodes int
	cut   bool // something was left open
}

type wanted struct {
	name string
	at   located
}

func (d *Document) newBuilder(where string, response bool) *builder {
	b := &builder{d: d, lim: inputLimits(), response: response, where: where, names: map[string]string{}, taken: map[string]bool{}, defs: &Object{}}
	if response {
		b.lim = outputLimits()
	}
	return b
}

// finish translates the definitions that the schema needs and puts them into it.
func (b *builder) finish(root *Object) *Object {
	b.lim.words = b.lim.below
	for len(b.queue) > 0 {
		w := b.queue[0]
		b.queue = b.queue[1:]
		if b.nodes > b.lim.nodes {
			b.cut = true
			b.defs.add(w.name, b.open(w.at))
			continue
		}
		b.defs.add(w.name, b.schema(w.at, 0))
	}
	if b.defs.Len() > 0 {
		root.Set("$defs", b.defs)
		inlineDefs(root)
	}
	return root
}

// open is a schema that is not shown: every value fits.
func (b *builder) open(at located) *Object {
	o, _ := at.value.(*Object)
	out := &Object{}
	if t, ok := o.Get("type"); ok && t == "object" {
		out.Set("type", b.nullable(o, "object"))
	}
	if b.lim.words > 0 {
		out.Set("description", strings.TrimSpace(b.words(o.text("description"))+" (Not shown in full.)"))
	}
	return out
}

func (b *builder) nullable(o *Object, t string) any {
	if o.flag("nullable") || o.flag("x-nullable") || b.response {
		return []any{t, "null"}
	}
	return t
}

// words is a description as it is shown.
func (b *builder) words(given string) string {
	if given == "" || b.lim.words == 0 {
		return ""
	}
	if s, ok := b.d.cleaned[cut{given, b.lim.words}]; ok {
		b.d.work += len(given) / 256
		return s
	}
	b.d.work += min(len(given), 4096) / 16
	s := Clean(given, b.lim.words)
	b.d.cleaned[cut{given, b.lim.words}] = s
	return s
}

// schema translates one schema.
func (b *builder) schema(at located, depth int) any {
	b.nodes++
	b.d.work++
	o, ok := at.value.(*Object)
	if !ok {
		if v, isBool := at.value.(bool); isBool && (v || !b.response) {
			return v
		}
		return &Object{}
	}
	if depth > 40 || b.nodes > 4*b.lim.nodes {
		b.cut = true
		return b.open(at)
	}
	if ref, is := refOf(o); is {
		return b.reference(at, o, ref, depth)
	}
	return b.inline(at, o, depth)
}

func (b *builder) reference(at located, o *Object, ref string, depth int) any {
	target, err := b.d.resolve(at.file, ref)
	if err != nil {
		b.d.fault(b.where, false, "a schema is left open: %s", err)
		return &Object{}
	}
	var out *Object
	if t, ok := target.value.(*Object); ok && isLeaf(t) {
		out = b.inline(target, t, depth)
	} else {
		out = obj("$ref", "#/$defs/"+b.need(target, at.file.name, ref))
	}
	if b.d.refSiblings && o.Len() > 1 {
		beside := b.inline(at, o.without("$ref"), depth)
		for _, m := range beside.Members {
			if m.Key == "type" || m.Key == "properties" || m.Key == "required" || m.Key == "allOf" || m.Key == "additionalProperties" {
				return obj("allOf", []any{out, beside})
			}
		}
		for _, m := range beside.Members {
			out.Set(m.Key, m.Value)
		}
		return out
	}
	if words := b.words(o.text("description")); words != "" {
		out.Set("description", words)
	}
	if o.flag("nullable") || o.flag("x-nullable") {
		return obj("anyOf", []any{out, obj("type", "null")})
	}
	return out
}

// isLeaf reports whether a schema is so small that it is shown where it is used.
func isLeaf(o *Object) bool {
	for _, m := range o.Members {
		switch m.Key {
		case "properties", "items", "allOf", "oneOf", "anyOf", "not", "additionalProperties", "patternProperties", "prefixItems", "if", "$ref", "contains":
			return false
		case "enum":
			if l, ok := m.Value.([]any); ok && len(l) > 8 {
				return false
			}
		}
	}
	return true
}

// need is the name of a definition, which is translated later.
func (b *builder) need(target located, from, ref string) string {
	key := target.file.name + " " + ref
	if strings.HasPrefix(ref, "#") {
		key = from + " " + ref
	}
	if name, ok := b.names[key]; ok {
		return name
	}
	base := ref
	if i := strings.LastIndexByte(ref, '/'); i >= 0 {
		base = ref[i+1:]
	}
	base = strings.TrimSuffix(base, path.Ext(strings.TrimSuffix(base, "#")))
	base = text.Head(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, base), 64)
	if base == "" {
		base = "schema"
	}
	name := base
	for i := 2; b.taken[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	b.taken[name], b.names[key] = true, name
	b.queue = append(b.queue, wanted{name, target})
	return name
}

// inline translates the keywords of a schema.
func (b *builder) inline(at located, o *Object, depth int) *Object {
	out := &Object{}
	b.types(o, out)
	if !b.response {
		b.annotations(o, out)
		b.bounds(o, out)
	}
	b.structure(at, o, out, depth)
	return b.allowNull(o, out)
}

// types finds out the type, as schemas in the field write it.
func (b *builder) types(o, out *Object) {
	var list []any
	add := func(t string) {
		if t != "" && !slices.Contains(list, any(t)) {
			list = append(list, t)
		}
	}
	v, there := o.Get("type")
	switch v := v.(type) {
	case string:
		t, format := typeOf(v)
		add(t)
		if format != "" {
			out.Set("format", format)
		}
	case []any:
		for _, e := range v {
			if e == nil {
				e = "null"
			}
			t, _ := typeOf(textOf(e))
			add(t)
		}
	}
	if !there && o.object("properties").Len() > 0 {
		add("object")
	}
	if len(list) > 0 && b.response {
		add("null")
	}
	switch len(list) {
	case 0:
	case 1:
		out.Set("type", list[0])
	default:
		out.Set("type", list)
	}
}

// typeOf is the type that a word means; empty: any.
func typeOf(word string) (t, format string) {
	switch strings.ToLower(word) {
	case "string", "number", "integer", "boolean", "object", "array", "null":
		return strings.ToLower(word), ""
	case "file":
		return "string", "binary"
	case "int", "int32", "int64", "long", "short":
		return "integer", ""
	case "float", "double", "decimal", "currency":
		return "number", ""
	case "bool":
		return "boolean", ""
	case "list":
		return "array", ""
	case "dict", "map":
		return "object", ""
	case "date", "datetime", "date-time", "timestamp", "uuid", "uri", "url", "email", "str", "text", "char", "password", "enum", "binary", "byte":
		return "string", ""
	}
	return "", ""
}

// allowNull lets null through where version 3.0 says nullable.
func (b *builder) allowNull(o, out *Object) *Object {
	if !o.flag("nullable") && !o.flag("x-nullable") {
		return out
	}
	if values, ok := out.Get("enum"); ok {
		if l := values.([]any); !slices.Contains(l, nil) {
			out.Set("enum", append(slices.Clone(l), nil))
		}
	}
	switch t, _ := out.Get("type"); t := t.(type) {
	case string:
		if t != "null" {
			out.Set("type", []any{t, "null"})
		}
	case []any:
		if !slices.Contains(t, any("null")) {
			out.Set("type", append(slices.Clone(t), "null"))
		}
	default:
		for _, key := range []string{"allOf", "oneOf", "anyOf", "not"} {
			if _, ok := out.Get(key); ok {
				return obj("anyOf", []any{out, obj("type", "null")})
			}
		}
	}
	return out
}
