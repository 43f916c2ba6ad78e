package clientfiles

import (
	"errors"
	"slices"
	"strings"
)

// continueKey is where Continue's settings have their list of servers.
const continueKey = "mcpServers"

// editContinue sets or, with nil, removes a server of the list in Continue's settings, and
// reads the result again. Every other item stays as it is, also those without a name.
func (c Codec) editContinue(text []byte, root value, name string, v *value) ([]byte, error) {
	list, _ := root.get(continueKey)
	if list.kind != kindList && list.kind != kindNull {
		return nil, errors.New(continueKey + " is " + list.kind.String() + ", not a list: do it by hand")
	}
	at := -1
	for i, item := range list.list {
		if called, _ := item.get("name"); called.kind == kindText && called.text == name {
			if at >= 0 {
				return nil, errTwice
			}
			at = i
		}
	}
	if v != nil {
		named := value{kind: kindTable}
		named.put("name", textValue(name))
		for _, f := range v.fields {
			if f.name != "name" {
				named.put(f.name, f.value)
			}
		}
		v = &named
	}
	cl, _ := clientOf(Continue)
	if v == nil && at < 0 || v != nil && at >= 0 && asWanted(cl, list.list[at], *v) {
		return text, nil
	}
	out, err := editYAMLList(text, continueKey, at, len(list.list), v)
	if err != nil {
		return nil, err
	}
	got, err := c.parseYAML(out)
	if err != nil {
		return nil, errors.New("the file is written in a way that cannot be changed here: do it by hand")
	}
	list.kind, list.list = kindList, slices.Clone(list.list)
	switch {
	case v == nil:
		list.list = slices.Delete(list.list, at, at+1)
	case at >= 0:
		list.list[at] = *v
	default:
		list.list = append(list.list, *v)
	}
	want := root
	want.fields = slices.Clone(root.fields)
	if i := want.index(continueKey); i >= 0 {
		want.fields[i].value = list
	} else {
		want.put(continueKey, list)
	}
	if !got.equal(want, false) {
		return nil, errors.New("the file is written in a way that cannot be changed here without touching the rest: do it by hand")
	}
	return out, nil
}

// editYAMLList replaces the item at a place of a list at the top level, written one item
// below the other, removes it, or with -1 adds one. It goes by lines and their indentation,
// as editYAML does; the list has so many items.
func editYAMLList(src []byte, key string, at, items int, v *value) ([]byte, error) {
	eol := eolOf(src)
	lines := strings.SplitAfter(string(src), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	} else {
		lines[len(lines)-1] += eol
	}
	top := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, key+":") })
	if top < 0 {
		if v == nil {
			return nil, errors.New("the list is written in a way that is not changed here: do it by hand")
		}
		return []byte(strings.Join(lines, "") + key + ":" + eol + yamlItem(*v, "  ", eol)), nil
	}
	said, comment := lines[top][len(key)+1:], ""
	if i := strings.Index(said, "#"); i >= 0 {
		said, comment = said[:i], " "+strings.TrimRight(said[i:], "\r\n")
	}
	switch strings.TrimSpace(said) {
	case "":
	case "[]":
		lines[top] = key + ":" + comment + eol
	default:
		return nil, errors.New(key + " is not written one server below the other: do it by hand")
	}
	indent, starts, end := yamlItems(lines, top)
	if len(starts) != items {
		return nil, errors.New("the list is written in a way that is not changed here: do it by hand")
	}
	if at < 0 {
		return []byte(strings.Join(slices.Insert(lines, end, yamlItem(*v, indent, eol)), "")), nil
	}
	from, to := starts[at], end
	if at+1 < len(starts) {
		to = starts[at+1]
	}
	for to > from+1 && yamlBlank(lines[to-1]) { // comments and empty lines belong to what follows
		to--
	}
	entry := ""
	if v != nil {
		entry = yamlItem(*v, indent, eol)
	} else if items == 1 {
		lines[top] = key + ": []" + comment + eol // nothing below it would mean null
	}
	return []byte(strings.Join(slices.Replace(lines, from, to, entry), "")), nil
}

// yamlItems gives the indentation of the items of a list below a line, which may be none,
// the lines where they begin, and the one behind the last.
func yamlItems(lines []string, top int) (indent string, starts []int, end int) {
	indent, end = "  ", top+1
	for i := top + 1; i < len(lines); i++ {
		if yamlBlank(lines[i]) {
			continue
		}
		n := yamlIndent(lines[i])
		dash := strings.HasPrefix(lines[i][n:], "- ") || strings.TrimRight(lines[i][n:], "\r\n") == "-"
		if len(starts) == 0 {
			if !dash {
				break
			}
			indent = lines[i][:n]
		}
		if n < len(indent) || n == len(indent) && !dash {
			break
		}
		if n == len(indent) {
			starts = append(starts, i)
		}
		end = i + 1
	}
	return indent, starts, end
}

func yamlItem(v value, indent, eol string) string {
	lines := yamlLines(v, indent+"  ", "  ")
	lines[0] = indent + "- " + strings.TrimPrefix(lines[0], indent+"  ")
	return strings.Join(lines, eol) + eol
}
