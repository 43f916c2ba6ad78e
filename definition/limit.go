package definition

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib"
)

// Pick chooses which tools are shown where not all can be: toolboxes take turns in the order of their names, each with
// the next of its tools by name, so that every toolbox has its share. The outcome does not depend on the order of specs.
// What is kept and what is left is in the order of specs.
func Pick(specs []toolcrib.Entry, most int) (kept, rest []toolcrib.Entry) {
	if most >= len(specs) {
		return specs, nil
	}
	order := make([]int, len(specs))
	for i := range order {
		order[i] = i
	}
	byName := func(i, j int) int {
		a, b := &specs[i], &specs[j]
		return cmp.Or(cmp.Compare(a.Box, b.Box), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Native, b.Native), cmp.Compare(a.Dialect, b.Dialect))
	}
	slices.SortStableFunc(order, byName)
	turn := make([]int, len(specs)) // which of its box a tool is
	for k := 1; k < len(order); k++ {
		if specs[order[k]].Box == specs[order[k-1]].Box {
			turn[order[k]] = turn[order[k-1]] + 1
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(turn[i], turn[j]) })
	keep := make([]bool, len(specs))
	for _, i := range order[:max(most, 0)] {
		keep[i] = true
	}
	for i, s := range specs {
		if keep[i] {
			kept = append(kept, s)
		} else {
			rest = append(rest, s)
		}
	}
	return kept, rest
}

// Defers reports whether an API can be given tools that its models find by themselves.
func Defers(format Format) bool { return format == Anthropic || format == OpenAIResponses }

// deferred is a definition that models find by searching.
type deferred struct {
	box, name string
	def       *tree
}

// searchEntry is the tool by which an API's models find what is deferred.
func searchEntry(format Format) *tree {
	t := object()
	if format == Anthropic {
		t.set("type", text("tool_search_tool_bm25_20251119"))
		t.set("name", text("tool_search_tool_bm25"))
		return t
	}
	t.set("type", text("tool_search"))
	return t
}

// deferThese moves what is deferred to the end, and puts the API's own search tool before everything. OpenAI's models
// search by namespaces: a toolbox is one.
func (s *Set) deferThese(format Format, list []deferred) {
	list = slices.DeleteFunc(list, func(d deferred) bool { return s.Names[d.name] == "" }) // left out as too long
	if len(list) == 0 {
		return
	}
	texts := map[string]bool{}
	for _, d := range list {
		texts[string(d.def.append(nil))] = true
	}
	s.Tools = slices.DeleteFunc(s.Tools, func(t json.RawMessage) bool { return texts[string(t)] })
	s.Tools = slices.Insert(s.Tools, 0, json.RawMessage(searchEntry(format).append(nil)))
	if format == Anthropic {
		for _, d := range list {
			s.Tools = append(s.Tools, d.def.append(nil))
		}
		return
	}
	slices.SortStableFunc(list, func(a, b deferred) int { return cmp.Compare(a.box, b.box) })
	var boxes []string
	for _, d := range list {
		boxes = append(boxes, cmp.Or(d.box, "tools"))
	}
	names := naming{}.assign(boxes)
	for len(list) > 0 {
		box := list[0].box
		n := slices.IndexFunc(list, func(d deferred) bool { return d.box != box })
		if n < 0 {
			n = len(list)
		}
		space := object()
		space.set("type", text("namespace"))
		space.set("name", text(names[cmp.Or(box, "tools")]))
		space.set("description", text(namespaceText(box, list[:n])))
		tools := &tree{kind: kindArray}
		for _, d := range list[:n] {
			tools.elems = append(tools.elems, d.def)
		}
		space.set("tools", tools)
		s.Tools = append(s.Tools, space.append(nil))
		list = list[n:]
	}
}

// namespaceText says what a namespace has, which is all that a model sees of it before it searches: the names of its
// tools, as many as are read at a glance.
func namespaceText(box string, list []deferred) string {
	const most = 400
	about := "Tools of " + cmp.Or(box, "this program") + ": "
	for i, d := range list {
		if len(about)+len(d.name) > most {
			return about + "…"
		}
		if i > 0 {
			about += ", "
		}
		about += d.name
	}
	return about
}
