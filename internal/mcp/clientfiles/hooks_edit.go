package clientfiles

import (
	"bytes"
	"errors"
)

// addOneHook puts a hook behind those of its event.
func addOneHook(client string, text []byte, h Hook) ([]byte, error) {
	root, err := hookRoot(text)
	if err != nil {
		return nil, err
	}
	e := jsonEdit{src: text, eol: eolOf(text)}
	group := hookGroup(client, h)
	list := value{kind: kindList, list: []value{group}}
	hooks, ok := root.get("hooks")
	if !ok {
		var events value
		events.put(h.Event, list)
		return e.insert(root, root, "hooks", events), nil
	}
	if count(hooks, h.Event) > 1 {
		return nil, errTwice
	}
	i := hooks.index(h.Event)
	switch {
	case i < 0:
		return e.insert(root, hooks, h.Event, list), nil
	case hooks.fields[i].value.kind != kindList:
		return nil, errors.New("the key hooks." + h.Event + " holds " + hooks.fields[i].value.kind.String() + ", not a list")
	case len(hooks.fields[i].value.list) == 0:
		return e.replace(root, hooks, i, list), nil
	}
	return e.appendTo(root, hooks.fields[i].value, group), nil
}

// appendTo adds an element at the end of a list that has some.
func (e jsonEdit) appendTo(root, list, v value) []byte {
	last := list.list[len(list.list)-1]
	indent, own := indentAt(e.src, last.start)
	st := style{unit: e.unit(last, root), eol: e.eol, flat: !own}
	before := e.eol + indent
	if !own {
		before = " "
	}
	text := before + st.json(v, indent)
	if comma := commaAfter(e.src, last.end); comma >= 0 {
		return splice(e.src, comma+1, comma+1, text+",")
	}
	return splice(e.src, last.end, last.end, ","+text)
}

// commaAfter is where the comma behind a value stands; -1: there is none.
func commaAfter(src []byte, at int) int {
	at, err := skipTrivia(src, at)
	if err != nil || at >= len(src) || src[at] != ',' {
		return -1
	}
	return at
}

// removeOneHook takes the first hook of ours out, and with the last of an event the
// event, and with the last event the key.
func removeOneHook(client string, text []byte) (out []byte, found bool, err error) {
	root, err := hookRoot(text)
	if err != nil {
		return nil, false, err
	}
	hooks, _ := root.get("hooks")
	e := jsonEdit{src: text, eol: eolOf(text)}
	for i, event := range hooks.fields {
		for j, group := range event.value.list {
			if !isOurHook(client, group) {
				continue
			}
			switch {
			case len(event.value.list) > 1:
				// What removes a member of an object removes an element of a list.
				as := value{start: event.value.start, end: event.value.end}
				for _, g := range event.value.list {
					as.fields = append(as.fields, field{start: g.start, comma: commaAfter(text, g.end), value: g})
				}
				return e.remove(as, j), true, nil
			case len(hooks.fields) > 1:
				return e.remove(hooks, i), true, nil
			}
			out = e.remove(root, root.index("hooks"))
			if len(root.fields) == 1 { // what was made with it goes with it
				if bare := bytes.TrimSpace(bytes.TrimPrefix(out, []byte(byteOrderMark))); len(bare) > 2 && len(bytes.TrimSpace(bare[1:len(bare)-1])) == 0 {
					out = []byte("{}" + e.eol)
				}
			}
			return out, true, nil
		}
	}
	return text, false, nil
}
