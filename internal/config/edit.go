package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetEntry writes one entry of a block of named entries, such as a server of
// mcp_servers, into the text of a file of settings, in place of one that is
// there. All the rest of the text stays as it is, comments too. A value is made
// of texts, bools, numbers, lists of texts and tables of these. The result is read again:
// what does not say the value, and all else as before, is not handed out.
func SetEntry(text []byte, block, name string, value map[string]any) ([]byte, error) {
	entry, err := nodeOf(value)
	if err != nil {
		return nil, fmt.Errorf("writing %s.%s: %w", block, name, err)
	}
	return setEntry(text, block, name, entry)
}

// SetText does so with an entry that is a text, such as bus.agent.
func SetText(text []byte, block, name, value string) ([]byte, error) {
	entry, err := nodeOf(value)
	if err != nil {
		return nil, fmt.Errorf("writing %s.%s: %w", block, name, err)
	}
	return setEntry(text, block, name, entry)
}

func setEntry(text []byte, block, name string, entry *yaml.Node) ([]byte, error) {
	before, err := topLevel(text)
	if err != nil {
		return nil, err
	}
	written, err := entryText(name, entry)
	if err != nil {
		return nil, fmt.Errorf("writing %s.%s: %w", block, name, err)
	}
	rest, _, err := RemoveEntry(text, block, name)
	if err != nil {
		return nil, err
	}
	lines, at, indent, err := placeFor(rest, block)
	if err != nil {
		return nil, err
	}
	end := lineEnd(text)
	var put []string
	if at < 0 { // there is no such block yet
		if n := len(lines); n > 0 {
			if !strings.HasSuffix(lines[n-1], "\n") {
				lines[n-1] += end
			}
			if strings.TrimSpace(lines[n-1]) != "" {
				put = append(put, end)
			}
		}
		put, at, indent = append(put, block+":"+end), len(lines), 2
	}
	for line := range strings.Lines(written) {
		put = append(put, strings.Repeat(" ", indent)+strings.TrimSuffix(line, "\n")+end)
	}
	if at > 0 && !strings.HasSuffix(lines[at-1], "\n") {
		lines[at-1] += end // the head of the block was the last line
	}
	out := []byte(strings.Join(slices.Insert(lines, at, put...), ""))
	if err := checkEdit(out, before, block, name, entry); err != nil {
		return nil, err
	}
	return out, nil
}

// RemoveEntry takes one entry out again. It reports whether there was one.
func RemoveEntry(text []byte, block, name string) ([]byte, bool, error) {
	root, err := topLevel(text)
	if err != nil {
		return nil, false, err
	}
	if root == nil {
		return text, false, nil
	}
	head, value := entryIn(root, block)
	if value == nil || value.Kind != yaml.MappingNode {
		return text, false, nil
	}
	key, _ := entryIn(value, name)
	if key == nil {
		return text, false, nil
	}
	if (value.Style|root.Style)&yaml.FlowStyle != 0 {
		return nil, false, inBraces(block)
	}
	lines := splitLines(text)
	from, to := key.Line-1, len(lines)
	if next := after(value, key); next != nil {
		to = next.Line - 1
	} else if next := after(root, head); next != nil {
		to = next.Line - 1
	}
	// Blank lines, and comments that do not stand in, belong to what follows.
	for to > from+1 && ofNext(lines[to-1], key.Column-1) {
		to--
	}
	if from < head.Line || to <= from {
		return nil, false, inBraces(block)
	}
	lines = slices.Delete(lines, from, to)
	if len(value.Content) == 2 { // it was the only one: an empty block says so
		line, colon, ok := headOf(lines, head)
		if !ok {
			return nil, false, inBraces(block)
		}
		rest := strings.TrimRight(line[colon:], " \t\r\n")
		lines[head.Line-1] = line[:colon] + " {}" + rest + line[len(strings.TrimRight(line, "\r\n")):]
	}
	out := []byte(strings.Join(lines, ""))
	if err := checkEdit(out, root, block, name, nil); err != nil {
		return nil, false, err
	}
	return out, true, nil
}

// Entry gives one entry of a block as it stands in the text of a file of
// settings, and whether there is one.
func Entry(text []byte, block, name string) (value any, there bool, err error) {
	root, err := topLevel(text)
	if err != nil || root == nil {
		return nil, false, err
	}
	_, entries := entryIn(root, block)
	if entries == nil || entries.Kind != yaml.MappingNode {
		return nil, false, nil
	}
	_, entry := entryIn(entries, name)
	if entry == nil {
		return nil, false, nil
	}
	if err := entry.Decode(&value); err != nil {
		return nil, false, fmt.Errorf("reading %s.%s: %w", block, name, err)
	}
	return value, true, nil
}

// ofNext reports whether a line before a key belongs to that key.
func ofNext(line string, indent int) bool {
	bare := strings.TrimSpace(line)
	return bare == "" || bare[0] == '#' && len(line)-len(strings.TrimLeft(line, " ")) <= indent
}

// headOf gives the line of a block's key, and where its colon ends.
func headOf(lines []string, head *yaml.Node) (line string, colon int, ok bool) {
	line = lines[head.Line-1]
	at := head.Column - 1 + len(head.Value)
	if at > len(line) {
		return line, 0, false
	}
	i := strings.IndexByte(line[at:], ':')
	return line, at + i + 1, i >= 0
}

// placeFor finds the line behind the head of a block, and how far its entries
// stand in; -1 if there is no such block. A head that says that the block is
// empty is made one that has entries.
func placeFor(text []byte, block string) (lines []string, line, indent int, err error) {
	lines = splitLines(text)
	root, err := topLevel(text)
	if err != nil {
		return nil, 0, 0, err
	}
	if root == nil {
		return lines, -1, 0, nil
	}
	if root.Style&yaml.FlowStyle != 0 {
		return nil, 0, 0, inBraces(block)
	}
	key, value := entryIn(root, block)
	switch {
	case key == nil:
		return lines, -1, 0, nil
	case value.Kind == yaml.MappingNode && len(value.Content) > 0 && value.Style&yaml.FlowStyle == 0:
		return lines, key.Line, value.Content[0].Column - 1, nil
	case value.Kind == yaml.MappingNode && len(value.Content) == 0, value.ShortTag() == "!!null":
		head, colon, ok := headOf(lines, key)
		body := strings.TrimRight(head, "\r\n")
		if !ok {
			return nil, 0, 0, inBraces(block)
		}
		says, comment, commented := strings.Cut(body[colon:], "#")
		switch strings.TrimSpace(says) {
		case "", "{}", "null", "~":
		default:
			return nil, 0, 0, inBraces(block)
		}
		if commented {
			comment = " #" + comment
		}
		lines[key.Line-1] = head[:colon] + strings.TrimRight(comment, " \t") + head[len(body):]
		return lines, key.Line, 2, nil
	}
	return nil, 0, 0, inBraces(block)
}

func inBraces(block string) error {
	return fmt.Errorf("%s is written in braces, or is no block: change it by hand, with an entry to a line", block)
}

func splitLines(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }

// lineEnd is how the lines of a file end.
func lineEnd(text []byte) string {
	if strings.Contains(string(text), "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// Decode reads YAML or JSON into a value, for the formats of others.
func Decode(text []byte, into any) error { return yaml.Unmarshal(text, into) }
