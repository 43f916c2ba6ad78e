package schema

import "bytes"

// Options say how [Schema.Admit] treats a document. The zero value is the strictest that the schema itself asks for.
type Options struct {
	// Lenient converts values that have the wrong type where nothing is lost ("3" to 3, "yes" to true), and drops unknown
	// properties wherever the schema allows no others, instead of refusing them.
	Lenient bool
	// Closed makes the outermost object refuse properties that it does not declare, even though the schema does not say so.
	// Schemas that declare none, or that say in another way which ones they take, stay open.
	Closed bool
	// PlainInts writes whole numbers such as 3.0 or 1e2 as plain integers where the schema wants an integer, because few
	// readers take them otherwise. Lenient does it anyway.
	PlainInts bool
	// NoDefaults leaves missing properties missing.
	NoDefaults bool
	// Apart refuses two keys of one object that differ in case only, unless they are data or the schema has both.
	Apart bool
}

// Admit fills in the defaults of missing properties, converts what opt allows to be converted, and validates the result.
// It gives the admitted text in canonical form, or every problem and no text. The text is the caller's own.
func (s *Schema) Admit(d *Doc, opt Options) ([]byte, []Problem) {
	root := s.root
	if opt.Closed && s.closedRoot != nil {
		root = s.closedRoot
	}
	w := newWriter(s, d, opt)
	defer w.release()
	if w.ints || (root.fills && !opt.NoDefaults && (&defaultSearch{d, patience(d)}).missing(root, 0)) {
		w.value(root, 0)
	} else {
		w.out = d.AppendCanonical(w.out)
	}
	if w.steps < 0 {
		return nil, tooComplex()
	}
	if len(w.out) > w.limit {
		return nil, []Problem{{Rule: "default", Message: "the value is too large once its defaults are filled in; send fewer elements"}}
	}
	if !w.changed {
		if problems := s.verdict(d, root, opt); problems != nil {
			return nil, problems
		}
		return bytes.Clone(w.out), nil
	}
	out := bytes.Clone(w.out)
	e, err := Parse(out, Limits{Depth: maxDepth})
	if err != nil {
		return nil, []Problem{{Rule: "default", Message: "the value is too deep once its defaults are filled in: " + err.Error()}}
	}
	defer e.Release()
	if problems := s.verdict(e, root, opt); problems != nil {
		return nil, problems
	}
	return out, nil
}

// defaultSearch finds out whether writing a document anew could fill something in. It saves the writing when nothing is missing;
// where it would have to weigh alternatives, or to look at too much, it says yes.
type defaultSearch struct {
	d     *Doc
	looks int // how many more properties may be looked at
}

func (s *defaultSearch) missing(r *rule, i uint32) bool {
	if r.ref != nil || r.all != nil || r.any != nil || r.one != nil {
		return true
	}
	switch n := &s.d.nodes[i]; n.kind {
	case Object:
		return r.obj != nil && s.missingIn(r.obj, i)
	case Array:
		if r.arr == nil {
			return false
		}
		c := i + 1
		for k := range int(n.b) {
			item := r.arr.items
			if k < len(r.arr.prefix) {
				item = r.arr.prefix[k]
			}
			if item != nil && item.fills && s.missing(item, c) {
				return true
			}
			c = s.d.nodes[c].next
		}
	}
	return false
}

func (s *defaultSearch) missingIn(o *objRule, i uint32) bool {
	if s.looks -= len(o.props); s.looks < 0 || o.patterns != nil || (o.extra != nil && o.extra.fills) {
		return true
	}
	keys := s.d.keys(i)
	for j := range o.props {
		p := &o.props[j]
		if p.def == nil && (p.rule == nil || !p.rule.fills) {
			continue
		}
		c := -1
		for len(keys) > 0 {
			if c = bytes.Compare(s.d.str(keys[0]), p.name); c >= 0 {
				break
			}
			keys = keys[1:]
		}
		switch {
		case c != 0 && p.def != nil:
			return true
		case c == 0 && p.rule.fills && s.missing(p.rule, keys[0]+1):
			return true
		}
	}
	return false
}

// verdict validates the document by the root that is asked for.
func (s *Schema) verdict(d *Doc, root *rule, opt Options) []Problem {
	if opt.Apart {
		if problems := s.alike(d); problems != nil {
			return problems
		}
	}
	return s.judge(d, root, opt.Lenient)
}
