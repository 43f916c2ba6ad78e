package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Placed says where an item of a list stands in the text of a file of settings.
type Placed struct {
	Line int    // from 1 on
	Text string // the whole line, without its end
}

// AddItem puts a text at the end of a list, such as permissions.allow, into the
// text of a file of settings; the list and the blocks around it are made where they
// are missing. All the rest of the text stays as it is, comments too. The result is
// read again: what does not say the item, and all else as before, is not handed out.
func AddItem(text []byte, path []string, item string) ([]byte, Placed, error) {
	root, err := topLevel(text)
	if err != nil {
		return nil, Placed{}, err
	}
	if len(path) == 0 || strings.TrimSpace(item) == "" {
		return nil, Placed{}, errors.New("there is nothing to write")
	}
	for _, out := range addings(text, root, path, item) {
		if err := checkItem(out, root, path, item); err != nil {
			continue
		}
		at, err := lastItem(out, path)
		return out, at, err
	}
	return nil, Placed{}, fmt.Errorf("%s is written in a way that cannot be added to here without touching the rest, so it is left as it is: add the line by hand:  - %s", strings.Join(path, "."), item)
}

// RemoveItem takes the last item of that text out of a list again. It reports
// whether there was one. A line that holds more than the item, such as a comment, is
// not taken out.
func RemoveItem(text []byte, path []string, item string) ([]byte, bool, error) {
	root, err := topLevel(text)
	if err != nil {
		return nil, false, err
	}
	list := listAt(root, path)
	n := indexOf(list, item)
	if n < 0 {
		return text, false, nil
	}
	for _, out := range removings(text, root, path, n) {
		got, err := topLevel(out)
		if err == nil && same(bared(got, path, -1), bared(root, path, n)) {
			return out, true, nil
		}
	}
	return nil, false, fmt.Errorf("the line of %s in %s holds more than that, or was written anew since: take it out by hand", item, strings.Join(path, "."))
}

// HasItem finds a text in a list of a file of settings.
func HasItem(text []byte, path []string, item string) (at Placed, there bool, err error) {
	root, err := topLevel(text)
	if err != nil {
		return Placed{}, false, err
	}
	list := listAt(root, path)
	n := indexOf(list, item)
	if n < 0 {
		return Placed{}, false, nil
	}
	return placedAt(text, list.Content[n]), true, nil
}

func placedAt(text []byte, n *yaml.Node) Placed {
	lines := splitLines(text)
	if n.Line < 1 || n.Line > len(lines) {
		return Placed{}
	}
	return Placed{Line: n.Line, Text: strings.TrimRight(lines[n.Line-1], "\r\n")}
}

// lastItem is where the last item of a list stands.
func lastItem(text []byte, path []string) (Placed, error) {
	root, err := topLevel(text)
	if err != nil {
		return Placed{}, err
	}
	list := listAt(root, path)
	if list == nil || len(list.Content) == 0 {
		return Placed{}, errors.New("the list has no items")
	}
	return placedAt(text, list.Content[len(list.Content)-1]), nil
}

// listAt finds a list by its path; nil: there is none.
func listAt(root *yaml.Node, path []string) *yaml.Node {
	at := root
	for _, name := range path {
		if at == nil || at.Kind != yaml.MappingNode {
			return nil
		}
		_, at = entryIn(at, name)
	}
	if at == nil || at.Kind != yaml.SequenceNode {
		return nil
	}
	return at
}

// indexOf is the last item of that text, -1 if there is none.
func indexOf(list *yaml.Node, item string) int {
	if list == nil {
		return -1
	}
	for i, n := range slices.Backward(list.Content) {
		if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && strings.TrimSpace(n.Value) == strings.TrimSpace(item) {
			return i
		}
	}
	return -1
}

// addings are texts that may have the item: the first that does, and says nothing
// else, is taken.
func addings(text []byte, root *yaml.Node, path []string, item string) [][]byte {
	end := lineEnd(text)
	lines := splitLines(text)
	if root == nil {
		return [][]byte{appended(lines, path, item, end)}
	}
	at, depth := root, 0
	var key *yaml.Node
	for ; depth < len(path); depth++ {
		if at.Kind != yaml.MappingNode {
			break
		}
		k, v := entryIn(at, path[depth])
		if k == nil {
			break
		}
		key, at = k, v
	}
	rest := path[depth:]
	empty := at.Kind == yaml.ScalarNode && at.ShortTag() == "!!null" || (at.Kind == yaml.MappingNode || at.Kind == yaml.SequenceNode) && len(at.Content) == 0
	switch {
	case empty && key != nil:
		ways := atEmptyHead(lines, key, rest, item, end)
		if at.Kind == yaml.SequenceNode && depth == len(path) {
			ways = append(ways, inFlowList(text, at, root, item)...)
		}
		return ways
	case at.Kind == yaml.SequenceNode && depth == len(path):
		if at.Style&yaml.FlowStyle != 0 {
			return inFlowList(text, at, root, item)
		}
		return afterItems(lines, at, root, item, end)
	case at.Kind != yaml.MappingNode || depth == len(path):
		return nil // something else stands there
	case at.Style&yaml.FlowStyle != 0:
		return inFlowMap(text, at, root, rest, item)
	case key == nil:
		return [][]byte{appended(lines, rest, item, end)}
	}
	indent := at.Content[0].Column - 1
	return [][]byte{joined(slices.Insert(slices.Clone(lines), key.Line, blockOf(rest, item, indent, end)...))}
}

// blockOf writes the item as lines, in the blocks that lead to it.
func blockOf(path []string, item string, indent int, end string) []string {
	var out []string
	for _, name := range path {
		key := scalarText(name)
		out = append(out, strings.Repeat(" ", indent)+key+":"+end)
		indent += 2
	}
	return append(out, strings.Repeat(" ", indent)+"- "+scalarText(item)+end)
}

// scalarText writes a text on one line, in quotes where it needs them.
func scalarText(s string) string {
	n, err := textNode(s)
	if err != nil {
		return ""
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	if err := errors.Join(enc.Encode(n), enc.Close()); err != nil {
		return ""
	}
	out := strings.TrimSuffix(b.String(), "\n")
	if strings.Contains(out, "\n") {
		return quotedText(s)
	}
	return out
}

// quotedText writes a text so that it can stand in brackets as well.
func quotedText(s string) string {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	if err := errors.Join(enc.Encode(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}), enc.Close()); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// appended puts a new block at the end of the file.
func appended(lines []string, path []string, item, end string) []byte {
	lines = slices.Clone(lines)
	if n := len(lines); n > 0 {
		if !strings.HasSuffix(lines[n-1], "\n") {
			lines[n-1] += end
		}
		if last := strings.TrimSpace(lines[n-1]); last != "" && last != "---" {
			lines = append(lines, end)
		}
	}
	return joined(append(lines, blockOf(path, item, 0, end)...))
}

func joined(lines []string) []byte { return []byte(strings.Join(lines, "")) }
