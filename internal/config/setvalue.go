package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/toolcrib/toolcrib/internal/text"
)

// SetValue writes one setting, whose dotted key is given, into the text of a file of
// settings: in place of the one that is there, or in its block. The value is given as it
// would be to a flag. As with SetEntry the rest of the file stays as it is, comments too, and
// the result is read again.
func SetValue[T any](file []byte, key, value string) ([]byte, error) {
	tree, err := newTree(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	path, err := splitKey(key)
	if err != nil {
		return nil, err
	}
	want, err := settingNode(tree, path, key, value)
	if err != nil {
		return nil, err
	}
	return setNode(file, path, want)
}

// Keys lists the dotted keys of all settings that a command can set.
func Keys[T any]() []string {
	tree, err := newTree(reflect.TypeFor[T]())
	if err != nil {
		return nil
	}
	return tree.keys()
}

// Values lists the words that a setting can have; none: they are not a few words.
func Values[T any](key string) []string {
	tree, err := newTree(reflect.TypeFor[T]())
	if err != nil {
		return nil
	}
	path, err := splitKey(key)
	if err != nil {
		return nil
	}
	f := tree
	for _, name := range path {
		if f.kind == kindMap {
			f = f.elem
		} else {
			f = f.field(name)
		}
		if f == nil {
			return nil
		}
	}
	if f.kind == kindBool {
		return []string{"true", "false"}
	}
	return f.enum
}

// settingNode is a value of a setting, checked by its form.
func settingNode(f *field, path []string, key, value string) (*yaml.Node, error) {
	root := f
	for i, name := range path {
		var next *field
		switch f.kind {
		case kindMap:
			next = f.elem
		default:
			next = f.field(name)
		}
		if next == nil {
			return nil, unknownKey(root, f, path[:i], path[i:])
		}
		f = next
	}
	if f.secret {
		return nil, fmt.Errorf("%s is a secret, which is not written here: keep it with 'toolcrib secret set'", key)
	}
	_, node, err := textValue(root, f, key, path[len(path)-1], value, Origin{})
	if err != nil {
		return nil, fmt.Errorf("%s: %s", key, oneLine(err))
	}
	return node, nil
}

func unknownKey(root, f *field, above, below []string) error {
	if f.kind.scalar() || f.kind == kindList {
		return fmt.Errorf("%s is a single setting: nothing stands below it", strings.Join(above, "."))
	}
	full := strings.Join(slices.Concat(above, below), ".")
	near := ""
	if level := text.Nearest(below[0], f.names()); level != "" {
		near = strings.Join(slices.Concat(above, []string{level}, below[1:]), ".")
	}
	if all := root.keys(); near == "" || len(below) > 1 && !slices.Contains(all, near) {
		near = cmp.Or(lastNamed(all, full), near) // the slip is not only in this name
	}
	if near != "" {
		return fmt.Errorf("there is no setting %s. Did you mean: %s", full, near)
	}
	return fmt.Errorf("there is no setting %s; 'toolcrib config show' lists them", full)
}

const byHand = "is written in a way that cannot be changed here, so the file is left as it is: change it with 'toolcrib config edit'"

// setNode puts a value at a path.
func setNode(file []byte, path []string, want *yaml.Node) ([]byte, error) {
	before, err := topLevel(file)
	if err != nil {
		return nil, err
	}
	written, err := onOneLine(want)
	if err != nil {
		return nil, err
	}
	lines, end := splitLines(file), lineEnd(file)
	at, depth := before, 0
	var key *yaml.Node
	for at != nil && depth < len(path) && at.Kind == yaml.MappingNode {
		k, v := entryIn(at, path[depth])
		if k == nil {
			break
		}
		key, at, depth = k, v, depth+1
	}
	name := strings.Join(path, ".")
	rest := path[depth:]
	var put []string
	switch {
	case before == nil || key == nil: // a new block at the end
		if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
			lines[n-1] += end
		}
		put = slices.Concat(lines, settingLines(rest, written, 0, end))
	case depth == len(path):
		if put, err = replaced(lines, key, at, written); err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
	case at.Kind == yaml.MappingNode && at.Style&yaml.FlowStyle == 0 && len(at.Content) > 0:
		put = inserted(lines, key.Line, settingLines(rest, written, at.Content[0].Column-1, end))
	case at.Kind == yaml.ScalarNode && at.ShortTag() == "!!null" && at.Value == "":
		put = inserted(lines, key.Line, settingLines(rest, written, key.Column+1, end))
	default:
		return nil, fmt.Errorf("%s %s", name, byHand)
	}
	out := joined(put)
	after, err := topLevel(out)
	if err != nil || !sameValue(nodeAt(after, path), want) || !same(lacking(before, path), lacking(after, path)) {
		return nil, fmt.Errorf("%s %s", name, byHand)
	}
	return out, nil
}

// settingLines writes a value in the blocks that lead to it.
func settingLines(path []string, written string, indent int, end string) []string {
	var out []string
	for i, name := range path {
		line := strings.Repeat(" ", indent+2*i) + scalarText(name) + ":"
		if i == len(path)-1 {
			line += " " + written
		}
		out = append(out, line+end)
	}
	return out
}

// inserted puts lines behind the line with a number.
func inserted(lines []string, behind int, more []string) []string {
	out := append([]string{}, lines[:behind]...)
	if behind > 0 && !strings.HasSuffix(out[behind-1], "\n") {
		out[behind-1] += lineEnd([]byte(strings.Join(more, "")))
	}
	return append(append(out, more...), lines[behind:]...)
}

// replaced writes another value behind a key whose value stands on the same line, and leaves
// the comment behind it.
func replaced(lines []string, key, was *yaml.Node, written string) ([]string, error) {
	several := was.Kind != yaml.ScalarNode && (was.Style&yaml.FlowStyle == 0 && len(was.Content) > 0)
	deep := was.Line
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		deep = max(deep, n.Line)
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(was)
	if several || deep != key.Line || key.Line > len(lines) || was.Kind == yaml.AliasNode || was.Anchor != "" {
		return nil, errors.New(byHand)
	}
	line := lines[key.Line-1]
	body := strings.TrimRight(line, "\r\n")
	from := columnByte(body, key.Column-1)
	colon := strings.Index(body[from:], ":")
	if colon < 0 {
		return nil, errors.New(byHand)
	}
	head := body[:from+colon+1]
	tail := ""
	if comment := firstComment(was, key); comment != "" {
		at := strings.LastIndex(body, comment)
		if at < 0 {
			return nil, errors.New(byHand)
		}
		for at > 0 && (body[at-1] == ' ' || body[at-1] == '\t') {
			at--
		}
		tail = body[at:]
	}
	out := append([]string{}, lines...)
	out[key.Line-1] = head + " " + written + tail + line[len(body):]
	return out, nil
}

// firstComment is what stands behind a value on its line.
func firstComment(nodes ...*yaml.Node) string {
	for _, n := range nodes {
		if n.LineComment != "" {
			return n.LineComment
		}
	}
	return ""
}

// columnByte is where a column, which counts characters, begins.
func columnByte(line string, column int) int {
	for i := range line {
		if column == 0 {
			return i
		}
		column--
	}
	return len(line)
}

// onOneLine writes a value so that it stands behind a key.
func onOneLine(n *yaml.Node) (string, error) {
	raw, err := yaml.Marshal(n)
	out := strings.TrimSuffix(string(raw), "\n")
	if err == nil && strings.Contains(out, "\n") && n.Kind == yaml.ScalarNode {
		return quotedText(n.Value), nil
	}
	if err == nil && strings.Contains(out, "\n") {
		err = errors.New("the value is too long for one line: change it with 'toolcrib config edit'")
	}
	return out, err
}

// nodeAt finds the value at a path; nil: there is none.
func nodeAt(root *yaml.Node, path []string) *yaml.Node {
	for _, name := range path {
		if root == nil || root.Kind != yaml.MappingNode {
			return nil
		}
		_, root = entryIn(root, name)
	}
	return root
}

// sameValue reports whether a value is the one that is wanted. A plain one has no tag yet.
func sameValue(got, want *yaml.Node) bool {
	if got != nil && want.Kind == yaml.ScalarNode && want.Tag == "" {
		return got.Kind == yaml.ScalarNode && got.Value == want.Value
	}
	return same(got, want)
}

// lacking is a tree without the value at a path. A block that is empty then counts as none.
func lacking(n *yaml.Node, path []string) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if n == nil || n.Kind != yaml.MappingNode {
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.Value == path[0] {
			if len(path) == 1 {
				continue
			}
			if value.Kind == yaml.ScalarNode && value.ShortTag() == "!!null" {
				continue
			}
			if value.Kind == yaml.MappingNode {
				if value = lacking(value, path[1:]); len(value.Content) == 0 {
					continue
				}
			}
		}
		out.Content = append(out.Content, key, value)
	}
	return out
}
