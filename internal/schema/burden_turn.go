package schema

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// home is the text that a subschema stands in: the schema itself, or one of the metaschemas that the other validator
// carries with it, which a schema may refer to. A metaschema is one resource; what the schema itself consists of is known
// only to the other validator.
type home struct {
	meta bool
	root *burden // of a metaschema
}

// turn is a $dynamicRef or $recursiveRef. Its target is the outermost of several candidates on the way that led to it.
type turn struct {
	first      *burden   // where it points by itself
	anchor     string    // $dynamicRef: the name that is looked for; empty: it always goes to first
	recursive  bool      // $recursiveRef
	candidates []*burden // of a $dynamicRef in the schema's own text, and the first
	// fixed: the schema's own text has no candidate but the first, so only metaschemas on the way can change the target.
	fixed bool
	// whole: the schema's own text is a single resource with a $recursiveAnchor and no metaschema is in play, so the target
	// is where the way began.
	whole bool
}

func (s *scales) homeOf(c *jsonschema.Schema) *home {
	address, _, _ := strings.Cut(c.Location, "#")
	h := s.homes[address]
	if h == nil {
		h = &home{meta: true}
		s.homes[address] = h
		if root, err := s.f.c.Compile(address); err == nil {
			h.root = s.of(root)
		}
	}
	return h
}

func (s *scales) turnsOf(b *burden, c *jsonschema.Schema) {
	if c.RecursiveRef != nil {
		b.turns = append(b.turns, &turn{first: s.of(c.RecursiveRef), recursive: c.RecursiveRef.RecursiveAnchor, fixed: !s.recurs})
	}
	if c.DynamicRef != nil {
		t := &turn{first: s.of(c.DynamicRef.Ref)}
		if name := c.DynamicRef.Anchor; c.DynamicRef.Ref.DynamicAnchor == name {
			t.anchor = name
		}
		b.turns = append(b.turns, t)
	}
	s.turns = append(s.turns, b.turns...)
}

// settleTurns finds out, once everything else that can be reached is known, where each turn may lead to.
func (s *scales) settleTurns() {
	for j := 0; j < len(s.turns); j++ { // looking for candidates may bring new turns
		if t := s.turns[j]; t.anchor != "" && t.candidates == nil {
			for _, c := range s.named(t.anchor) {
				t.candidates = append(t.candidates, s.of(c))
			}
			if t.fixed = len(t.candidates) == 0; !slices.Contains(t.candidates, t.first) {
				t.candidates = append(t.candidates, t.first)
			}
		}
	}
	if len(s.homes) > 1 || s.f.d.has("$id", 1) {
		return
	}
	root, err := s.f.c.Compile(baseAddress)
	for _, t := range s.turns {
		if t.recursive && !t.fixed && err == nil {
			t.recursive, t.whole = root.RecursiveAnchor, true
		}
	}
}

// named gives every subschema of the text that has that $dynamicAnchor.
func (s *scales) named(name string) []*jsonschema.Schema {
	list, known := s.anchors[name]
	if known {
		return list
	}
	for i := range s.f.d.nodes {
		v, ok := Node{s.f.d, uint32(i)}.Member("$dynamicAnchor")
		if !ok || string(v.Str()) != name {
			continue
		}
		// One that cannot be compiled was not reached when the whole was: the other validator does not know it.
		var c *jsonschema.Schema
		err := guarded(func() (err error) {
			c, err = s.f.c.Compile(s.f.address(uint32(i)))
			return err
		})
		if err == nil {
			list = append(list, c)
		}
	}
	s.anchors[name] = list
	return list
}

// has says whether a key occurs in the document, at node from or behind it.
func (d *Doc) has(key string, from uint32) bool {
	for i := from; int(i) < len(d.nodes); i++ {
		if _, ok := (Node{d, i}).Member(key); ok {
			return true
		}
	}
	return false
}

// targets gives where a turn may lead to from here. Where the other validator's choice is known for sure there is one
// target, and else there are all that it could choose.
func (w *weighing) targets(t *turn) []*burden {
	switch {
	case t.anchor != "":
		return w.dynamic(t)
	case t.recursive:
		return w.recursive(t)
	}
	return []*burden{t.first}
}

func (w *weighing) dynamic(t *turn) []*burden {
	meta := []*burden{}
	for _, f := range w.chain {
		if h := f.load.home; h.meta && h.root != nil && h.root.anchor == t.anchor && !slices.Contains(meta, h.root) {
			meta = append(meta, h.root)
		}
	}
	switch {
	case t.fixed && len(meta) > 0:
		return meta[:1]
	case t.fixed:
		return []*burden{t.first}
	case len(meta) == 0:
		return t.candidates
	}
	return append(meta, t.candidates...)
}

func (w *weighing) recursive(t *turn) []*burden {
	list := []*burden{}
	seen := map[*burden]bool{t.first: true}
	for _, f := range w.chain {
		if h := f.load.home; !h.meta && !t.fixed || h.meta && h.root != nil && h.root.recurs {
			if t.fixed || t.whole {
				return []*burden{f.load}
			}
			if !seen[f.load] {
				seen[f.load] = true
				list = append(list, f.load)
			}
		}
	}
	return append(list, t.first)
}
