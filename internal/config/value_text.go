package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Flags, environment variables and 'config set' give a setting as one text, and textValue is the only reader of it. A
// text that begins with a bracket is YAML, which JSON is a part of, and goes through the decoder of files: it means here
// what it means there. Lists and maps of single values have a short form with commas. Short forms that could mean two
// things are errors: an entry that nobody wrote would protect nothing, in silence.

// textValue reads the text of a setting: what it says as a patch, and as the tree that a file would have.
func textValue(root, f *field, key, name, text string, origin Origin) (*patch, *yaml.Node, error) {
	if !utf8.ValidString(text) {
		return nil, nil, errors.New("the value is not valid UTF-8")
	}
	if f.kind.scalar() {
		n, err := scalarNode(f, text)
		if err != nil {
			return nil, nil, err
		}
		v, err := f.parse(text)
		return &patch{f: f, name: name, key: key, origin: origin, value: v}, n, err
	}
	text = strings.TrimSpace(text)
	n, err := bracketedOrShort(f, text)
	if err == nil {
		err = f.apart.check(n, strings.HasPrefix(text, "["))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w; %s", err, f.forms())
	}
	ps := &problems{}
	d := decoder{root: root, problems: ps, source: origin.Source}
	p := d.value(f, n, key, name)
	if len(ps.list) > 0 {
		var errs []error
		for _, problem := range ps.list {
			where := ""
			if below := strings.TrimPrefix(problem.Key, key); below != "" {
				where = below + ": "
			}
			errs = append(errs, errors.New(where+problem.Message))
		}
		return nil, nil, errors.Join(append(errs, errors.New(f.forms()))...)
	}
	p.comeFrom(origin)
	return p, plainTree(n), nil
}

// comeFrom gives a patch and everything below it an origin that has no lines.
func (p *patch) comeFrom(origin Origin) {
	p.origin, p.at, p.items = origin, mark{}, nil
	for _, part := range p.parts {
		part.comeFrom(origin)
	}
}

// forms says how the text of a list, a map or a block is written.
func (f *field) forms() string {
	short := f.elem != nil && f.elem.kind.scalar()
	switch {
	case f.kind == kindList && short:
		return `write it as 'a,b' or '[a, b]', and put entries with commas, brackets or quotes in quotes inside the brackets: '["a,b"]'`
	case f.kind == kindMap && short:
		return `write it as 'name=value,other=value' or '{name: value}', and put values with commas, brackets or quotes in quotes inside the braces: '{name: "a,b"}'`
	case f.kind == kindList:
		return "write it as a list of blocks on one line: '[{name: value}]'"
	}
	return "write it as a block on one line: '{name: value}'"
}

// bracketedOrShort makes the tree of a list, a map or a block.
func bracketedOrShort(f *field, text string) (*yaml.Node, error) {
	open := "{"
	if f.kind == kindList {
		open = "["
	}
	short := f.elem != nil && f.elem.kind.scalar()
	switch {
	case strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{"):
		if !strings.HasPrefix(text, open) {
			return nil, fmt.Errorf("expected %s, but the value begins with %s", f.expected(), text[:1])
		}
		return bracketed(f, text)
	case short && f.kind == kindList:
		return shortList(f, text)
	case short && f.kind == kindMap:
		return shortMap(f, text)
	}
	return nil, fmt.Errorf("expected %s, which begins with %s", f.expected(), open)
}

func bracketed(f *field, text string) (*yaml.Node, error) {
	ps := &problems{}
	n := parseYAML([]byte(text), ps)
	if len(ps.list) > 0 {
		if f.secret { // the parser repeats parts of the text
			return nil, errors.New("the brackets do not hold valid YAML")
		}
		why := strings.TrimPrefix(ps.list[0].Message, "this is not valid YAML: ")
		switch {
		case strings.Contains(why, "<document start>"):
			return nil, errors.New("there is something behind the closing bracket")
		case strings.Contains(why, "alphabetic or numeric character"), strings.Contains(why, "has no anchor"):
			return nil, errors.New("an entry in the brackets begins with * or & and has no quotes")
		}
		return nil, errors.New("the brackets do not hold valid YAML: " + why)
	}
	want := yaml.MappingNode
	if f.kind == kindList {
		want = yaml.SequenceNode
	}
	if n == nil || n.Kind != want {
		return nil, errors.New("there is something behind the closing bracket")
	}
	return n, nil
}

// shortList reads a,b.
func shortList(f *field, text string) (*yaml.Node, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	var errs []error
	items := commas(text)
	for i, item := range items {
		n, err := shortEntry(f.elem, item, len(items) > 1)
		if err != nil {
			errs = append(errs, fmt.Errorf("element %d %w", i+1, err))
			continue
		}
		list.Content = append(list.Content, n)
	}
	return list, errors.Join(errs...)
}

// shortMap reads name=value,other=value.
func shortMap(f *field, text string) (*yaml.Node, error) {
	block := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: yaml.FlowStyle}
	var errs []error
	items := commas(text)
	for i, item := range items {
		name, value, ok := strings.Cut(item, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || len(name) > maxName {
			errs = append(errs, fmt.Errorf("entry %d: expected name=value, with a name of 1 to %d bytes", i+1, maxName))
			continue
		}
		key, err := textNode(name)
		if err == nil {
			err = unambiguous(name, len(items) > 1)
		}
		var n *yaml.Node
		if value = strings.TrimSpace(value); err == nil && value == "" && f.elem.kind == kindText {
			n, err = textNode("")
		} else if err == nil {
			n, err = shortEntry(f.elem, value, len(items) > 1)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("entry %d %w", i+1, err))
			continue
		}
		block.Content = append(block.Content, key, n)
	}
	return block, errors.Join(errs...)
}

// shortEntry makes one value of a short form.
func shortEntry(f *field, item string, several bool) (*yaml.Node, error) {
	if item == "" {
		return nil, errors.New("is empty")
	}
	if err := unambiguous(item, several); err != nil {
		return nil, err
	}
	return scalarNode(f, item)
}

// scalarNode is a single value as a file has it.
func scalarNode(f *field, text string) (*yaml.Node, error) {
	v, err := f.parse(text)
	switch {
	case err != nil:
		return nil, err
	case f.kind == kindText:
		return textNode(text)
	case f.kind == kindDuration || f.kind == kindBytes:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: strings.TrimSpace(text)}, nil // as the person wrote it
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: f.format(v)}, nil
}

// unambiguous refuses an entry of a short form that somebody may have meant as YAML, or whose comma may be a part of it.
func unambiguous(entry string, several bool) error {
	switch {
	case strings.ContainsFunc(entry, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("has a line end or another character that cannot be seen")
	case strings.ContainsRune(`"'[{`, rune(entry[0])):
		return fmt.Errorf("begins with %c", entry[0])
	case entry == "-" || strings.HasPrefix(entry, "- "):
		return errors.New("begins with a dash and a space, as an element of a list in a file does")
	case !balanced(entry):
		return errors.New("has a bracket without its other half")
	}
	for _, quote := range []string{`"`, "'", "`"} {
		if several && strings.Count(entry, quote)%2 != 0 {
			return fmt.Errorf("has a %s without its other half", quote)
		}
	}
	return nil
}

// balanced reports whether every bracket has its other half.
func balanced(entry string) bool {
	var open []rune
	for _, r := range entry {
		switch r {
		case '(':
			open = append(open, ')')
		case '[':
			open = append(open, ']')
		case '{':
			open = append(open, '}')
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != r {
				return false
			}
			open = slices.Delete(open, len(open)-1, len(open))
		}
	}
	return len(open) == 0
}

// commas splits a text at its commas; an empty text has no parts.
func commas(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return parts
}

// plainTree copies a decoded tree as it is written on one line: without comments and anchors, and with what an alias
// stands for in its place. The decoder has made sure that this ends.
func plainTree(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style &^ (yaml.LiteralStyle | yaml.FoldedStyle)}
	if n.Kind != yaml.ScalarNode {
		c.Style = yaml.FlowStyle
	}
	for _, below := range n.Content {
		c.Content = append(c.Content, plainTree(below))
	}
	return c
}
