package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// set holds the elements of a list for quick look-up: a project's list can have a quarter of a million of them.
type set struct {
	elem  *field
	texts map[string]bool
}

func newSet(elem *field, list reflect.Value) set {
	s := set{elem: elem, texts: make(map[string]bool, list.Len())}
	for i := range list.Len() {
		s.add(list.Index(i))
	}
	return s
}

func (s set) has(v reflect.Value) bool { return s.texts[identity(s.elem, v)] }

// add reports whether the element is new.
func (s set) add(v reflect.Value) bool {
	text := identity(s.elem, v)
	if s.texts[text] {
		return false
	}
	s.texts[text] = true
	return true
}

// identity writes a value so that two values have the same text exactly if they mean the same: an absent list or map is
// an empty one.
func identity(f *field, v reflect.Value) string {
	var b strings.Builder
	writeIdentity(&b, f, v)
	return b.String()
}

func writeIdentity(b *strings.Builder, f *field, v reflect.Value) {
	switch f.kind {
	case kindBlock, kindOptional:
		if f.kind == kindOptional && v.IsNil() {
			b.WriteByte('-')
			return
		}
		b.WriteByte('{')
		for member, value := range f.settings(v) {
			writeIdentity(b, member, value)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case kindList:
		b.WriteByte('[')
		for i := range v.Len() {
			writeIdentity(b, f.elem, v.Index(i))
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case kindMap:
		b.WriteByte('(')
		for _, name := range entryNames(v) {
			b.WriteString(strconv.Quote(name))
			b.WriteByte(':')
			entry, _ := entryOf(f, v, name)
			writeIdentity(b, f.elem, entry)
			b.WriteByte(',')
		}
		b.WriteByte(')')
	default:
		b.WriteString(strconv.Quote(f.format(v)))
	}
}

// entryNames lists the names of a map in order.
func entryNames(m reflect.Value) []string {
	names := make([]string, 0, m.Len())
	for entries := m.MapRange(); entries.Next(); {
		names = append(names, entries.Key().String())
	}
	slices.Sort(names)
	return names
}
