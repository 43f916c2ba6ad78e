package schema

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// SyntaxError says why a text was refused and where. Its text is fit for a model: it says what to do about it.
type SyntaxError struct {
	Offset  int // in bytes, from 0
	Line    int // from 1; 0 when the place does not matter
	Column  int // in characters, from 1
	Message string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

func newSyntaxError(text []byte, f fault) *SyntaxError {
	at := min(f.at, len(text))
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	return &SyntaxError{
		Offset:  at,
		Line:    bytes.Count(text[:start], []byte{'\n'}) + 1,
		Column:  utf8.RuneCount(text[start:at]) + 1,
		Message: f.msg,
	}
}

// char names the character at i for a message.
func (d *Doc) char(i int) string {
	if i >= len(d.text) {
		return "the end of the text"
	}
	r, n := utf8.DecodeRune(d.text[i:])
	if r == utf8.RuneError && n <= 1 {
		return fmt.Sprintf("byte 0x%02x, which is not valid UTF-8", d.text[i])
	}
	return fmt.Sprintf("%q", r)
}

// word gives the run of letters, digits and signs at i, cut to what fits in a message.
func (d *Doc) word(i int) string {
	end := i
	for end < len(d.text) && end < i+24 {
		c := d.text[end]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '+' && c != '-' && c != '.' {
			break
		}
		end++
	}
	return string(d.text[i:end])
}

func controlFault(i int, c byte) fault {
	write := fmt.Sprintf(`\u%04x`, c)
	switch c {
	case '\n':
		write = `\n`
	case '\r':
		write = `\r`
	case '\t':
		write = `\t`
	}
	return fault{i, fmt.Sprintf("raw control character U+%04X in a string; write it as %s", c, write)}
}

// badValue explains what stands where a value was expected.
func (d *Doc) badValue(i int) fault {
	if i >= len(d.text) {
		return fault{i, "the text ends where a value was expected"}
	}
	switch w := d.word(i); w {
	case "NaN", "nan", "Infinity", "infinity", "inf", "Inf", "+Infinity", "+inf":
		return fault{i, w + " is not a JSON number; JSON has no NaN or Infinity, use null or a string"}
	case "True", "TRUE", "False", "FALSE", "None", "NULL", "Null", "nil", "undefined":
		return fault{i, w + " is not JSON; write true, false or null"}
	case "":
	default:
		switch {
		case w[0] == '+':
			return fault{i, "a number must not start with '+'"}
		case w[0] == '.':
			return fault{i, "a number needs a digit before the decimal point"}
		}
		return fault{i, fmt.Sprintf("expected a value, found %s; strings need double quotes", w)}
	}
	switch d.text[i] {
	case '\'':
		return fault{i, "strings need double quotes, not single quotes"}
	case '/', '#':
		return fault{i, "comments are not allowed in JSON"}
	case ']', '}', ',', ':':
		return fault{i, fmt.Sprintf("expected a value before %s", d.char(i))}
	case 0xef:
		if bytes.HasPrefix(d.text[i:], []byte("\xef\xbb\xbf")) {
			return fault{i, "a byte order mark is not allowed in JSON"}
		}
	}
	return fault{i, "expected a value, found " + d.char(i)}
}

func (d *Doc) badNumber(i int) fault {
	switch d.word(i) {
	case "-Infinity", "-infinity", "-inf", "-Inf", "-NaN", "-nan":
		return fault{i, d.word(i) + " is not a JSON number; JSON has no NaN or Infinity, use null or a string"}
	}
	return fault{i, "a number needs a digit after '-'"}
}

func (d *Doc) badKey(i int) fault {
	switch d.text[i] {
	case '\'':
		return fault{i, "keys need double quotes, not single quotes"}
	case '/', '#':
		return fault{i, "comments are not allowed in JSON"}
	case ',':
		return fault{i, "expected a key in double quotes before ','"}
	}
	if w := d.word(i); w != "" {
		return fault{i, fmt.Sprintf("expected a key in double quotes, found %s", w)}
	}
	return fault{i, "expected a key in double quotes, found " + d.char(i)}
}

func (d *Doc) unclosed(open uint32) fault {
	n := &d.nodes[open]
	line := newSyntaxError(d.text, fault{at: int(n.start)})
	return fault{len(d.text), fmt.Sprintf("the text ends inside the %s that starts at line %d, column %d", n.kind, line.Line, line.Column)}
}

func (d *Doc) unexpectedIn(open uint32, i int) fault {
	closer := "']'"
	if d.nodes[open].kind == Object {
		closer = "'}'"
	}
	return fault{i, fmt.Sprintf("expected ',' or %s in this %s, found %s", closer, d.nodes[open].kind, d.char(i))}
}

func (d *Doc) trailing(i int) fault {
	return fault{i, fmt.Sprintf("expected the end of the text after the JSON value, found %s; give exactly one value", d.char(i))}
}

func (d *Doc) duplicate(key uint32) fault {
	return fault{int(d.nodes[key].start), fmt.Sprintf("duplicate key %s in one object", quoted(d.str(key)))}
}
