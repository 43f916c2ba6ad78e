package math

import (
	"errors"
	"strings"
)

// formatted checks the body of an f-string and returns what is wrong with
// it. Its expressions are never evaluated, only read.
func (p *parser) formatted(body string, raw bool, depth int) string {
	if depth >= 2 {
		return "f-string: expressions nested too deeply"
	}
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case c == '\\' && !raw && strings.HasPrefix(body[i:], `\N{`):
			end := strings.IndexByte(body[i:], '}')
			if end < 0 {
				return unicodeError(i, len(body)-1, `malformed \N character escape`)
			}
			i += end + 1
		case c == '\\' && !raw && i+1 < len(body) && body[i+1] != '{' && body[i+1] != '}':
			i += 2
		case (c == '{' || c == '}') && i+1 < len(body) && body[i+1] == c && depth == 0:
			i += 2
		case c == '}':
			return "f-string: single '}' is not allowed"
		case c == '{':
			n, msg := p.field(body[i+1:], raw, depth)
			if msg != "" {
				return msg
			}
			i += 1 + n
		default:
			i++
		}
	}
	return ""
}

// field reads one replacement field after its opening brace and returns its
// length with the closing one.
func (p *parser) field(s string, raw bool, depth int) (int, string) {
	end, msg := fieldExpression(s)
	if msg != "" {
		return 0, "f-string" + msg
	}
	if end >= len(s) {
		return 0, "f-string: expecting '}'"
	}
	text := s[:end]
	if strings.Trim(text, " \t\n\f\r") == "" {
		return 0, "f-string: empty expression not allowed"
	}
	if msg := p.fieldSyntax(text); msg != "" {
		return 0, msg
	}
	if end < len(s) && s[end] == '=' {
		end++
		for end < len(s) && strings.IndexByte(" \t\n\f\r", s[end]) >= 0 {
			end++
		}
	}
	if end < len(s) && s[end] == '!' {
		end++
		if end >= len(s) {
			return 0, "f-string: expecting '}'"
		}
		if strings.IndexByte("sra", s[end]) < 0 {
			return 0, "f-string: invalid conversion character: expected 's', 'r', or 'a'"
		}
		end++
	}
	if end < len(s) && s[end] == ':' {
		spec := formatSpec(s[end+1:])
		if msg := p.formatted(s[end+1:end+1+spec], raw, depth+1); msg != "" {
			return 0, msg
		}
		end += 1 + spec
	}
	if end >= len(s) || s[end] != '}' {
		return 0, "f-string: expecting '}'"
	}
	return end + 1, ""
}

// formatSpec is the length of a format specification: up to the brace that
// closes its field.
func formatSpec(s string) int {
	open := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			open++
		case '}':
			if open == 0 {
				return i
			}
			open--
		}
	}
	return len(s)
}

// fieldSyntax reads the expression of a field, in brackets as Python does.
func (p *parser) fieldSyntax(text string) string {
	sub := &parser{toks: lex("("+text+")", false), depth: p.depth + 1, quiet: p.quiet}
	sub.nested(func() *node { return sub.list(sub.expression, "Tuple") })
	if sub.tok().kind != tokNewline {
		sub.fail(plainSyntaxError)
	}
	if sub.err == nil {
		return ""
	}
	if err, ok := errors.AsType[syntaxError](sub.err); ok {
		return "f-string: " + string(err)
	}
	if p.err == nil {
		p.err = sub.err
	}
	return ""
}

// fieldExpression finds the end of the expression part of a field. The
// message starts after the word f-string.
func fieldExpression(s string) (int, string) {
	var open []byte
	var quote string
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			return 0, " expression part cannot include a backslash"
		}
		if quote != "" {
			if strings.HasPrefix(s[i:], quote) {
				i += len(quote) - 1
				quote = ""
			}
			continue
		}
		switch c {
		case '\'', '"':
			quote = s[i : i+1]
			if t := strings.Repeat(quote, 3); strings.HasPrefix(s[i:], t) {
				quote = t
				i += 2
			}
		case '[', '{', '(':
			if len(open) >= maxBrackets {
				return 0, ": too many nested parenthesis"
			}
			open = append(open, c)
		case '#':
			return 0, " expression part cannot include '#'"
		case '!', ':', '}', '=', '<', '>':
			if len(open) > 0 {
				break
			}
			if next := s[i+1:]; strings.HasPrefix(next, "=") && strings.IndexByte("!=<>", c) >= 0 {
				i++ // a comparison
				continue
			}
			if c == '<' || c == '>' {
				continue
			}
			return i, ""
		}
		if n := len(open); strings.IndexByte("]})", c) >= 0 {
			if n == 0 {
				return 0, ": unmatched '" + string(c) + "'"
			}
			if last := open[n-1]; !strings.Contains("(){}[]", string(last)+string(c)) {
				return 0, ": closing parenthesis '" + string(c) + "' does not match opening parenthesis '" + string(last) + "'"
			}
			open = open[:n-1]
		}
	}
	switch n := len(open); {
	case quote != "":
		return 0, ": unterminated string"
	case n > 0:
		return 0, ": unmatched '" + string(open[n-1]) + "'"
	}
	return len(s), ""
}
