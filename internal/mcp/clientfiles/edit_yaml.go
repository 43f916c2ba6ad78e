package clientfiles

import (
	"errors"
	"slices"
	"strings"
)

// editYAML sets or removes one entry of a mapping at the top level, written in
// the block style. It goes by lines and their indentation; whether it
// understood the file is found out by reading the result.
func editYAML(src []byte, key, name string, v *value) ([]byte, error) {
	eol := eolOf(src)
	lines := strings.SplitAfter(string(src), "\n")
	top := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, key+":") })
	if top < 0 {
		if v == nil {
			return nil, errors.New("the entry is written in a way that is not changed here: do it by hand")
		}
		text := string(src)
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += eol
		}
		return []byte(text + key + ":" + eol + yamlEntry(name, *v, "  ", eol)), nil
	}
	switch rest, _, _ := strings.Cut(strings.TrimSpace(lines[top][len(key)+1:]), "#"); strings.TrimSpace(rest) {
	case "":
	case "{}":
		if v == nil {
			return nil, errors.New("the entry is not there")
		}
		lines[top] = key + ":" + eol
	default:
		return nil, errors.New(key + " is not written one entry a line: do it by hand")
	}
	indent, end := yamlBlock(lines, top)
	if indent == "" {
		indent = "  "
	}
	from, to := yamlFind(lines, top+1, end, indent, name)
	var entry string
	if v != nil {
		entry = yamlEntry(name, *v, indent, eol)
	}
	if from < 0 {
		if v == nil {
			return nil, errors.New("the entry is written in a way that is not changed here: do it by hand")
		}
		if !strings.HasSuffix(lines[end-1], "\n") {
			lines[end-1] += eol
		}
		return []byte(strings.Join(slices.Insert(lines, end, entry), "")), nil
	}
	return []byte(strings.Join(slices.Replace(lines, from, to, entry), "")), nil
}

// yamlFind gives the lines of an entry, without the comments and empty lines
// behind it, which belong to what follows; from is -1 if it is not there.
func yamlFind(lines []string, begin, end int, indent, name string) (from, to int) {
	for from = begin; from < end; from++ {
		if yamlIndent(lines[from]) == len(indent) && yamlKeyIs(lines[from][len(indent):], name) {
			break
		}
	}
	if from == end {
		return -1, -1
	}
	to = from + 1
	for to < end && (yamlBlank(lines[to]) || yamlIndent(lines[to]) > len(indent)) {
		to++
	}
	for to > from+1 && yamlBlank(lines[to-1]) {
		to--
	}
	return from, to
}

func yamlEntry(name string, v value, indent, eol string) string {
	lines := append([]string{indent + yamlKeyText(name) + ":"}, yamlLines(v, indent+indent, indent)...)
	return strings.Join(lines, eol) + eol
}

// yamlBlock gives the indentation of the entries below a line, and the line
// behind the last of them.
func yamlBlock(lines []string, top int) (indent string, end int) {
	end = top + 1
	for i := top + 1; i < len(lines); i++ {
		if yamlBlank(lines[i]) {
			continue
		}
		n := yamlIndent(lines[i])
		if n == 0 {
			break
		}
		if indent == "" {
			indent = lines[i][:n]
		}
		end = i + 1
	}
	return indent, end
}

func yamlIndent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func yamlBlank(line string) bool {
	t := strings.TrimSpace(line)
	return t == "" || strings.HasPrefix(t, "#")
}

func yamlKeyIs(line, name string) bool {
	forms := []string{name, quote(name), "'" + strings.ReplaceAll(name, "'", "''") + "'"}
	return slices.ContainsFunc(forms, func(form string) bool { return strings.HasPrefix(line, form+":") })
}
