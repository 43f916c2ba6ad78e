package web

import (
	"html"
	"strings"
)

// The tokenizer takes HTML apart as browsers do where it matters for reading:
// no text is an error, and each byte is looked at a fixed number of times, so
// that a page cannot be made expensive. Of the states of the standard it
// leaves out those that only decide what a script is.

type tokenKind uint8

const (
	textToken tokenKind = iota + 1
	startToken
	endToken
)

// token is a piece of a page. Texts and values are as written: what stands for
// a letter is replaced when they are used.
type token struct {
	kind  tokenKind
	name  string // of a tag, in lower case
	text  string // of a text, or the content of an element that holds only text
	attrs []attribute
	raw   bool // text in which & means &
}

type attribute struct{ name, value string }

// attr gives the value of an attribute, and whether there is one.
func (t *token) attr(name string) (string, bool) {
	for _, a := range t.attrs {
		if a.name == name {
			return html.UnescapeString(a.value), true
		}
	}
	return "", false
}

// value is the attribute's, or empty.
func (t *token) value(name string) string {
	v, _ := t.attr(name)
	return v
}

// hasClass reports whether a tag is of a class.
func (t *token) hasClass(class string) bool {
	for word := range strings.FieldsSeq(t.value("class")) {
		if word == class {
			return true
		}
	}
	return false
}

const (
	maxAttrs   = 32       // of a tag; readers need none of the others
	maxTagName = 64       // longer ones are nobody's
	maxValue   = 16 << 10 // of an attribute; a longer one counts as empty
)

type tokenizer struct {
	src string
	pos int
	raw string // the element whose content is text only, if in one
}

// next gives the next text or tag; false at the end. Comments, declarations
// and a tag that the page ends in are nothing.
func (z *tokenizer) next() (token, bool) {
	if z.raw != "" {
		if t, ok := z.rawText(); ok {
			return t, true
		}
	}
	start := z.pos
	for z.pos < len(z.src) {
		i := strings.IndexByte(z.src[z.pos:], '<')
		if i < 0 {
			z.pos = len(z.src)
			break
		}
		at := z.pos + i
		if !opens(z.src[at:]) {
			z.pos = at + 1
			continue
		}
		if at > start {
			z.pos = at
			return token{kind: textToken, text: z.src[start:at]}, true
		}
		if t, ok := z.markup(at); ok {
			return t, true
		}
		start = z.pos
	}
	if start < z.pos {
		return token{kind: textToken, text: z.src[start:z.pos]}, true
	}
	return token{}, false
}

// opens reports whether a "<" begins markup and is no letter of the text.
func opens(s string) bool {
	if len(s) < 2 {
		return false
	}
	c := s[1]
	return c == '!' || c == '?' || c == '/' && len(s) > 2 || isLetter(c)
}

// markup reads what begins with the "<" at a place; false if it is nothing.
func (z *tokenizer) markup(at int) (token, bool) {
	s := z.src[at:]
	switch {
	case strings.HasPrefix(s, "<!--"):
		z.pos = at + commentEnd(s)
		return token{}, false
	case s[1] == '!' || s[1] == '?' || s[1] == '/' && !isLetter(s[2]):
		z.pos = len(z.src)
		if i := strings.IndexByte(s, '>'); i >= 0 {
			z.pos = at + i + 1
		}
		return token{}, false
	}
	t := token{kind: startToken}
	z.pos = at + 1
	if s[1] == '/' {
		t.kind = endToken
		z.pos++
	}
	begin := z.pos
	for z.pos < len(z.src) && !isSpace(z.src[z.pos]) && z.src[z.pos] != '/' && z.src[z.pos] != '>' {
		z.pos++
	}
	t.name = "?"
	if z.pos-begin <= maxTagName {
		t.name = lower(z.src[begin:z.pos])
	}
	if !z.attributes(&t) {
		return token{}, false
	}
	if t.kind == startToken && rawElement(t.name) {
		z.raw = t.name
	}
	return t, true
}

// commentEnd is the length of a comment; one that is not closed goes on to the
// end of the page.
func commentEnd(s string) int {
	for _, empty := range []string{"<!-->", "<!--->"} {
		if strings.HasPrefix(s, empty) {
			return len(empty)
		}
	}
	for at := 4; ; { // in one pass: what it looks like further on must not be searched again and again
		i := strings.Index(s[at:], "--")
		if i < 0 {
			return len(s)
		}
		at += i
		for _, end := range []string{"-->", "--!>"} {
			if strings.HasPrefix(s[at:], end) {
				return at + len(end)
			}
		}
		at++
	}
}

// attributes reads up to the end of a tag; false if the page ends in it.
func (z *tokenizer) attributes(t *token) bool {
	for {
		for z.pos < len(z.src) && (isSpace(z.src[z.pos]) || z.src[z.pos] == '/') {
			z.pos++
		}
		if z.pos >= len(z.src) {
			return false
		}
		if z.src[z.pos] == '>' {
			z.pos++
			return true
		}
		begin := z.pos
		z.pos++ // a name may begin with =
		for z.pos < len(z.src) && !isSpace(z.src[z.pos]) && !strings.ContainsRune("/>=", rune(z.src[z.pos])) {
			z.pos++
		}
		name := z.src[begin:z.pos]
		z.spaces()
		value := ""
		if z.pos < len(z.src) && z.src[z.pos] == '=' {
			z.pos++
			z.spaces()
			value = z.attrValue()
		}
		if len(t.attrs) < maxAttrs && len(name) <= maxTagName {
			if len(value) > maxValue {
				value = ""
			}
			t.attrs = append(t.attrs, attribute{lower(name), value})
		}
	}
}

func (z *tokenizer) spaces() {
	for z.pos < len(z.src) && isSpace(z.src[z.pos]) {
		z.pos++
	}
}

func (z *tokenizer) attrValue() string {
	if z.pos >= len(z.src) {
		return ""
	}
	begin := z.pos
	if quote := z.src[z.pos]; quote == '"' || quote == '\'' {
		i := strings.IndexByte(z.src[begin+1:], quote)
		if i < 0 {
			z.pos = len(z.src)
			return ""
		}
		z.pos = begin + i + 2
		return z.src[begin+1 : begin+1+i]
	}
	for z.pos < len(z.src) && !isSpace(z.src[z.pos]) && z.src[z.pos] != '>' {
		z.pos++
	}
	return z.src[begin:z.pos]
}

// rawText is the content of an element in which tags are text. Without an end
// it is the rest of the page.
func (z *tokenizer) rawText() (token, bool) {
	name := z.raw
	z.raw = ""
	begin, end := z.pos, len(z.src)
	for at := z.pos; ; {
		i := strings.Index(z.src[at:], "</")
		if i < 0 {
			break
		}
		at += i + len("</")
		rest := z.src[at:]
		if len(rest) > len(name) && strings.EqualFold(rest[:len(name)], name) &&
			(isSpace(rest[len(name)]) || rest[len(name)] == '/' || rest[len(name)] == '>') {
			end = at - len("</")
			break
		}
	}
	z.pos = end
	if begin == end {
		return token{}, false
	}
	return token{kind: textToken, text: z.src[begin:end], raw: name != "title" && name != "textarea"}, true
}

// rawElement names the elements whose content is text whatever it looks like.
func rawElement(name string) bool {
	switch name {
	case "script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext":
		return true
	}
	return false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// lower is in lower case, of ASCII only: other letters have no other case in
// the names of tags, and some would turn into ASCII.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}
