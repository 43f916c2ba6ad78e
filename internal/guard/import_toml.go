package guard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// tomlTable is one [[name]] of a TOML file, or what stands before the first.
type tomlTable struct {
	name string
	line int
	keys []tomlKey
}

type tomlKey struct {
	name  string
	line  int
	value tomlValue
}

// tomlValue is a text, a number or bool (as text), a list, or a table.
type tomlValue struct {
	text   string
	quoted bool
	list   []tomlValue
	table  []tomlKey
	kind   byte // 't' text, 's' scalar, 'l' list, 'm' table
}

// toml reads the part of TOML that policies are written in: tables, arrays of
// tables, bare and quoted keys, texts, numbers, bools, lists and inline tables.
// The rest (dates, dotted keys) is an error that names the line.
type toml struct {
	text     string
	at, line int
}

func parseTOML(text string) ([]tomlTable, error) {
	t := &toml{text: text, line: 1}
	tables := []tomlTable{{line: 1}}
	fail := func(err error) ([]tomlTable, error) { return nil, fmt.Errorf("line %d: %w", t.line, err) }
	for {
		t.space(true)
		if t.at >= len(t.text) {
			return tables, nil
		}
		if t.peek() == '[' {
			name, err := t.header()
			if err != nil {
				return fail(err)
			}
			tables = append(tables, tomlTable{name: name, line: t.line})
		} else {
			k, err := t.pair(0)
			if err != nil {
				return fail(err)
			}
			last := &tables[len(tables)-1]
			for _, have := range last.keys {
				if have.name == k.name {
					return fail(fmt.Errorf("the key %s is given twice", show(k.name)))
				}
			}
			last.keys = append(last.keys, k)
		}
		t.space(false)
		if t.at < len(t.text) && t.peek() != '\n' {
			return fail(errors.New("something follows the value"))
		}
	}
}

func (t *toml) peek() byte {
	if t.at < len(t.text) {
		return t.text[t.at]
	}
	return 0
}

func (t *toml) space(lines bool) {
	for t.at < len(t.text) {
		switch c := t.text[t.at]; {
		case c == '#':
			for t.at < len(t.text) && t.text[t.at] != '\n' {
				t.at++
			}
			continue
		case c == '\n' && lines:
			t.line++
		case c == ' ' || c == '\t' || c == '\r':
		default:
			return
		}
		t.at++
	}
}

func (t *toml) header() (string, error) {
	end := strings.IndexByte(t.text[t.at:], '\n')
	if end < 0 {
		end = len(t.text) - t.at
	}
	head := strings.TrimSpace(t.text[t.at : t.at+end])
	if cut := strings.IndexByte(head, '#'); cut >= 0 {
		head = strings.TrimSpace(head[:cut])
	}
	t.at += end
	name, ok := strings.CutPrefix(head, "[[")
	if ok {
		name, ok = strings.CutSuffix(name, "]]")
	} else if name, ok = strings.CutPrefix(head, "["); ok {
		name, ok = strings.CutSuffix(name, "]")
	}
	if name = strings.TrimSpace(name); !ok || name == "" {
		return "", errors.New("a table has no name, or its bracket is not closed")
	}
	return name, nil
}

func (t *toml) pair(depth int) (tomlKey, error) {
	k := tomlKey{line: t.line}
	if c := t.peek(); c == '"' || c == '\'' {
		v, err := t.quoted()
		if err != nil {
			return k, err
		}
		k.name = v
	} else {
		begin := t.at
		for t.at < len(t.text) && nameChars(t.text[t.at:t.at+1], false) {
			t.at++
		}
		k.name = t.text[begin:t.at]
	}
	t.space(false)
	if k.name == "" || t.peek() != '=' {
		return k, errors.New("want a key, = and a value")
	}
	t.at++
	t.space(false)
	var err error
	k.value, err = t.value(depth)
	return k, err
}

const maxTOMLDepth = 8

func (t *toml) value(depth int) (tomlValue, error) {
	if depth > maxTOMLDepth {
		return tomlValue{}, errors.New("it nests too deeply")
	}
	switch t.peek() {
	case '"', '\'':
		text, err := t.quoted()
		return tomlValue{kind: 't', text: text, quoted: true}, err
	case '[':
		return t.list(depth)
	case '{':
		return t.inline(depth)
	}
	begin := t.at
	for t.at < len(t.text) && !strings.ContainsRune(" \t\r\n,]}#", rune(t.text[t.at])) {
		t.at++
	}
	word := t.text[begin:t.at]
	if _, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64); err != nil && word != "true" && word != "false" {
		return tomlValue{}, fmt.Errorf("the value %s is not read here", show(word))
	}
	return tomlValue{kind: 's', text: word}, nil
}

func (t *toml) list(depth int) (tomlValue, error) {
	v := tomlValue{kind: 'l'}
	t.at++
	for {
		t.space(true)
		if t.peek() == ']' {
			t.at++
			return v, nil
		}
		e, err := t.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.list = append(v.list, e)
		t.space(true)
		switch t.peek() {
		case ',':
			t.at++
		case ']':
		default:
			return v, errors.New("a list is not closed")
		}
	}
}

func (t *toml) inline(depth int) (tomlValue, error) {
	v := tomlValue{kind: 'm'}
	t.at++
	for {
		t.space(true)
		if t.peek() == '}' {
			t.at++
			return v, nil
		}
		k, err := t.pair(depth + 1)
		if err != nil {
			return v, err
		}
		v.table = append(v.table, k)
		t.space(true)
		switch t.peek() {
		case ',':
			t.at++
		case '}':
		default:
			return v, errors.New("a table is not closed")
		}
	}
}

// quoted reads a text: "…" with escapes, '…' without, or over several lines
// with three quotes.
func (t *toml) quoted() (string, error) {
	quote := t.text[t.at]
	long := strings.Repeat(string(quote), 3)
	if strings.HasPrefix(t.text[t.at:], long) {
		rest := t.text[t.at+3:]
		end := strings.Index(rest, long)
		if end < 0 || quote == '"' && strings.Contains(rest[:end], "\\") {
			return "", errors.New("a text over several lines is not closed, or has escapes, which are not read there")
		}
		t.at += end + 6
		t.line += strings.Count(rest[:end], "\n")
		return strings.TrimPrefix(rest[:end], "\n"), nil
	}
	begin := t.at
	for t.at++; t.at < len(t.text) && t.text[t.at] != '\n'; t.at++ {
		switch t.text[t.at] {
		case '\\':
			if quote == '"' {
				t.at++
			}
		case quote:
			t.at++
			if quote == '\'' {
				return t.text[begin+1 : t.at-1], nil
			}
			// The escapes of TOML are among those of Go.
			text, err := strconv.Unquote(t.text[begin:t.at])
			if err != nil {
				return "", errors.New("a text has an escape that is not known")
			}
			return text, nil
		}
	}
	return "", errors.New("a text is not closed")
}
