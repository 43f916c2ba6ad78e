package config

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxTried bounds how many places of a text in brackets are tried.
const maxTried = 64

// atEmptyHead writes below a key that says that nothing is there.
func atEmptyHead(lines []string, key *yaml.Node, rest []string, item, end string) [][]byte {
	head, colon, ok := headOf(lines, key)
	if !ok {
		return nil
	}
	body := strings.TrimRight(head, "\r\n")
	says, comment, commented := strings.Cut(body[colon:], "#")
	switch strings.TrimSpace(says) {
	case "", "{}", "[]", "null", "~":
	default:
		return nil
	}
	if commented {
		comment = " #" + comment
	}
	lines = slices.Clone(lines)
	lines[key.Line-1] = head[:colon] + strings.TrimRight(comment, " \t") + end
	var out [][]byte
	for _, indent := range []int{key.Column + 1, key.Column + 3} {
		out = append(out, joined(slices.Insert(slices.Clone(lines), key.Line, blockOf(rest, item, indent, end)...)))
	}
	return out
}

// afterItems writes behind the last item of a list with an item to a line.
func afterItems(lines []string, list, root *yaml.Node, item, end string) [][]byte {
	first := lines[list.Content[0].Line-1]
	dash := strings.IndexByte(first, '-')
	if dash < 0 || strings.TrimLeft(first[:dash], " ") != "" {
		return nil
	}
	line := first[:dash] + "- " + scalarText(item) + end
	to := endLine(list, root, len(lines))
	for to > list.Content[len(list.Content)-1].Line && blankOrComment(lines[to-1]) {
		to--
	}
	lines = slices.Clone(lines)
	if !strings.HasSuffix(lines[to-1], "\n") {
		lines[to-1] += end
	}
	return [][]byte{joined(slices.Insert(lines, to, line))}
}

func blankOrComment(line string) bool {
	bare := strings.TrimSpace(line)
	return bare == "" || bare[0] == '#'
}

// endLine is the last line before the node that follows in the file, all blocks
// considered.
func endLine(of, root *yaml.Node, lines int) int {
	next := lines + 1
	inside := map[*yaml.Node]bool{}
	var mark func(*yaml.Node)
	mark = func(n *yaml.Node) {
		inside[n] = true
		for _, c := range n.Content {
			mark(c)
		}
	}
	mark(of)
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		if inside[n] {
			return
		}
		if n.Line > of.Line && n.Line < next {
			next = n.Line
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(root)
	return next - 1
}

// region is the bytes of a text in which a node is written.
func region(text []byte, n, root *yaml.Node) (from, to int) {
	lines := splitLines(text)
	last := endLine(n, root, len(lines))
	for i, line := range lines {
		if i < n.Line-1 {
			from += len(line)
		}
		if i < last {
			to += len(line)
		}
	}
	if to > from {
		return from, to
	}
	if n.Line-1 < len(lines) { // what follows stands on the same line
		return from, from + len(lines[n.Line-1])
	}
	return from, from
}

// inFlowList tries every closing bracket that may be the one of the list.
func inFlowList(text []byte, list, root *yaml.Node, item string) [][]byte {
	from, to := region(text, list, root)
	var out [][]byte
	for i := to - 1; i >= from && len(out) < 2*maxTried; i-- {
		if text[i] != ']' {
			continue
		}
		before := strings.TrimRight(string(text[from:i]), " \t\r\n")
		put := []string{", " + quotedText(item)}
		if strings.HasSuffix(before, "[") || strings.HasSuffix(before, ",") {
			put = []string{quotedText(item), " " + quotedText(item)}
		}
		for _, p := range put {
			out = append(out, slices.Concat(text[:i], []byte(p), text[i:]))
		}
	}
	return out
}

// inFlowMap tries every opening brace that may be the one of the block.
func inFlowMap(text []byte, block, root *yaml.Node, rest []string, item string) [][]byte {
	from, to := region(text, block, root)
	var out [][]byte
	for i := from; i < to && len(out) < maxTried; i++ {
		if text[i] != '{' {
			continue
		}
		put := "[" + quotedText(item) + "]"
		for n, name := range slices.Backward(rest) {
			if put = scalarText(name) + ": " + put; n > 0 {
				put = "{" + put + "}"
			}
		}
		out = append(out, slices.Concat(text[:i+1], []byte(put+", "), text[i+1:]))
	}
	return out
}

// removings are texts that may be without the item of a list.
func removings(text []byte, root *yaml.Node, path []string, n int) [][]byte {
	list := listAt(root, path)
	item := list.Content[n]
	if list.Style&yaml.FlowStyle != 0 {
		return outOfFlow(text, list, root, item)
	}
	lines := splitLines(text)
	at := item.Line - 1
	// Only a line that is the item and nothing else is ours.
	if !slices.Contains([]string{scalarText(item.Value), quotedText(item.Value)}, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines[at]), "- "))) {
		return nil
	}
	if len(list.Content) > 1 {
		return [][]byte{joined(slices.Delete(slices.Clone(lines), at, at+1))}
	}
	key, _ := headFor(root, path)
	if key == nil || key.Line-1 >= at {
		return nil
	}
	head, colon, ok := headOf(lines, key)
	if !ok {
		return nil
	}
	lines = slices.Clone(lines)
	lines[key.Line-1] = head[:colon] + " []" + head[colon:]
	return [][]byte{joined(slices.Delete(lines, at, at+1))}
}

// headFor is the key of a list.
func headFor(root *yaml.Node, path []string) (key, value *yaml.Node) {
	at := root
	for _, name := range path {
		if at == nil || at.Kind != yaml.MappingNode {
			return nil, nil
		}
		key, at = entryIn(at, name)
	}
	return key, at
}

// outOfFlow tries to take the item out of a list in brackets, with one comma.
func outOfFlow(text []byte, list, root, item *yaml.Node) [][]byte {
	from, to := region(text, list, root)
	var out [][]byte
	for _, written := range []string{quotedText(item.Value), "'" + strings.ReplaceAll(item.Value, "'", "''") + "'", item.Value} {
		for _, around := range []string{`,[ \t]*` + regexp.QuoteMeta(written), regexp.QuoteMeta(written) + `[ \t]*,[ \t]*`, regexp.QuoteMeta(written)} {
			re, err := regexp.Compile(around)
			if err != nil {
				continue
			}
			for _, m := range slices.Backward(re.FindAllIndex(text[from:to], maxTried)) {
				out = append(out, slices.Concat(text[:from+m[0]], text[from+m[1]:]))
			}
		}
	}
	return out
}

// checkItem reads a changed text and holds it against the tree before: the last
// item of the list is the one that is wanted, and all the rest is the same.
func checkItem(text []byte, before *yaml.Node, path []string, item string) error {
	got, err := topLevel(text)
	if err != nil {
		return err
	}
	list := listAt(got, path)
	if list == nil || len(list.Content) == 0 {
		return errors.New("the list is not there")
	}
	last := list.Content[len(list.Content)-1]
	if last.Kind != yaml.ScalarNode || last.ShortTag() != "!!str" || last.Value != item || last.Anchor != "" {
		return errors.New("the item is not there")
	}
	if merges(got, path) || !same(bared(got, path, len(list.Content)-1), bared(before, path, -1)) {
		return errors.New("the rest would not be the same")
	}
	return nil
}

// merges reports whether a block on the way takes over entries of another: one that
// is written here would hide those.
func merges(root *yaml.Node, path []string) bool {
	at := root
	for _, name := range path {
		if at == nil || at.Kind != yaml.MappingNode {
			return false
		}
		for i := 0; i+1 < len(at.Content); i += 2 {
			if at.Content[i].ShortTag() == "!!merge" {
				return true
			}
		}
		_, at = entryIn(at, name)
	}
	return false
}

// bared is a tree without one item of a list (-1: with all), and without what on the
// way to it says nothing then. It is compared and never written.
func bared(n *yaml.Node, path []string, item int) *yaml.Node {
	if n == nil {
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	out := *n
	switch {
	case len(path) == 0 && n.Kind == yaml.SequenceNode:
		if item >= 0 {
			out.Content = slices.Delete(slices.Clone(n.Content), item, item+1)
		}
	case len(path) > 0 && n.Kind == yaml.MappingNode:
		out.Content = nil
		key, _ := entryIn(n, path[0])
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			if k != key {
				out.Content = append(out.Content, k, v)
				continue
			}
			if v = bared(v, path[1:], item); !saysNothing(v) {
				out.Content = append(out.Content, k, v)
			}
		}
	}
	return &out
}

func saysNothing(n *yaml.Node) bool {
	switch {
	case n.Anchor != "":
		return false
	case n.Kind == yaml.ScalarNode:
		return n.ShortTag() == "!!null"
	}
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && len(n.Content) == 0
}
