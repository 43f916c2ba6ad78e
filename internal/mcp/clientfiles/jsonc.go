package clientfiles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// jsonc reads JSON as editors' settings are written: with comments and with a
// comma behind the last entry. It keeps where everything stands, so that a text
// can be edited instead of written anew. Nothing else beyond JSON is read: what
// two programs understand differently is better refused.
type jsonc struct {
	src   []byte
	at    int
	nodes int
	twice []field // keys that stand twice in one object
}

const byteOrderMark = "\xef\xbb\xbf"

func parseJSONC(src []byte) (value, []field, error) {
	if err := checkText(src); err != nil {
		return value{}, nil, err
	}
	p := &jsonc{src: src}
	if bytes.HasPrefix(src, []byte(byteOrderMark)) {
		p.at = len(byteOrderMark)
	}
	v, err := p.value(0)
	if err == nil {
		err = p.space()
	}
	if err == nil && p.at < len(src) {
		err = p.fail("something follows the end of the value")
	}
	return v, p.twice, err
}

func checkText(src []byte) error {
	if len(src) > maxText {
		return fmt.Errorf("the file has %d bytes; at most %d are read", len(src), maxText)
	}
	if !utf8.Valid(src) {
		return fmt.Errorf("the file is not UTF-8 text")
	}
	return nil
}

func lineOf(src []byte, at int) int { return 1 + bytes.Count(src[:min(at, len(src))], []byte("\n")) }

func (p *jsonc) fail(what string) error {
	return fmt.Errorf("line %d: %s", lineOf(p.src, p.at), what)
}

func (p *jsonc) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

// space skips blanks and comments.
func (p *jsonc) space() error {
	end, err := skipTrivia(p.src, p.at)
	if err != nil {
		return p.fail(err.Error())
	}
	p.at = end
	return nil
}

// skipTrivia gives where the next token begins.
func skipTrivia(src []byte, at int) (int, error) {
	for at < len(src) {
		switch c := src[at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			at++
		case bytes.HasPrefix(src[at:], []byte("//")):
			end := bytes.IndexByte(src[at:], '\n')
			if end < 0 {
				return len(src), nil
			}
			at += end
		case bytes.HasPrefix(src[at:], []byte("/*")):
			end := bytes.Index(src[at+2:], []byte("*/"))
			if end < 0 {
				return at, fmt.Errorf("a comment is not closed")
			}
			at += 2 + end + 2
		default:
			return at, nil
		}
	}
	return at, nil
}

func (p *jsonc) value(depth int) (value, error) {
	if err := p.space(); err != nil {
		return value{}, err
	}
	if p.nodes++; depth > maxDepth || p.nodes > maxNodes {
		return value{}, p.fail("it is too large or nests too deeply")
	}
	v := value{start: p.at}
	var err error
	switch c := p.peek(); {
	case c == '{':
		err = p.object(&v, depth)
	case c == '[':
		err = p.array(&v, depth)
	case c == '"':
		v.kind = kindText
		v.text, err = p.quoted()
	default:
		err = p.scalar(&v)
	}
	v.end = p.at
	return v, err
}

func (p *jsonc) scalar(v *value) error {
	end := p.at
	for end < len(p.src) && !bytes.ContainsRune([]byte(" \t\r\n,]}/:\"[{"), rune(p.src[end])) {
		end++
	}
	word := p.src[p.at:end]
	switch string(word) {
	case "":
		return p.fail("want a value")
	case "null":
		v.kind = kindNull
	case "true", "false":
		v.kind, v.text = kindBool, string(word)
	default:
		if c := word[0]; c != '-' && (c < '0' || c > '9') || !json.Valid(word) {
			return p.fail("want a value: a text in double quotes, a number, true, false, null, a list or an object")
		}
		v.kind, v.text = kindNumber, string(word)
	}
	p.at = end
	return nil
}

func (p *jsonc) quoted() (string, error) {
	for end := p.at + 1; end < len(p.src); end++ {
		switch p.src[end] {
		case '\\':
			end++
		case '\n':
			return "", p.fail("a text is not closed on its line")
		case '"':
			var s string
			if err := json.Unmarshal(p.src[p.at:end+1], &s); err != nil {
				return "", p.fail("a text has an escape or a character that JSON does not know")
			}
			p.at = end + 1
			return s, nil
		}
	}
	return "", p.fail("a text is not closed")
}

func (p *jsonc) array(v *value, depth int) error {
	v.kind = kindList
	p.at++
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == ']' {
			p.at++
			return nil
		}
		e, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.list = append(v.list, e)
		if err := p.space(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.at++
		case ']':
		default:
			return p.fail("want a comma or the end of the list")
		}
	}
}

func (p *jsonc) object(v *value, depth int) error {
	v.kind = kindTable
	seen := map[string]bool{}
	p.at++
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == '}' {
			p.at++
			return nil
		}
		if p.peek() != '"' {
			return p.fail("want a key in double quotes, or the end of the object")
		}
		f := field{start: p.at, comma: -1}
		var err error
		if f.name, err = p.quoted(); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() != ':' {
			return p.fail("want a colon behind the key")
		}
		p.at++
		if f.value, err = p.value(depth + 1); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			f.comma = p.at
			p.at++
		case '}':
		default:
			return p.fail("want a comma or the end of the object")
		}
		if seen[f.name] {
			p.twice = append(p.twice, f)
		}
		seen[f.name] = true
		v.fields = append(v.fields, f)
	}
}
