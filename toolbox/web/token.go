package web

import (
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

type tokenKind uint8

const (
	textToken tokenKind = iota + 1
	startToken
	endToken
)

// token is a piece of a page. What stood for a letter is the letter.
type token struct {
	kind  tokenKind
	name  string // of a tag, in lower case
	text  string // of a text, or the content of an element that holds only text
	attrs []attribute
}

type attribute struct{ name, value string }

// attr gives the value of an attribute, and whether there is one.
func (t *token) attr(name string) (string, bool) {
	for _, a := range t.attrs {
		if a.name == name {
			return a.value, true
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
	return slices.Contains(strings.Fields(t.value("class")), class)
}

const (
	maxAttrs   = 32       // of a tag; readers need none of the others
	maxTagName = 64       // longer ones are nobody's
	maxValue   = 16 << 10 // of an attribute; a longer one counts as empty
)

// tokenizer takes HTML apart as browsers do that run no scripts.
type tokenizer struct{ z *html.Tokenizer }

func newTokenizer(source io.Reader) tokenizer { return tokenizer{html.NewTokenizer(source)} }

// next gives the next text or tag; false at the end. Comments, declarations
// and a tag that the page ends in are nothing.
func (z tokenizer) next() (token, bool) {
	for {
		switch z.z.Next() {
		case html.ErrorToken:
			return token{}, false
		case html.TextToken:
			return token{kind: textToken, text: string(z.z.Text())}, true
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.tag(startToken)
			if t.name == "noscript" {
				z.z.NextIsNotRawText()
			}
			return t, true
		case html.EndTagToken:
			return z.tag(endToken), true
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

func (z tokenizer) tag(kind tokenKind) token {
	t := token{kind: kind, name: "?"}
	name, more := z.z.TagName()
	if len(name) <= maxTagName {
		t.name = string(name)
	}
	for more && len(t.attrs) < maxAttrs {
		var key, value []byte
		key, value, more = z.z.TagAttr()
		if len(key) > maxTagName {
			continue
		}
		if len(value) > maxValue {
			value = nil
		}
		t.attrs = append(t.attrs, attribute{string(key), string(value)})
	}
	return t
}
