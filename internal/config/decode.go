package config

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/toolcrib/toolcrib/internal/text"
)

const (
	// maxExpanded bounds the values that aliases may stand for, together: a few short lines can stand for billions.
	maxExpanded = 10_000
	// maxName bounds the names of map entries, which turn up in messages and file names.
	maxName = 256
)

// decoder turns the YAML tree of one file into a patch and collects what is wrong with it.
type decoder struct {
	root     *field
	problems *problems
	source   Source
	aliases  int  // how many aliases the present value lies in
	expanded int  // values seen through aliases
	stopped  bool // too much was expanded: the rest is not looked at
	// past: what is right counts beside what is wrong. Else nothing of the file counts once there is a problem.
	past bool
	// check says what is wrong with an element or an entry beyond its form; nil: nothing is.
	check func(key, name string, value any) error
}

// ended reports whether the rest is of no use: nothing more would be told of it, nor would it count.
func (d *decoder) ended() bool { return d.stopped || d.problems.full && !d.past }

// sound notes what check finds wrong with an element of a list or an entry of a map.
func (d *decoder) sound(f *field, part *patch, at mark, name string, value reflect.Value) bool {
	if d.check == nil {
		return true
	}
	err := d.check(f.key, name, value.Interface())
	if err != nil {
		d.problems.add(at, part.key, "%s", err)
	}
	return err == nil
}

// file decodes a whole file. It gives nil if there is nothing in it.
func (d *decoder) file(data []byte) *patch {
	root := parseYAML(data, d.problems)
	if root == nil {
		return nil
	}
	return d.value(d.root, root, "", "")
}

// value decodes one value; nil if it is of no use, in which case a problem has been noted.
func (d *decoder) value(f *field, n *yaml.Node, key, name string) *patch {
	n, leave := d.followAlias(n)
	defer leave()
	if d.ended() {
		return nil
	}
	p := &patch{f: f, name: name, key: key, at: at(n), origin: Origin{Source: d.source, File: d.problems.file, Line: n.Line}}
	ok := false
	switch f.kind {
	case kindBlock, kindOptional:
		ok = d.block(p, n)
	case kindMap:
		ok = d.entries(p, n)
	case kindList:
		ok = d.list(p, n)
	default:
		ok = d.scalar(p, n)
	}
	if !ok {
		return nil
	}
	return p
}

// followAlias follows an alias and keeps the account of what aliases stand for. An alias inside its own anchor ends here too,
// when the account is spent.
func (d *decoder) followAlias(n *yaml.Node) (*yaml.Node, func()) {
	depth := 0
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
		depth++
	}
	d.aliases += depth
	if d.aliases > 0 {
		d.countExpanded(n)
	}
	return n, func() { d.aliases -= depth }
}

func (d *decoder) countExpanded(n *yaml.Node) {
	d.expanded++
	if d.expanded > maxExpanded && !d.stopped {
		d.stopped = true
		d.problems.add(at(n), "", "the aliases in this file stand for more than %d values", maxExpanded)
	}
}

func (d *decoder) block(p *patch, n *yaml.Node) bool {
	pairs, ok := d.pairs(p.f, n, p.key)
	if !ok {
		return false
	}
	for _, pair := range pairs {
		if d.ended() {
			return false
		}
		member := p.f.field(pair.name)
		if member == nil {
			d.unknown(p, pair)
			continue
		}
		d.member(p, member, pair)
	}
	return true
}

// member decodes what stands under one key.
func (d *decoder) member(p *patch, f *field, pair pair) {
	if pair.merged {
		d.aliases++
		defer func() { d.aliases-- }()
	}
	if part := d.value(f, pair.value, joinKey(p.key, pair.name), pair.name); part != nil {
		part.origin.Line, part.at = pair.key.Line, at(pair.key)
		if p.f.kind == kindMap && part.value.IsValid() && !d.sound(p.f, part, part.at, pair.name, part.value) {
			return
		}
		p.parts = append(p.parts, part)
	}
}

func (d *decoder) unknown(p *patch, pair pair) {
	if d.problems.full {
		return // it would not be told, and looking for the nearest key has its price
	}
	hint := ""
	if near := suggest(d.root, p.f, p.key, pair.name); near != "" {
		hint = "; did you mean " + near + "?"
		if p.key != "" && !strings.Contains(near, ".") {
			hint = "; did you mean " + near + " at the top level, outside of " + p.key + "?"
		}
	} else if names := p.f.names(); len(names) <= 12 {
		hint = "; known here: " + strings.Join(names, ", ")
	}
	d.problems.add(at(pair.key), d.unknownKey(p.key, pair.name), "unknown key %s%s", clip(pair.name), hint)
}

// unknownKey is the dotted key of something unknown, shortened: it is as long as somebody cared to make it.
func (d *decoder) unknownKey(parent, name string) string {
	return joinKey(parent, text.Head(name, maxName))
}

func (d *decoder) entries(p *patch, n *yaml.Node) bool {
	pairs, ok := d.pairs(p.f, n, p.key)
	if !ok {
		return false
	}
	for _, pair := range pairs {
		if pair.name == "" || len(pair.name) > maxName {
			d.problems.add(at(pair.key), p.key, "a name here must have 1 to %d bytes", maxName)
			continue
		}
		d.member(p, p.f.elem, pair)
	}
	return true
}

func (d *decoder) list(p *patch, n *yaml.Node) bool {
	if n.Kind != yaml.SequenceNode || n.ShortTag() != "!!seq" {
		d.mismatch(p.f, n, p.key)
		return false
	}
	p.value = reflect.MakeSlice(p.f.typ, 0, len(n.Content))
	good := true // or, past problems, what is good of it
	for i, item := range n.Content {
		part := d.value(p.f.elem, item, elementKey(p.key, i), "")
		if part == nil {
			good = d.past
			if d.ended() {
				return false
			}
			continue
		}
		element := reflect.New(p.f.elem.typ).Elem()
		origins{}.overlay(part, element) // elements have no origins of their own: a list comes from one layer
		if !d.sound(p.f, part, part.at, "", element) {
			good = d.past
			continue
		}
		p.value = reflect.Append(p.value, element)
		p.items = append(p.items, part.at)
	}
	return good
}

func (d *decoder) scalar(p *patch, n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || !accepts(p.f.kind, n) {
		d.mismatch(p.f, n, p.key)
		return false
	}
	v, err := p.f.parse(n.Value)
	if err != nil {
		d.problems.add(at(n), p.key, "%s", err)
		return false
	}
	p.value = v
	return true
}

// accepts holds the type YAML sees in a scalar against the one that is wanted. It is strict, so that a file means the
// same to this program, to an editor with the schema, and to other readers of YAML.
func accepts(k kind, n *yaml.Node) bool {
	switch tag := n.ShortTag(); k {
	case kindBool:
		return tag == "!!bool"
	case kindInt, kindUint:
		return tag == "!!int"
	case kindFloat:
		return tag == "!!int" || tag == "!!float"
	case kindText:
		// An unquoted date, and the sign of a merge where no key can stand, are text to everybody else.
		return tag == "!!str" || tag == "!!timestamp" || tag == "!!merge"
	case kindDuration:
		return tag == "!!str" || tag == "!!int" && n.Value == "0"
	case kindBytes:
		return tag == "!!str" || tag == "!!int"
	}
	return false
}

func at(n *yaml.Node) mark { return mark{line: n.Line, column: n.Column} }
