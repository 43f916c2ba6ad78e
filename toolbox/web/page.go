package web

import (
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// page is what a reader gets of an HTML page.
type page struct {
	Title   string
	Text    string // Markdown, as far as a reader has use for it
	Refresh string // where it wants to send its readers by itself
	Cut     bool   // there was more
}

// Bounds on what is made of a page, whatever it is made of.
const (
	maxDepth = 512     // open elements; deeper ones are read, but not told apart
	maxText  = 2 << 20 // bytes of text, before one page of it is chosen
	maxLink  = 2048    // bytes of an address; a longer one is left out
	maxTitle = 300
)

// readPage turns HTML into text: what a person would read of it, without
// menus, scripts and what is hidden. Addresses are made whole with base.
func readPage(source string, base *url.URL) page {
	r := reader{base: base, open: map[string]int{}}
	z := newTokenizer(strings.NewReader(source))
	for {
		t, ok := z.next()
		if !ok || r.size > maxText {
			r.page.Cut = ok
			break
		}
		switch t.kind {
		case textToken:
			r.text(t)
		case startToken:
			r.start(t)
		case endToken:
			r.end(t.name)
		}
	}
	r.flush()
	r.page.Title = text.Clip(line(r.page.Title), maxTitle)
	r.page.Text = choose(r.blocks)
	return r.page
}

// element is an open one.
type element struct {
	name   string
	hidden bool // nothing in it is shown
	chrome bool // it is around the content: menus, side columns, footers
	main   bool // the page says that this is its content
	pre    bool
	quote  int // depth of quotations
	list   int // depth of lists
	next   int // number of the next item; 0 in a list without numbers
}

// reader makes blocks of text out of tags.
type reader struct {
	base *url.URL
	page page

	stack []element
	open  map[string]int // how many elements of each name are open
	lost  int            // elements that were too deep to be kept
	dark  int            // the one of them in which nothing is shown
	head  bool           // in the head, in which no text is shown
	named bool           // the title is known

	blocks []block
	size   int
	line   []byte  // the block in the making
	where  element // in what its text began
	prefix string  // what stands before it, such as "- "
	space  bool    // a space is due before the next word
	link   string  // the address of the link that is open
	from   int     // where its text begins in line
}

// block is a paragraph, a heading, an item or a row.
type block struct {
	text         string
	main, chrome bool
	tight        bool // no empty line before it
}

func (r *reader) top() element {
	if len(r.stack) == 0 {
		return element{}
	}
	return r.stack[len(r.stack)-1]
}

func (r *reader) text(t token) {
	if r.open["title"] > 0 {
		if r.open["svg"] == 0 && !r.named {
			r.page.Title, r.named = text.Clip(t.text, 4*maxTitle), true
		}
		return
	}
	here := r.top()
	if here.hidden || r.head || r.dark > 0 {
		return
	}
	text := plain(t.text)
	if len(r.line) == 0 {
		r.where = here
	}
	if here.pre {
		r.line = append(r.line, text...)
		r.size += len(text)
		return
	}
	for i, word := range strings.Fields(text) {
		if i > 0 || strings.TrimLeft(text[:1], " \t\n") == "" {
			r.space = true
		}
		r.word(word)
	}
	if text != "" && strings.TrimRight(text[len(text)-1:], " \t\n") == "" {
		r.space = true
	}
}

// word adds to the block, with the space that is due.
func (r *reader) word(word string) {
	if len(r.line) == 0 {
		r.where = r.top()
	}
	if r.space && len(r.line) > 0 {
		r.line = append(r.line, ' ')
		if r.link != "" && r.from == len(r.line)-1 {
			r.from++ // the space is before the link
		}
	}
	r.space = false
	r.line = append(r.line, word...)
	r.size += len(word) + 1
}

// start opens an element.
func (r *reader) start(t token) {
	r.closeImplied(t.name)
	switch t.name {
	case "html", "body":
		r.head = false
		return
	case "head":
		r.head = true
		return
	case "base":
		if u, ok := r.resolve(t.value("href")); ok {
			r.base = u
		}
		return
	case "meta":
		r.meta(t)
		return
	}
	if blockElement(t.name) {
		r.flush()
		r.head = false
	}
	here := r.top()
	if r.inline(t, here) || voidElement(t.name) {
		return
	}
	if len(r.stack) >= maxDepth {
		r.lost++
		if r.dark == 0 && hiddenElement(&t) {
			r.dark = r.lost
		}
		return
	}
	here.name = t.name
	here.next = 0
	here.hidden = here.hidden || hiddenElement(&t)
	role := strings.ToLower(strings.TrimSpace(t.value("role")))
	switch {
	case t.name == "main" || role == "main" || t.name == "article" || role == "article":
		here.main, here.chrome = true, false
	case t.name == "nav" || t.name == "aside" || t.name == "footer" || t.name == "dialog" || t.name == "header" && !here.main,
		role == "navigation" || role == "banner" || role == "contentinfo" || role == "search" || role == "complementary" || role == "dialog":
		here.chrome = true
	}
	r.layout(t, &here)
	r.stack = append(r.stack, here)
	r.open[t.name]++
}

// layout sets what an element does to the blocks in it.
func (r *reader) layout(t token, here *element) {
	switch t.name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.prefix = strings.Repeat("#", int(t.name[1]-'0')) + " "
	case "ul", "ol", "menu", "dir":
		here.list++
		if t.name == "ol" {
			here.next = 1
		}
	case "li":
		r.prefix = strings.Repeat("  ", min(max(here.list-1, 0), 8)) + r.bullet()
	case "blockquote":
		here.quote++
	case "pre", "listing", "xmp", "plaintext":
		here.pre = true
	}
}

// bullet is what an item begins with: its number, if its list has numbers.
func (r *reader) bullet() string {
	for i := len(r.stack) - 1; i >= 0; i-- {
		switch e := &r.stack[i]; e.name {
		case "ul", "menu", "dir":
			return "- "
		case "ol":
			e.next++
			return itoa(e.next-1) + ". "
		}
	}
	return "- "
}

// inline does what has to be done at the start of an element within a line,
// and reports whether that is all of it.
func (r *reader) inline(t token, here element) bool {
	if here.hidden || r.head || r.dark > 0 {
		return false
	}
	switch t.name {
	case "br":
		if here.pre || len(r.line) > 0 {
			r.endLink()
			r.line = append(r.line, '\n')
			r.space = false
		}
	case "wbr":
	case "hr":
		r.add(here, "---", false)
	case "img":
		if alt := line(t.value("alt")); alt != "" {
			r.word("[image: " + text.Clip(alt, maxTitle) + "]")
		}
	case "td", "th":
		if len(r.line) > 0 {
			r.endLink()
			r.space = true
			r.word("|")
			r.space = true
		}
		return false
	case "a":
		r.endLink()
		if u, ok := r.resolve(t.value("href")); ok && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto") {
			r.link, r.from = u.String(), len(r.line)
		}
		return false
	default:
		return false
	}
	return true
}

// meta looks for a page that sends its readers on. It is not followed: where a
// page leads is for the caller to see.
func (r *reader) meta(t token) {
	if r.page.Refresh != "" || !strings.EqualFold(strings.TrimSpace(t.value("http-equiv")), "refresh") {
		return
	}
	_, rest, _ := strings.Cut(t.value("content"), ";")
	name, target, ok := strings.Cut(rest, "=")
	if !ok || !strings.EqualFold(strings.TrimSpace(name), "url") {
		return
	}
	if u, ok := r.resolve(strings.Trim(strings.TrimSpace(target), `"'`)); ok && (u.Scheme == "http" || u.Scheme == "https") {
		r.page.Refresh = u.String()
	}
}

// resolve makes an address whole. What is too long or holds what cannot be
// seen is none.
func (r *reader) resolve(ref string) (*url.URL, bool) {
	ref = strings.TrimSpace(ref)
	if ref == "" || len(ref) > maxLink || strings.HasPrefix(ref, "#") {
		return nil, false
	}
	u, err := url.Parse(ref)
	if err != nil {
		return nil, false
	}
	if r.base != nil {
		u = r.base.ResolveReference(u)
	}
	u.User = nil
	text := u.String()
	return u, len(text) <= maxLink && plain(text) == text && !strings.ContainsAny(text, "\n\t ")
}
