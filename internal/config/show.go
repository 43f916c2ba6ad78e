package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Hidden stands in place of a secret that is set. It is no value that could be mistaken for one.
const Hidden = "(hidden)"

// Show writes the result as YAML with the origin of every value behind it. Without its secrets it could be loaded again
// and would give the same settings.
func Show[T any](loaded *Loaded[T]) ([]byte, error) { return show(loaded, false) }

// ShowChanged is Show for what is not a default.
func ShowChanged[T any](loaded *Loaded[T]) ([]byte, error) { return show(loaded, true) }

func show[T any](loaded *Loaded[T], changed bool) ([]byte, error) {
	root, err := newTree(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	s := showWriter{origins: loaded.Origins, changed: changed}
	s.block(root.fields, reflect.ValueOf(&loaded.Value).Elem(), "", "")
	if s.err != nil {
		return nil, fmt.Errorf("showing settings: %w", s.err)
	}
	return s.out.Bytes(), nil
}

// showWriter writes YAML itself, because the encoder of the library moves comments about.
type showWriter struct {
	origins map[string]Origin
	out     bytes.Buffer
	err     error

	changed bool     // only what is not a default
	heads   []string // labels that are written once something below them is
	listed  bool     // the elements that follow are of a list that is written
}

// wanted reports whether a line is to be written, and writes the labels above it.
func (s *showWriter) wanted(indent, text, key string) bool {
	for len(s.heads) > 0 && len(s.heads[len(s.heads)-1])-len(strings.TrimLeft(s.heads[len(s.heads)-1], " ")) >= len(indent) {
		s.heads = s.heads[:len(s.heads)-1]
	}
	origin, known := s.origins[key]
	element := strings.HasPrefix(text, "-")
	switch {
	case !known && element:
		return s.listed
	case !known:
		s.heads = append(s.heads, indent+text)
		return false
	case !element:
		s.listed = origin.Source != SourceDefault
	}
	if origin.Source == SourceDefault {
		return false
	}
	for _, head := range s.heads {
		s.out.WriteString(head + "\n")
	}
	s.heads = nil
	return true
}

// line writes one line with the origin of a key, if it has one.
func (s *showWriter) line(indent, text, key string) {
	if s.changed && !s.wanted(indent, text, key) {
		return
	}
	s.out.WriteString(indent + text)
	if origin, ok := s.origins[key]; ok {
		s.out.WriteString("  # " + origin.String())
	}
	s.out.WriteByte('\n')
}

func (s *showWriter) block(members []*field, v reflect.Value, key, indent string) {
	for _, member := range members {
		s.member(member, member.name, v.Field(member.index), joinKey(key, member.name), indent)
	}
}

// member writes "name: value" or a name with what belongs to it indented below.
func (s *showWriter) member(f *field, name string, v reflect.Value, key, indent string) {
	label := s.text(name) + ":"
	switch f.kind {
	case kindBlock:
		s.blockUnder(f.fields, label, v, key, indent)
	case kindOptional:
		if v.IsNil() {
			// A comment, since an empty block would bring it into being.
			s.line(indent, "# "+label+" not set", key)
			return
		}
		s.blockUnder(f.fields, label, v.Elem(), key, indent)
	case kindMap:
		if v.Len() == 0 {
			s.line(indent, label+" {}", key)
			return
		}
		s.line(indent, label, key)
		for _, entry := range entryNames(v) {
			value, _ := entryOf(f, v, entry)
			s.member(f.elem, entry, value, joinKey(key, entry), indent+"  ")
		}
	case kindList:
		if v.Len() == 0 {
			s.line(indent, label+" []", key)
			return
		}
		s.line(indent, label, key)
		for i := range v.Len() {
			s.element(f.elem, v.Index(i), elementKey(key, i), indent+"  ")
		}
	default:
		s.line(indent, label+" "+s.scalar(f, v), key)
	}
}

// blockUnder writes a label and a block below it; a block without settings needs its braces.
func (s *showWriter) blockUnder(members []*field, label string, v reflect.Value, key, indent string) {
	if len(members) == 0 {
		s.line(indent, label+" {}", key)
		return
	}
	s.line(indent, label, key)
	s.block(members, v, key, indent+"  ")
}

// element writes one element of a list. A block starts on the line below its dash, which YAML allows and which keeps the
// origin of the element apart from that of its first setting.
func (s *showWriter) element(f *field, v reflect.Value, key, indent string) {
	if f.kind == kindBlock {
		if len(f.fields) == 0 {
			s.line(indent, "- {}", key)
			return
		}
		s.line(indent, "-", key)
		s.block(f.fields, v, key, indent+"  ")
		return
	}
	s.line(indent, "- "+s.scalar(f, v), key)
}

func (s *showWriter) scalar(f *field, v reflect.Value) string {
	if f.secret && !v.IsZero() {
		return Hidden
	}
	if f.kind == kindText {
		return s.text(v.String())
	}
	return f.format(v)
}

// text writes a string as a YAML scalar on one line. The library knows which strings need quotes, old readings such as
// "yes" included, but for the sign of a merge; one that does not print is quoted in any case, which escapes it.
func (s *showWriter) text(value string) string {
	var encoded []byte
	var err error
	if value == "<<" || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
		encoded, err = yaml.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Style: yaml.DoubleQuotedStyle})
	} else if encoded, err = yaml.Marshal(value); err == nil && !utf8.ValidString(value) {
		err = errors.New("a text is not valid UTF-8")
	}
	if err != nil && s.err == nil {
		s.err = err
	}
	return strings.TrimSuffix(string(encoded), "\n")
}
