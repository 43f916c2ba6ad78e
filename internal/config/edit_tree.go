package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// topLevel reads a file of settings that is to be changed line by line; nil if
// nothing stands in it. It takes less than YAML allows: what the parser counts
// as lines has to be what we count as lines.
func topLevel(text []byte) (*yaml.Node, error) {
	const left = "the file of settings cannot be changed here, so it is left as it is: "
	if !utf8.Valid(text) {
		return nil, errors.New(left + "it is not UTF-8")
	}
	if s := strings.ReplaceAll(string(text), "\r\n", "\n"); strings.ContainsAny(s, "\r\u0085\u2028\u2029") {
		return nil, errors.New(left + "it has line ends other than those of Unix and Windows")
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf(left+"%w", err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New(left + "it has more than one document")
	}
	var whole any // finds keys that are there twice, and aliases without end
	if err := doc.Decode(&whole); err != nil {
		return nil, fmt.Errorf(left+"%w", err)
	}
	root := doc.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, errors.New(left + "it is no list of settings")
	}
	return root, nil
}

// entryIn finds a key of a mapping and its value.
func entryIn(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if k := mapping.Content[i]; k.Kind == yaml.ScalarNode && k.Value == name {
			return k, mapping.Content[i+1]
		}
	}
	return nil, nil
}

// after gives the key behind a key.
func after(mapping, key *yaml.Node) *yaml.Node {
	if i := slices.Index(mapping.Content, key); i+2 < len(mapping.Content) {
		return mapping.Content[i+2]
	}
	return nil
}

// nodeOf builds a value as a tree, never by way of a text: so it is what the
// text is held against.
func nodeOf(value any) (*yaml.Node, error) {
	switch v := value.(type) {
	case string:
		return textNode(v)
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}, nil
	case int:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(v)}, nil
	case float64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: floatText(v)}, nil
	case []string:
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, s := range v {
			n, err := textNode(s)
			if err != nil {
				return nil, err
			}
			list.Content = append(list.Content, n)
		}
		return list, nil
	case map[string]string:
		return mappingOf(v)
	case map[string]any:
		return mappingOf(v)
	}
	return nil, fmt.Errorf("a setting cannot be a %T here", value)
}

// floatText writes a number so that a reader takes it for one with a fraction.
func floatText(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func mappingOf[V any](m map[string]V) (*yaml.Node, error) {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		key, err := textNode(name)
		if err != nil {
			return nil, err
		}
		value, err := nodeOf(m[name])
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, key, value)
	}
	return out, nil
}

// textNode quotes whatever is not plain ASCII on one line: the writer's other
// ways of writing a text take characters for plain that a reader breaks lines at,
// and << for a text where it is none.
func textNode(s string) (*yaml.Node, error) {
	if !utf8.ValidString(s) {
		return nil, errors.New("a text is not UTF-8")
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if s == "<<" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n, nil
}

// entryText writes an entry as lines of a block.
func entryText(name string, value *yaml.Node) (string, error) {
	key, err := textNode(name)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err = enc.Encode(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, value}})
	return b.String(), errors.Join(err, enc.Close())
}

// checkEdit reads a changed text and holds it against the tree before: the entry
// is the one that is wanted, or not there, and all the rest is the same.
func checkEdit(text []byte, before *yaml.Node, block, name string, want *yaml.Node) error {
	got, err := topLevel(text)
	if err != nil {
		return fmt.Errorf("the change would break the file, so it was not made: %w", err)
	}
	entry, rest := splitEntry(got, block, name)
	_, was := splitEntry(before, block, name)
	if !same(entry, want) || !same(rest, was) {
		return errors.New("the file is written in a way that cannot be changed here without touching the rest, so it is left as it is: change it by hand")
	}
	return nil
}

// splitEntry takes a tree apart into one entry and the rest of it. A block without
// any other entry counts as none.
func splitEntry(root *yaml.Node, block, name string) (entry, rest *yaml.Node) {
	rest = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if root == nil {
		return nil, rest
	}
	key, value := entryIn(root, block)
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		if k != key {
			rest.Content = append(rest.Content, k, v)
			continue
		}
		if v.Kind == yaml.MappingNode {
			others := &yaml.Node{Kind: v.Kind, Tag: v.Tag, Anchor: v.Anchor}
			var at *yaml.Node
			at, entry = entryIn(value, name)
			for j := 0; j+1 < len(v.Content); j += 2 {
				if v.Content[j] != at {
					others.Content = append(others.Content, v.Content[j], v.Content[j+1])
				}
			}
			v = others
		}
		empty := v.Kind == yaml.MappingNode && len(v.Content) == 0 && v.Anchor == "" || v.Kind == yaml.ScalarNode && v.ShortTag() == "!!null" && v.Anchor == ""
		if !empty {
			rest.Content = append(rest.Content, k, v)
		}
	}
	return entry, rest
}

// same compares what two trees say, not how they are written. Keys keep their
// order, as no change here moves one. An alias says what it stands for:
// topLevel has made sure that this ends.
func same(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || a.Value != b.Value || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.AliasNode {
		return same(a.Alias, b.Alias)
	}
	return slices.EqualFunc(a.Content, b.Content, same)
}
