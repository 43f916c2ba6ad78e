package clientfiles

import "fmt"

// open finds or makes the table of a header. A table may be opened once, and
// nothing may be added to what was written as a value.
func (n *tomlNode) open(path []string, array bool, line int) (*tomlNode, error) {
	for _, name := range path[:len(path)-1] {
		sub := n.subs[name]
		switch {
		case sub == nil:
			sub = n.add(name, &tomlNode{line: line})
		case sub.leaf != nil:
			return nil, fmt.Errorf("%s is a value already and cannot have tables", show(name))
		case sub.list != nil:
			sub = sub.list[len(sub.list)-1]
		}
		n = sub
	}
	name := path[len(path)-1]
	sub := n.subs[name]
	if array {
		if sub == nil {
			sub = n.add(name, &tomlNode{how: tomlHeader, line: line})
		} else if sub.list == nil {
			return nil, fmt.Errorf("%s is there already and is no array of tables", show(name))
		}
		sub.list = append(sub.list, &tomlNode{how: tomlHeader, line: line})
		return sub.list[len(sub.list)-1], nil
	}
	switch {
	case sub == nil:
		return n.add(name, &tomlNode{how: tomlHeader, line: line}), nil
	case sub.leaf != nil || sub.list != nil || sub.how != tomlImplied:
		return nil, fmt.Errorf("%s is there already", show(name))
	}
	sub.how, sub.line = tomlHeader, line
	return sub, nil
}

// set puts a value under a dotted key.
func (n *tomlNode) set(path []string, v value, line int) error {
	for _, name := range path[:len(path)-1] {
		sub := n.subs[name]
		switch {
		case sub == nil:
			sub = n.add(name, &tomlNode{how: tomlDotted, line: line})
		case sub.leaf != nil || sub.list != nil || sub.how == tomlHeader:
			return fmt.Errorf("%s is there already and cannot be added to here", show(name))
		}
		n = sub
	}
	name := path[len(path)-1]
	if n.subs[name] != nil {
		return fmt.Errorf("the key %s is given twice", show(name))
	}
	n.add(name, &tomlNode{leaf: &v, line: line})
	return nil
}

func (n *tomlNode) add(name string, sub *tomlNode) *tomlNode {
	if n.subs == nil {
		n.subs = map[string]*tomlNode{}
	}
	n.names = append(n.names, name)
	n.subs[name] = sub
	return sub
}

// value gives the finished tree.
func (n *tomlNode) value() value {
	if n.leaf != nil {
		return *n.leaf
	}
	if n.list != nil {
		v := value{kind: kindList, line: n.line}
		for _, e := range n.list {
			v.list = append(v.list, e.value())
		}
		return v
	}
	v := value{kind: kindTable, line: n.line}
	for _, name := range n.names {
		sub := n.subs[name]
		v.fields = append(v.fields, field{name: name, line: sub.line, comma: -1, value: sub.value()})
	}
	return v
}
