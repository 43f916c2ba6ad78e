package config

import (
	"iter"
	"reflect"
	"strings"
)

// kind is what a setting holds, as far as this package tells settings apart.
type kind int

const (
	kindBool kind = iota + 1
	kindInt
	kindUint
	kindFloat
	kindText
	kindDuration
	kindBytes
	kindList     // of scalars or blocks
	kindMap      // from names to scalars, blocks or lists of scalars
	kindBlock    // a struct
	kindOptional // a pointer to a struct: absent when nil
)

func (k kind) scalar() bool { return k >= kindBool && k <= kindBytes }

func (k kind) number() bool {
	return k == kindInt || k == kindUint || k == kindFloat || k == kindDuration || k == kindBytes
}

// rule is what a project file may do to a setting. The zero value is nothing.
type rule string

const (
	ruleNone   rule = ""
	ruleLower  rule = "lower"
	ruleAdd    rule = "add"
	ruleOff    rule = "off"
	ruleOn     rule = "on"
	ruleSubset rule = "subset"
	ruleDrop   rule = "drop"
)

// field describes one setting: a node of the tree that newTree makes of a struct type.
type field struct {
	name   string // the YAML key; empty for the root and for the elements of lists and maps
	key    string // the dotted key; elements of a list are "key[]", of a map "key.NAME"
	kind   kind
	typ    reflect.Type
	index  int // in the parent struct
	doc    string
	env    string // the environment variable; empty if there is none
	secret bool   // inherited by everything below
	rule   rule
	own    bool  // only the user's and the administrator's own file set it
	joined bool  // a list to which every layer adds, instead of replacing it
	apart  apart // of a list: what its entries never have within
	enum   []string
	low    reflect.Value // bounds; invalid if there are none
	high   reflect.Value
	fields []*field // of a block or an optional block
	elem   *field   // of a list or a map
}

// field gives the member with this YAML key, nil if there is none.
func (f *field) field(name string) *field {
	for _, member := range f.fields {
		if member.name == name {
			return member
		}
	}
	return nil
}

// settings walks the members of a block with their values in v. An optional block that is absent has none.
func (f *field) settings(v reflect.Value) iter.Seq2[*field, reflect.Value] {
	if f.kind == kindOptional {
		v = v.Elem()
	}
	return func(yield func(*field, reflect.Value) bool) {
		for _, member := range f.fields {
			if !v.IsValid() || !yield(member, v.Field(member.index)) {
				return
			}
		}
	}
}

// names lists the YAML keys of a block in the order of its struct.
func (f *field) names() []string {
	names := make([]string, len(f.fields))
	for i, member := range f.fields {
		names[i] = member.name
	}
	return names
}

// keys lists the dotted keys of everything below, in the order of the structs.
func (f *field) keys() []string {
	var keys []string
	f.walk(func(member *field) {
		if member.name != "" {
			keys = append(keys, member.key)
		}
	})
	return keys
}

// walk visits everything below a field, outer before inner.
func (f *field) walk(visit func(*field)) {
	for _, member := range f.fields {
		visit(member)
		member.walk(visit)
	}
	if f.elem != nil {
		visit(f.elem)
		f.elem.walk(visit)
	}
}

func (f *field) bounds() string {
	low, high := f.low.IsValid(), f.high.IsValid()
	switch {
	case low && high:
		return " from " + f.format(f.low) + " to " + f.format(f.high)
	case low:
		return " of at least " + f.format(f.low)
	case high:
		return " of at most " + f.format(f.high)
	}
	return ""
}

// listed joins allowed texts for a message; an empty one is made visible.
func listed(texts []string) string {
	shown := make([]string, len(texts))
	for i, text := range texts {
		if text == "" {
			text = `""`
		}
		shown[i] = text
	}
	return strings.Join(shown, ", ")
}
