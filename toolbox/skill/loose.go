package skill

import (
	"strconv"
	"strings"
)

// loose reads the fields of a front matter line by line: what a person means
// who writes "description: Search: the web". It knows the forms that skills
// use (texts, quoted, folded or over several lines, lists, one level of keys)
// and takes everything else for a text. It never fails.
func loose(front string) map[string]any {
	fields := map[string]any{}
	lines := strings.Split(front, "\n")
	for i := 0; i < len(lines); {
		key, rest, ok := keyOf(lines[i])
		i++
		if !ok {
			continue
		}
		from := i
		for i < len(lines) && below(lines[i]) {
			i++
		}
		fields[key] = looseValue(rest, lines[from:i])
	}
	return fields
}

// below reports whether a line belongs to the key before it.
func below(text string) bool {
	return strings.TrimSpace(text) == "" || text[0] == ' ' || text[0] == '\t' || text == "-" || strings.HasPrefix(text, "- ")
}

// keyOf takes "key: value" apart.
func keyOf(text string) (key, rest string, ok bool) {
	key, rest, ok = strings.Cut(text, ":")
	key = strings.TrimRight(key, " \t")
	if quoted := unquoted(key); quoted != key {
		key = quoted
	}
	if !ok || key == "" {
		return "", "", false
	}
	for i := range len(key) {
		c := key[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return "", "", false
		}
	}
	return key, strings.TrimSpace(rest), true
}

func looseValue(rest string, more []string) any {
	for len(more) > 0 && strings.TrimSpace(more[len(more)-1]) == "" {
		more = more[:len(more)-1]
	}
	switch {
	case blockMark(rest):
		return block(rest[0] == '>', more)
	case rest != "" || len(more) == 0:
		for _, m := range more { // a text over several lines
			rest += " " + strings.TrimSpace(m)
		}
		return plain(strings.TrimSpace(rest))
	}
	if first := strings.TrimSpace(more[0]); first == "-" || strings.HasPrefix(first, "- ") {
		var list []any
		for _, m := range more {
			if item, ok := strings.CutPrefix(strings.TrimSpace(m), "-"); ok && strings.TrimSpace(item) != "" {
				list = append(list, plain(strings.TrimSpace(item)))
			}
		}
		return list
	}
	if _, _, ok := keyOf(strings.TrimSpace(more[0])); ok {
		inner := map[string]any{}
		for _, m := range more {
			if key, value, ok := keyOf(strings.TrimSpace(m)); ok {
				inner[key] = plain(value)
			}
		}
		return inner
	}
	return looseValue(strings.TrimSpace(more[0]), more[1:])
}

// blockMark knows the marks of texts that begin on the next line: | and >,
// with what may follow them.
func blockMark(rest string) bool {
	if rest == "" || rest[0] != '|' && rest[0] != '>' {
		return false
	}
	mark, _, _ := strings.Cut(rest, " #")
	return strings.Trim(mark[1:], "+-0123456789 ") == ""
}

// block reads such a text: its lines without the indentation that all have,
// folded into one where a line ends, or as they are.
func block(folded bool, lines []string) string {
	indent := -1
	for _, l := range lines {
		if text := strings.TrimLeft(l, " \t"); text != "" && (indent < 0 || len(l)-len(text) < indent) {
			indent = len(l) - len(text)
		}
	}
	var b strings.Builder
	for i, l := range lines {
		l = strings.TrimRight(l[min(len(l), max(indent, 0)):], " \t")
		switch {
		case i == 0:
		case !folded:
			b.WriteByte('\n')
		case l == "":
			b.WriteByte('\n')
			continue
		case !strings.HasSuffix(b.String(), "\n"):
			b.WriteByte(' ')
		}
		b.WriteString(l)
	}
	return b.String()
}

// plain reads a value of one line.
func plain(text string) any {
	if is := unquoted(text); is != text {
		return is
	}
	if text == "" || text[0] == '#' {
		return ""
	}
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		var list []any
		for item := range strings.SplitSeq(strings.TrimSuffix(inner, "]"), ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, unquoted(item))
			}
		}
		return list
	}
	text, _, _ = strings.Cut(text, " #")
	switch text = strings.TrimSpace(text); text {
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	return text
}

// unquoted takes the quotes off a text that has them at both ends, or before a
// comment. One with an odd quote stays as it is.
func unquoted(text string) string {
	if len(text) < 2 || text[0] != '"' && text[0] != '\'' {
		return text
	}
	end := closing(text)
	if end < 0 {
		return text
	}
	if after := strings.TrimSpace(text[end+1:]); after != "" && after[0] != '#' {
		return text
	}
	inner := text[1:end]
	if text[0] == '\'' {
		return strings.ReplaceAll(inner, "''", "'")
	}
	if plain, err := strconv.Unquote(`"` + inner + `"`); err == nil {
		return plain
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\/`, `/`).Replace(inner)
}

// closing is the place of the quote that ends a quoted text, or -1.
func closing(text string) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case quote == '"' && text[i] == '\\':
			i++
		case text[i] != quote:
		case quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i
		}
	}
	return -1
}
