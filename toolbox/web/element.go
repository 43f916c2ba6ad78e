package web

import (
	"slices"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// end closes an element and what is open in it. One that is not open is
// nothing.
func (r *reader) end(name string) {
	switch {
	case name == "head":
		r.head = false
		return
	case name == "br":
		r.start(token{kind: startToken, name: name})
		return
	case name == "p" && r.open["p"] == 0:
		r.flush()
		return
	case r.lost > 0:
		if r.lost == r.dark {
			r.dark = 0
		}
		r.lost--
		return
	case r.open[name] == 0:
		return
	}
	for len(r.stack) > 0 {
		if r.pop() == name {
			return
		}
	}
}

// pop closes the innermost element.
func (r *reader) pop() string {
	e := r.top()
	if blockElement(e.name) {
		r.flush()
	} else if e.name == "a" {
		r.endLink()
	}
	if r.prefix != "" && (e.name == "li" || len(e.name) == 2 && e.name[0] == 'h') {
		r.prefix = "" // it had no text
	}
	r.stack = r.stack[:len(r.stack)-1]
	r.open[e.name]--
	return e.name
}

// closeImplied ends what need not be closed by hand: an item at the next item,
// a paragraph at the next block.
func (r *reader) closeImplied(name string) {
	switch name {
	case "li":
		r.closeWithin("li", "ul", "ol", "menu", "dir")
	case "dt", "dd":
		r.closeWithin("dt", "dl")
		r.closeWithin("dd", "dl")
	case "td", "th":
		r.closeWithin("td", "table", "tr")
		r.closeWithin("th", "table", "tr")
	case "tr":
		r.closeWithin("tr", "table")
	case "option":
		r.closeWithin("option", "select")
	case "body":
		r.closeWithin("head", "html")
	case "a":
		r.closeWithin("a", "td", "th", "table")
	}
	if blockElement(name) {
		r.closeWithin("p", "button", "td", "th", "table", "li")
	}
}

// closeWithin ends the open element of a name, unless one of the others is
// open in it.
func (r *reader) closeWithin(name string, walls ...string) {
	if r.open[name] == 0 {
		return
	}
	for i, e := range slices.Backward(r.stack) {
		switch have := e.name; {
		case have == name:
			for len(r.stack) > i {
				r.pop()
			}
			return
		case slices.Contains(walls, have):
			return
		}
	}
}

// endLink writes the address after the text of a link.
func (r *reader) endLink() {
	link := r.link
	if link == "" {
		return
	}
	r.link = ""
	text := strings.TrimSpace(string(r.line[r.from:]))
	if text == "" || r.where.pre {
		return
	}
	if text != link {
		text = "[" + text + "](" + link + ")"
	}
	r.line = append(r.line[:r.from], text...)
	r.size += len(link) + 4
}

// flush ends the block in the making.
func (r *reader) flush() {
	r.endLink()
	text := string(r.line)
	r.line = r.line[:0]
	r.space = false
	if r.where.pre {
		if strings.TrimSpace(text) != "" {
			r.add(r.where, "```\n"+strings.Trim(text, "\n")+"\n```", false)
		}
		return
	}
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	prefix := r.prefix
	r.prefix = ""
	if strings.HasPrefix(prefix, "#") { // a heading is one line
		text = strings.ReplaceAll(text, "\n", " ")
	}
	r.add(r.where, prefix+text, r.open["li"] > 0 || r.open["tr"] > 0)
}

// add puts a block down.
func (r *reader) add(here element, text string, tight bool) {
	if here.quote > 0 {
		mark := strings.Repeat("> ", min(here.quote, 8))
		plain := len(text)
		text = mark + strings.ReplaceAll(text, "\n", "\n"+mark)
		r.size += len(text) - plain
	}
	r.blocks = append(r.blocks, block{text: text, main: here.main, chrome: here.chrome, tight: tight})
}

// The content of a page is what the page says it is, if that is enough to be
// read; otherwise what does not stand in menus and the like; otherwise all.
const (
	enoughText = 200 // bytes
	enoughPart = 5   // of a hundred
)

func choose(blocks []block) string {
	var main, body, all int
	for _, b := range blocks {
		all += len(b.text)
		if !b.chrome {
			body += len(b.text)
			if b.main {
				main += len(b.text)
			}
		}
	}
	keep := func(b block) bool { return true }
	switch {
	case main >= enoughText && 100*main >= enoughPart*body:
		keep = func(b block) bool { return b.main && !b.chrome }
	case body > 0 && (body >= enoughText || 100*body >= enoughPart*all):
		keep = func(b block) bool { return !b.chrome }
	}
	var out strings.Builder
	tight := false
	for _, b := range blocks {
		if !keep(b) {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
			if !b.tight || !tight {
				out.WriteByte('\n')
			}
		}
		out.WriteString(b.text)
		tight = b.tight
	}
	return out.String()
}

// hiddenElement reports whether nothing of an element is shown to a person.
func hiddenElement(t *token) bool {
	switch t.name {
	case "script", "style", "template", "svg", "canvas", "iframe", "object", "embed", "audio", "video", "select", "datalist", "textarea", "button",
		"noembed", "noframes", "title":
		return true
	}
	if value, ok := t.attr("hidden"); ok && !strings.EqualFold(value, "until-found") {
		return true
	}
	style := strings.Join(strings.Fields(strings.ToLower(t.value("style"))), "")
	ways := []string{"display:none", "visibility:hidden", "font-size:0;", "font-size:0px", "opacity:0;"}
	return slices.ContainsFunc(ways, func(way string) bool { return strings.Contains(style+";", way) })
}

func voidElement(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr", "frame", "keygen", "basefont", "bgsound":
		return true
	}
	return false
}

// blockElement names what begins and ends a line of its own.
func blockElement(name string) bool {
	switch name {
	case "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset",
		"figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li", "listing", "main", "menu",
		"nav", "ol", "p", "plaintext", "pre", "search", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", "xmp":
		return true
	}
	return false
}
