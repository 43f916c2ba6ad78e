package clientfiles

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (t *toml) value(depth int) (value, error) {
	if t.nodes++; depth > maxDepth || t.nodes > maxNodes {
		return value{}, errors.New("it is too large or nests too deeply")
	}
	v := value{start: t.at, line: t.line()}
	var err error
	switch c := t.peek(); c {
	case '"', '\'':
		v.kind = kindText
		v.text, err = t.text()
	case '[':
		err = t.array(&v, depth)
	case '{':
		err = t.inline(&v, depth)
	default:
		err = t.scalar(&v)
	}
	v.end = t.at
	return v, err
}

var (
	tomlInteger = regexp.MustCompile(`^([+-]?(0|[1-9](_?[0-9])*)|0x[0-9A-Fa-f](_?[0-9A-Fa-f])*|0o[0-7](_?[0-7])*|0b[01](_?[01])*)$`)
	tomlFloat   = regexp.MustCompile(`^[+-]?((0|[1-9](_?[0-9])*)(\.[0-9](_?[0-9])*)?([eE][+-]?[0-9](_?[0-9])*)?|inf|nan)$`)
	tomlDate    = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?|[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?)$`)
	tomlDayOnly = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
)

func (t *toml) scalar(v *value) error {
	word := func(from int) int {
		for from < len(t.src) && !strings.ContainsRune(" \t\r\n,]}#", rune(t.src[from])) {
			from++
		}
		return from
	}
	end := word(t.at)
	text := t.src[t.at:end]
	// A date may have a blank between its day and its time.
	if tomlDayOnly.MatchString(text) && end+1 < len(t.src) && t.src[end] == ' ' && t.src[end+1] >= '0' && t.src[end+1] <= '9' {
		end = word(end + 1)
		text = t.src[t.at:end]
	}
	switch {
	case text == "true" || text == "false":
		v.kind = kindBool
	case tomlInteger.MatchString(text) || tomlFloat.MatchString(text):
		v.kind = kindNumber
	case tomlDate.MatchString(text):
		v.kind = kindDate
	default:
		return errors.New("want a value: a text in quotes, a number, true, false, a date, a list or a table")
	}
	v.text = text
	t.at = end
	return nil
}

func (t *toml) array(v *value, depth int) error {
	v.kind = kindList
	t.at++
	for {
		if err := t.space(true); err != nil {
			return err
		}
		if t.peek() == ']' {
			t.at++
			return nil
		}
		e, err := t.value(depth + 1)
		if err != nil {
			return err
		}
		v.list = append(v.list, e)
		if err := t.space(true); err != nil {
			return err
		}
		switch t.peek() {
		case ',':
			t.at++
		case ']':
		default:
			return errors.New("want a comma or the end of the list")
		}
	}
}

func (t *toml) inline(v *value, depth int) error {
	node := &tomlNode{how: tomlHeader, line: t.line()}
	t.at++
	t.blanks()
	if t.peek() == '}' {
		t.at++
		v.kind = kindTable
		return nil
	}
	for {
		t.blanks()
		if _, _, err := t.pair(node, depth+1); err != nil {
			return err
		}
		t.blanks()
		switch t.peek() {
		case ',':
			t.at++
		case '}':
			t.at++
			v.kind, v.fields = kindTable, node.value().fields
			return nil
		default:
			return errors.New("want a comma or the end of the inline table, on the same line")
		}
	}
}

// text reads a text of any of the four kinds.
func (t *toml) text() (string, error) {
	quote := t.src[t.at : t.at+1]
	long := strings.Repeat(quote, 3)
	if !strings.HasPrefix(t.src[t.at:], long) {
		return t.quoted()
	}
	begin := t.at + 3
	body := strings.TrimPrefix(strings.TrimPrefix(t.src[begin:], "\r"), "\n")
	begin = len(t.src) - len(body)
	for i := begin; i < len(t.src); i++ {
		switch {
		case t.src[i] == '\\' && quote == `"`:
			i++
		case strings.HasPrefix(t.src[i:], long):
			// Up to two quotes may stand right before the closing three.
			for range 2 {
				if strings.HasPrefix(t.src[i+1:], long) {
					i++
				}
			}
			t.at = i + 3
			return tomlUnescape(t.src[begin:i], quote == `"`, true)
		}
	}
	return "", errors.New("a text over several lines is not closed")
}

// quoted reads a text on one line.
func (t *toml) quoted() (string, error) {
	quote := t.src[t.at]
	for i := t.at + 1; i < len(t.src) && t.src[i] != '\n'; i++ {
		switch {
		case t.src[i] == '\\' && quote == '"':
			i++
			if i < len(t.src) && t.src[i] == '\n' {
				return "", errors.New("a text is not closed on its line")
			}
		case t.src[i] == quote:
			body := t.src[t.at+1 : i]
			t.at = i + 1
			return tomlUnescape(body, quote == '"', false)
		}
	}
	return "", errors.New("a text is not closed on its line")
}

func tomlUnescape(body string, escapes, lines bool) (string, error) {
	if bad := strings.IndexFunc(body, func(r rune) bool { return tomlControl(r) && (!lines || r != '\n' && r != '\r') }); bad >= 0 {
		return "", errors.New("a text has control characters")
	}
	if lines && strings.Contains(strings.ReplaceAll(body, "\r\n", ""), "\r") {
		return "", errors.New("a carriage return stands alone")
	}
	if !escapes || !strings.Contains(body, `\`) {
		return body, nil
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			continue
		}
		i++
		if i >= len(body) {
			return "", errors.New("a text ends in the middle of an escape")
		}
		n, err := tomlEscape(&b, body[i:], lines)
		if err != nil {
			return "", err
		}
		i += n - 1
	}
	return b.String(), nil
}

// tomlEscape writes what the escape at the beginning of rest, behind its
// backslash, stands for, and gives how long it is.
func tomlEscape(b *strings.Builder, rest string, lines bool) (int, error) {
	switch rest[0] {
	case 'b':
		b.WriteByte('\b')
	case 't':
		b.WriteByte('\t')
	case 'n':
		b.WriteByte('\n')
	case 'f':
		b.WriteByte('\f')
	case 'r':
		b.WriteByte('\r')
	case '"', '\\':
		b.WriteByte(rest[0])
	case 'u', 'U':
		n := 4
		if rest[0] == 'U' {
			n = 8
		}
		if len(rest) < 1+n {
			return 0, errors.New("a text has an escape that is cut short")
		}
		code, err := strconv.ParseUint(rest[1:1+n], 16, 32)
		if err != nil || code > utf8.MaxRune || !utf8.ValidRune(rune(code)) {
			return 0, errors.New("a text has an escape that is no character")
		}
		b.WriteRune(rune(code))
		return 1 + n, nil
	default:
		// At the end of a line it takes the blanks and lines that follow away.
		trimmed := strings.TrimLeft(rest, " \t")
		if !lines || !strings.HasPrefix(trimmed, "\n") && !strings.HasPrefix(trimmed, "\r\n") {
			return 0, fmt.Errorf("a text has an escape that is not known")
		}
		return len(rest) - len(strings.TrimLeft(rest, " \t\r\n")), nil
	}
	return 1, nil
}
