package spec

import (
	"encoding/json"
	"regexp/syntax"

	"github.com/toolcrib/toolcrib/internal/text"
)

// annotations are for whoever reads the schema.
func (b *builder) annotations(o, out *Object) {
	if words := b.words(o.text("description")); words != "" {
		out.Set("description", words)
	} else if title := Clean(o.text("title"), 100); title != "" {
		out.Set("description", title)
	}
	if f, ok := o.Get("format"); ok {
		if s, ok := f.(string); ok && len(s) <= 40 && s != "" {
			out.Set("format", text.ShowLine(s))
		}
	}
	if v, ok := o.Get("default"); ok && size(v) < 200 {
		out.Set("default", v)
	}
	if o.flag("deprecated") {
		out.Set("deprecated", true)
	}
	for _, key := range []string{"contentEncoding", "contentMediaType"} {
		if s := o.text(key); s != "" && len(s) < 100 {
			out.Set(key, s)
		}
	}
}

// size is about how many values a value has; it does not count on far beyond a large number.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case *Object:
		for _, m := range v.Members {
			if n += size(m.Value) + len(m.Key)/64; n > 5000 {
				break
			}
		}
	case []any:
		for _, e := range v {
			if n += size(e); n > 5000 {
				break
			}
		}
	case string:
		n += len(v) / 64
	case json.Number:
		n += len(v) / 64
	}
	return n
}

// bounds are the keywords that a value is held to.
func (b *builder) bounds(o, out *Object) {
	if l := o.list("enum"); len(l) > 0 && len(l) <= 1000 {
		if n := size(l); n < 2000 {
			b.nodes += n / 16
			b.d.work += n
			out.Set("enum", distinct(l))
		}
	}
	if v, ok := o.Get("const"); ok && size(v) < 200 {
		out.Set("const", v)
	}
	number := func(key string) (json.Number, bool) {
		v, _ := o.Get(key)
		switch v := v.(type) {
		case json.Number:
			return v, len(v) < 60
		case string:
			n := json.Number(v)
			_, err := n.Float64()
			return n, err == nil && json.Valid([]byte(v)) && len(v) < 60
		}
		return "", false
	}
	for _, side := range [][2]string{{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"}} {
		limit, ok := number(side[0])
		switch {
		case ok && o.flag(side[1]): // before 3.1 it says whether the bound itself is out
			out.Set(side[1], limit)
		case ok:
			out.Set(side[0], limit)
		}
		if exclusive, ok := number(side[1]); ok {
			out.Set(side[1], exclusive)
		}
	}
	if n, ok := number("multipleOf"); ok {
		if f, err := n.Float64(); err == nil && f > 0 && len(n) < 30 {
			out.Set("multipleOf", n)
		}
	}
	for _, key := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"} {
		if n, ok := number(key); ok {
			if i, err := n.Int64(); err == nil && i >= 0 {
				out.Set(key, n)
			}
		}
	}
	if o.flag("uniqueItems") {
		out.Set("uniqueItems", true)
	}
	if p, ok := o.Get("pattern"); ok {
		if s, ok := p.(string); ok && s != "" && b.d.usablePattern(s) {
			out.Set("pattern", s)
		}
	}
}

// usablePattern: patterns are those of JavaScript there, and only what both languages
// have is kept. A pattern without it lets more through, and the API judges.
func (d *Document) usablePattern(p string) bool {
	if len(p) > 500 {
		return false
	}
	usable, known := d.patterns[p]
	if !known {
		re, err := syntax.Parse(p, syntax.Perl)
		usable = err == nil && re.Op != syntax.OpNoMatch && weight(re) < 2000
		if d.patterns == nil {
			d.patterns = map[string]bool{}
		}
		d.patterns[p] = usable
	}
	return usable
}

// weight is about how many steps a pattern unfolds into.
func weight(re *syntax.Regexp) int {
	n := 1
	for _, sub := range re.Sub {
		n += weight(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	if re.Op == syntax.OpLiteral {
		n += len(re.Rune)
	}
	return min(n, 1_000_000)
}

func distinct(l []any) []any {
	seen := map[string]bool{}
	var out []any
	for _, v := range l {
		if key := string(AppendJSON(nil, v)); !seen[key] {
			seen[key] = true
			out = append(out, v)
		}
	}
	return out
}
