package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/spec"
)

// filter picks operations.
type filter struct{ lists []*patterns }

// patterns is one list of them, about one property of operations.
type patterns struct {
	about  string
	list   []string
	used   []bool
	known  []string // what there was, for a hint
	values func(o *spec.Operation) []string
}

func newFilter(c Config) (*filter, error) {
	f := &filter{}
	add := func(about string, list []string, values func(o *spec.Operation) []string) {
		f.lists = append(f.lists, &patterns{about: about, list: list, used: make([]bool, len(list)), values: values})
	}
	add("operations", c.Operations, func(o *spec.Operation) []string { return []string{o.ID, wish(o)} })
	add("tags", c.Tags, func(o *spec.Operation) []string { return o.Tags })
	var methods []string
	for _, m := range c.Methods {
		methods = append(methods, strings.ToUpper(m))
	}
	add("methods", methods, func(o *spec.Operation) []string { return []string{o.Method} })
	add("paths", c.Paths, func(o *spec.Operation) []string { return []string{o.Path} })
	for _, p := range f.lists {
		if slices.ContainsFunc(p.list, func(s string) bool { return strings.TrimPrefix(s, "!") == "" || len(s) > 500 }) {
			return nil, fmt.Errorf("a pattern in %s is empty, or longer than 500 characters", p.about)
		}
	}
	return f, nil
}

// wants reports whether an operation matches every list. All are asked, so that each knows
// which of its patterns match something.
func (f *filter) wants(o *spec.Operation) bool {
	wanted := true
	for _, p := range f.lists {
		wanted = p.wants(o) && wanted
	}
	return wanted
}

func (p *patterns) wants(o *spec.Operation) bool {
	if len(p.list) == 0 {
		return true
	}
	values := p.values(o)
	if len(p.known) < 5000 {
		p.known = append(p.known, values...)
	}
	in, out, only := false, false, true
	for i, pattern := range p.list {
		bare, not := strings.CutPrefix(pattern, "!")
		only = only && not
		if !slices.ContainsFunc(values, func(v string) bool { return v != "" && matches(bare, v) }) {
			continue
		}
		p.used[i] = true
		in, out = in || !not, out || not
	}
	return (in || only) && !out
}

// unused tells of patterns that match nothing: most are typing errors.
func (f *filter) unused() []Fault {
	var out []Fault
	for _, p := range f.lists {
		for i, pattern := range p.list {
			if p.used[i] {
				continue
			}
			reason := fmt.Sprintf("%s matches no operation", text.Clip(text.ShowLine(pattern), 100))
			if near := text.Nearest(strings.Trim(pattern, "!*"), p.known); near != "" {
				reason += "; did you mean " + text.Clip(text.ShowLine(near), 100) + "?"
			}
			out = append(out, Fault{Where: p.about, Reason: reason})
		}
	}
	return out
}

// matches holds a text against a pattern in which * stands for any characters.
func matches(pattern, s string) bool {
	p, i, star, from := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
