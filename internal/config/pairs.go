package config

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// pair is one key of a YAML mapping with its value.
type pair struct {
	name   string
	key    *yaml.Node
	value  *yaml.Node
	merged bool // it stands elsewhere, so whatever lies below it counts as seen through an alias
}

// pairs lists a mapping with its merges (<<) resolved: keys that stand in it come before merged ones, earlier merges
// before later ones. A block that is written with nothing in it has no pairs.
func (d *decoder) pairs(f *field, n *yaml.Node, key string) ([]pair, bool) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil, true
	}
	if n.Kind != yaml.MappingNode || n.ShortTag() != "!!map" {
		d.mismatch(f, n, key)
		return nil, false
	}
	var all []pair
	var merges []*yaml.Node
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content) && !d.problems.full; i += 2 {
		k, leave := d.followAlias(n.Content[i])
		leave()
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			merges = append(merges, n.Content[i+1])
			continue
		}
		if !nameable(k) {
			d.problems.add(at(n.Content[i]), key, "expected a name as key, got %s", describeNode(k, f.secret))
			continue
		}
		if first := seen[k.Value]; first != nil {
			d.problems.add(at(n.Content[i]), d.unknownKey(key, k.Value), "this key is already set in line %d", first.Line)
			continue
		}
		seen[k.Value] = n.Content[i]
		all = append(all, pair{name: k.Value, key: n.Content[i], value: n.Content[i+1]})
	}
	for _, merge := range merges {
		for _, merged := range d.merged(f, merge, key) {
			if seen[merged.name] == nil {
				seen[merged.name] = merged.key
				merged.merged = true
				all = append(all, merged)
			}
		}
	}
	return all, true
}

// merged lists what a merge key stands for: a mapping or a list of mappings.
func (d *decoder) merged(f *field, n *yaml.Node, key string) []pair {
	n, leave := d.followAlias(n)
	defer leave()
	if d.stopped || d.problems.full {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		pairs, _ := d.pairs(f, n, key)
		for range pairs {
			d.countExpanded(n)
		}
		return pairs
	case yaml.SequenceNode:
		var all []pair
		for _, item := range n.Content {
			all = append(all, d.merged(f, item, key)...)
			if d.stopped {
				return nil
			}
		}
		return all
	}
	d.problems.add(at(n), key, "expected a block or a list of blocks to merge, got %s", describeNode(n, f.secret))
	return nil
}

// nameable reports whether a key can be taken for a name. A number can, by its spelling; true and null are more likely
// a mistake.
func nameable(k *yaml.Node) bool {
	if k.Kind != yaml.ScalarNode {
		return false
	}
	switch k.ShortTag() {
	case "!!str", "!!int", "!!float", "!!timestamp":
		return true
	}
	return false
}

// mismatch notes that a value is of another type than its setting, with a hint where the remedy is known.
func (d *decoder) mismatch(f *field, n *yaml.Node, key string) {
	hint := ""
	tag := ""
	if n.Kind == yaml.ScalarNode {
		tag = n.ShortTag()
	}
	switch {
	case tag == "!!null" && f.kind == kindList:
		hint = "; write [] for an empty list or remove the key"
	case tag == "!!null":
		hint = "; give it a value or remove the key"
	case f.kind == kindText && (tag == "!!int" || tag == "!!float" || tag == "!!bool"):
		hint = "; put it in quotes"
	case f.kind == kindDuration && (tag == "!!int" || tag == "!!float"):
		hint = "; add a unit"
	case (f.kind == kindBool || f.kind == kindInt || f.kind == kindUint || f.kind == kindFloat) && tag == "!!str":
		if _, err := f.scan(n.Value); err == nil {
			hint = "; remove the quotes"
			if f.kind == kindBool {
				hint = "; write true or false without quotes"
			}
		}
	case f.kind == kindList && n.Kind == yaml.ScalarNode:
		hint = "; write each element on its own line after a dash, or all of them in [ ]"
	}
	expected := f.expected()
	if f == d.root {
		expected = "settings (key: value)"
	}
	d.problems.add(at(n), key, "expected %s, got %s%s", expected, describeNode(n, f.secret), hint)
}

// describeNode says in words what stands in the file.
func describeNode(n *yaml.Node, secret bool) string {
	switch n.Kind {
	case yaml.MappingNode:
		if tag := n.ShortTag(); tag != "!!map" {
			return "a value with the tag " + clip(tag)
		}
		return "a block"
	case yaml.SequenceNode:
		if tag := n.ShortTag(); tag != "!!seq" {
			return "a value with the tag " + clip(tag)
		}
		return "a list"
	case yaml.ScalarNode:
	default:
		return fmt.Sprintf("a node of kind %d", n.Kind)
	}
	word := ""
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return "nothing"
	case "!!str":
		word = "the text"
	case "!!int", "!!float":
		word = "the number"
	case "!!bool":
		word = "the value"
	case "!!timestamp":
		word = "the date"
	default:
		return "a value with the tag " + clip(tag)
	}
	if secret {
		return word + " that is not shown"
	}
	if word == "the text" {
		return word + " " + clip(n.Value)
	}
	text := clip(n.Value)
	if unquoted, err := strconv.Unquote(text); err == nil && unquoted != "" && !strings.ContainsFunc(unquoted, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return word + " " + unquoted
	}
	return word + " " + text
}
