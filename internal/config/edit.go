package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetEntry writes one entry of a block of named entries, such as a server of
// mcp_servers, into the text of a file of settings, in place of one that is
// there. All the rest of the text stays as it is, comments too.
func SetEntry(text []byte, block, name string, value map[string]any) ([]byte, error) {
	var entry bytes.Buffer
	enc := yaml.NewEncoder(&entry)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(map[string]any{name: value}), enc.Close()); err != nil {
		return nil, fmt.Errorf("writing %s.%s: %w", block, name, err)
	}
	text, _, err := RemoveEntry(text, block, name)
	if err != nil {
		return nil, err
	}
	at, indent, err := placeFor(text, block)
	if err != nil {
		return nil, err
	}
	lines := splitLines(text)
	var put []string
	if at < 0 { // there is no such block yet
		if n := len(lines); n > 0 && strings.TrimSpace(lines[n-1]) != "" {
			put = append(put, "\n")
		}
		put, at, indent = append(put, block+":\n"), len(lines), 2
		if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
			lines[n-1] += "\n"
		}
	}
	for line := range strings.Lines(entry.String()) {
		put = append(put, strings.Repeat(" ", indent)+line)
	}
	out := strings.Join(append(append(append([]string{}, lines[:at]...), put...), lines[at:]...), "")
	return []byte(out), readable(out)
}

// RemoveEntry takes one entry out again. It reports whether there was one.
func RemoveEntry(text []byte, block, name string) ([]byte, bool, error) {
	root, err := topLevel(text)
	if err != nil || root == nil {
		return text, false, err
	}
	_, value := entryIn(root, block)
	if value == nil || value.Kind != yaml.MappingNode {
		return text, false, nil
	}
	key, _ := entryIn(value, name)
	if key == nil {
		return text, false, nil
	}
	if value.Style&yaml.FlowStyle != 0 {
		return nil, false, inBraces(block)
	}
	lines := splitLines(text)
	from := key.Line - 1
	to := from + 1
	for to < len(lines) && (strings.TrimSpace(lines[to]) == "" || indentOf(lines[to]) > key.Column-1) {
		to++
	}
	for to > from+1 && strings.TrimSpace(lines[to-1]) == "" {
		to-- // blank lines belong to what follows
	}
	rest := append(append([]string{}, lines[:from]...), lines[to:]...)
	if len(value.Content) == 2 { // it was the only one: an empty block says so
		head, _ := entryIn(root, block)
		line := head.Line - 1
		rest[line] = strings.TrimRight(strings.TrimRight(rest[line], "\n"), " ") + " {}\n"
	}
	out := strings.Join(rest, "")
	return []byte(out), true, readable(out)
}

// placeFor finds the line behind the head of a block, and how far its entries
// stand in; -1 if there is no such block. A head that says that the block is
// empty is made one that has entries.
func placeFor(text []byte, block string) (line, indent int, err error) {
	root, err := topLevel(text)
	if err != nil {
		return 0, 0, err
	}
	if root == nil {
		return -1, 0, nil
	}
	key, value := entryIn(root, block)
	switch {
	case key == nil:
		return -1, 0, nil
	case value.Kind == yaml.MappingNode && len(value.Content) > 0 && value.Style&yaml.FlowStyle == 0:
		return key.Line, value.Content[0].Column - 1, nil
	case value.Kind == yaml.MappingNode && len(value.Content) == 0, value.Tag == "!!null":
		lines := splitLines(text)
		head := lines[key.Line-1]
		colon := strings.Index(head, ":")
		rest := strings.TrimSpace(head[colon+1:])
		if rest != "" && rest != "{}" && rest != "null" && rest != "~" && !strings.HasPrefix(rest, "#") {
			return 0, 0, inBraces(block)
		}
		copy(text[offset(lines, key.Line-1)+colon+1:], bytes.Repeat([]byte(" "), len(strings.TrimRight(head, "\r\n"))-colon-1))
		return key.Line, 2, nil
	}
	return 0, 0, inBraces(block)
}

func inBraces(block string) error {
	return fmt.Errorf("%s is written in braces, or is no block: change it by hand, with an entry to a line", block)
}

func offset(lines []string, line int) int {
	n := 0
	for _, l := range lines[:line] {
		n += len(l)
	}
	return n
}

func topLevel(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("the file of settings cannot be read, so it is left as it is: %w", err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null" {
		return nil, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("the file of settings is no list of settings, so it is left as it is")
	}
	return doc.Content[0], nil
}

func entryIn(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i], mapping.Content[i+1]
		}
	}
	return nil, nil
}

func splitLines(text []byte) []string {
	var out []string
	for line := range strings.Lines(string(text)) {
		out = append(out, line)
	}
	return out
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// readable makes sure that what was written can be read again.
func readable(text string) error {
	if _, err := topLevel([]byte(text)); err != nil {
		return fmt.Errorf("the change would break the file, so it was not made: %w", err)
	}
	return nil
}

// Decode reads YAML or JSON into a value, for the formats of others.
func Decode(text []byte, into any) error { return yaml.Unmarshal(text, into) }
