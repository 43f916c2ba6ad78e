package config

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ValueKind is what a Value is.
type ValueKind uint8

// The kinds of values. A date that nobody quoted is text, as it is for settings.
const (
	Nothing ValueKind = iota
	Truth
	Number
	Text
	List
	Block
)

func (k ValueKind) String() string {
	return [...]string{"nothing", "true or false", "a number", "a text", "a list", "a block"}[k]
}

// Value is a YAML value with its place, for files whose form is not that of a Go struct.
type Value struct {
	Kind         ValueKind
	Text         string // of a scalar: as it was written, without its quotes
	Line, Column int
	Items        []Value  // of a list
	Members      []Member // of a block, in the order of the file
}

// Member is one key of a block.
type Member struct {
	Name         string
	Line, Column int
	Value        Value
}

// ReadValue reads a document of at most a few thousand values. An empty one is Nothing. Aliases are followed within the
// bounds of settings; merges (<<), keys that are no names and tags of programs are problems.
func ReadValue(file string, data []byte) (Value, []*Problem) {
	r := valueReader{problems: &problems{file: file}}
	root := parseYAML(data, r.problems)
	if root == nil {
		return Value{}, r.problems.list
	}
	return r.value(root, 0), r.problems.list
}

// maxDeep bounds how deep values lie in each other; an alias inside its own anchor ends there too.
const maxDeep = 64

type valueReader struct {
	problems *problems
	seen     int
}

func (r *valueReader) value(n *yaml.Node, depth int) Value {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	v := Value{Line: n.Line, Column: n.Column}
	if r.seen++; r.seen > maxExpanded || depth > maxDeep {
		if r.seen <= maxExpanded || !r.problems.full {
			r.problems.add(at(n), "", "there are more than %d values, or they lie deeper than %d", maxExpanded, maxDeep)
			r.problems.full = true // nothing behind it is of use
		}
		return v
	}
	switch {
	case n.Kind == yaml.MappingNode && n.ShortTag() == "!!map":
		v.Kind = Block
		r.members(&v, n, depth)
	case n.Kind == yaml.SequenceNode && n.ShortTag() == "!!seq":
		v.Kind = List
		for _, item := range n.Content {
			if r.problems.full {
				break
			}
			v.Items = append(v.Items, r.value(item, depth+1))
		}
	case n.Kind == yaml.ScalarNode:
		v.Text = n.Value
		switch n.ShortTag() {
		case "!!null":
		case "!!bool":
			v.Kind = Truth
		case "!!int", "!!float":
			v.Kind = Number
		case "!!str", "!!timestamp", "!!merge":
			v.Kind = Text
		default:
			r.problems.add(at(n), "", "%s cannot be read here", describeNode(n, false))
		}
	default:
		r.problems.add(at(n), "", "%s cannot be read here", describeNode(n, false))
	}
	return v
}

func (r *valueReader) members(v *Value, n *yaml.Node, depth int) {
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content) && !r.problems.full; i += 2 {
		k := n.Content[i]
		for k.Kind == yaml.AliasNode && k.Alias != nil {
			k = k.Alias
		}
		switch {
		case !nameable(k):
			r.problems.add(at(n.Content[i]), "", "expected a name as key, got %s", describeNode(k, false))
		case first[k.Value] > 0:
			r.problems.add(at(n.Content[i]), "", "the key %s is already set in line %d", clip(k.Value), first[k.Value])
		default:
			first[k.Value] = n.Content[i].Line
			v.Members = append(v.Members, Member{Name: k.Value, Line: n.Content[i].Line, Column: n.Content[i].Column, Value: r.value(n.Content[i+1], depth+1)})
		}
	}
}

// Member gives what stands under a key.
func (v Value) Member(name string) (Value, bool) {
	for _, m := range v.Members {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

// JSON writes the value as JSON, members in the order of the file. A number that JSON cannot write (.inf, .nan) is a text.
func (v Value) JSON() json.RawMessage {
	var b bytes.Buffer
	v.write(&b)
	return b.Bytes()
}

func (v Value) write(b *bytes.Buffer) {
	switch v.Kind {
	case Truth:
		b.WriteString(strconv.FormatBool(strings.EqualFold(v.Text, "true")))
	case Number:
		b.WriteString(numberJSON(v.Text))
	case Text:
		writeText(b, v.Text)
	case List:
		b.WriteByte('[')
		for i, item := range v.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	case Block:
		b.WriteByte('{')
		for i, m := range v.Members {
			if i > 0 {
				b.WriteByte(',')
			}
			writeText(b, m.Name)
			b.WriteByte(':')
			m.Value.write(b)
		}
		b.WriteByte('}')
	default:
		b.WriteString("null")
	}
}

func writeText(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text always can be written
	b.Truncate(b.Len() - 1)
}

// numberJSON writes a number of YAML (0x1f, 1_000, .5, 0o17, +3) as JSON does.
func numberJSON(s string) string {
	if json.Valid([]byte(s)) {
		return s
	}
	plain := strings.ReplaceAll(s, "_", "")
	if i, ok := new(big.Int).SetString(plain, 0); ok {
		return i.String()
	}
	if f, err := strconv.ParseFloat(plain, 64); err == nil {
		if text, err := json.Marshal(f); err == nil {
			return string(text)
		}
	}
	quoted, _ := json.Marshal(s)
	return string(quoted)
}
