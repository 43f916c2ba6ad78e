package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// look is how questions are written: with colours for a person who wants them,
// and no wider than the screen.
type look struct {
	colour bool
	width  int
}

// look finds out what a stream can show.
func (c *command) look(w io.Writer) look {
	l := look{width: 80}
	f, ok := w.(*os.File)
	if !ok || !terminal(w) {
		return l
	}
	if n := columns(f); n > 0 {
		l.width = n
	} else if n, err := strconv.Atoi(c.getenv("COLUMNS")); err == nil && n > 0 {
		l.width = n
	}
	l.width = min(max(l.width, 40), 160)
	l.colour = c.getenv("NO_COLOR") == "" && c.getenv("TERM") != "dumb"
	return l
}

// The colours. Text from elsewhere cannot have any: it was made visible before.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	plain  = "\x1b[0m"
)

func (l look) in(colour, text string) string {
	if !l.colour || colour == "" || text == "" {
		return text
	}
	return colour + text + plain
}

func (l look) strong(text string) string { return l.in(bold, text) }
func (l look) note(given string) string  { return l.in(yellow, text.Show(given)) + "\n" }

// question is what the person reads: the tool, exactly what it would be given,
// what would change or start, and why this is asked.
func (l look) question(q *desk.Question) string {
	var b strings.Builder
	for i, part := range q.Describe() {
		title := part.Title
		if i == 0 {
			b.WriteString(l.head(title, q.ID))
		} else {
			fmt.Fprintf(&b, "%s\n", l.strong(title+":"))
		}
		for _, line := range part.Lines {
			b.WriteString(l.line(part.Kind, line))
		}
	}
	return b.String()
}

// head writes the first line of a question. A client names itself: what is longer than
// the screen goes on further in.
func (l look) head(title, id string) string {
	head, rest := cut(title, l.width)
	rows := []string{l.strong(l.in(cyan, head))}
	for rest != "" {
		head, rest = cut(rest, l.width-8)
		rows = append(rows, l.strong(l.in(cyan, head)))
	}
	return strings.Join(rows, "\n        ") + "  " + l.in(dim, id) + "\n"
}

// line writes one line of a part, further in; where it is longer than the
// screen it goes on still further in, so that no text can look like a line of
// its own.
func (l look) line(kind desk.PartKind, text string) string {
	colour := ""
	if kind == desk.PartChange {
		switch {
		case strings.HasPrefix(text, "+"):
			colour = green
		case strings.HasPrefix(text, "-"):
			colour = red
		case strings.HasPrefix(text, "@"):
			colour = cyan
		}
	}
	if kind == desk.PartNotes {
		colour = yellow
	}
	var b strings.Builder
	indent := "  "
	for {
		head, rest := cut(text, l.width-len(indent))
		b.WriteString(indent + l.in(colour, head) + "\n")
		if rest == "" {
			return b.String()
		}
		text, indent = rest, "        "
	}
}

// cut takes as much of a text as fits, at a space if there is one near the end.
func cut(text string, width int) (head, rest string) {
	seen, space := 0, -1
	for i, r := range text {
		if seen += runeWidth(r); seen > width && i > 0 {
			if space > i/2 {
				return text[:space], text[space+1:]
			}
			return text[:i], text[i:]
		}
		if r == ' ' {
			space = i
		}
	}
	return text, ""
}

// runeWidth is how many columns a character takes at most: a row that ran over would
// go on at the edge of the screen, and look like a line of ours.
func runeWidth(r rune) int {
	if r == '\t' {
		return 8
	}
	return text.RuneWidth(r)
}

// keyOf is the letter that means a choice.
func keyOf(c desk.Choice) string {
	switch c {
	case desk.AllowOnce:
		return "y"
	case desk.AllowSession:
		return "s"
	case desk.AllowProject:
		return "p"
	case desk.AllowAlways:
		return "a"
	case desk.Deny:
		return "n"
	case desk.Edit:
		return "e"
	}
	return ""
}

// keys lists what can be typed.
func keys(q *desk.Question, offers []desk.Offer) []string {
	var list []string
	if q.TakesPart(offers) {
		list = append(list, "o")
	}
	for _, o := range offers {
		list = append(list, keyOf(o.Choice))
		if o.Choice == desk.Deny {
			list = append(list, "m")
		}
	}
	return list
}

// offers says what can be answered and what of it is remembered.
func (l look) offers(d *desk.Desk, q *desk.Question) string {
	if q.Text != "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(l.strong("You can say:") + "\n")
	lasts := false
	row := func(key, text string) { b.WriteString(l.line("", key+"  "+text)) }
	all := d.Offers(q)
	if q.TakesPart(all) {
		row("o", "take only some of it: o PATH…")
	}
	for _, o := range all {
		row(keyOf(o.Choice), o.Text)
		if o.Choice == desk.Deny {
			row("m", "deny it with a message to the model")
		}
		lasts = lasts || o.Choice == desk.AllowSession || o.Choice == desk.AllowProject || o.Choice == desk.AllowAlways
	}
	if lasts {
		b.WriteString(l.line("", "s, p and a remember "+q.Remembers(desk.ByArguments)+"; a time may follow, such as: s 2h"))
		for _, by := range q.Ways() {
			b.WriteString(l.line("", fmt.Sprintf("s%[1]c, p%[1]c and a%[1]c remember %[2]s", by[0], q.Remembers(by))))
		}
	}
	return b.String()
}

// answeredText says what an answer has done.
func answeredText(q *desk.Question) string {
	r := q.Reply
	switch {
	case r == nil:
		return "Not answered."
	case r.Grant != "":
		return fmt.Sprintf("Allowed, and remembered as %s ('toolcrib remembered revoke %[1]s' ends that).", r.Grant)
	case r.Choice == desk.Edit:
		return "Allowed with the arguments as you changed them."
	case r.Choice == desk.Deny && q.Text != "":
		return "Not answered."
	case r.Choice == desk.Deny:
		return "Denied."
	case q.Text != "":
		return "Answered."
	case r.Left > 1:
		return fmt.Sprintf("Allowed for the %d calls that wait.", r.Left)
	}
	return "Allowed once."
}
