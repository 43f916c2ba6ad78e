package cli

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// How many lines of what would be done are shown before a person asks for the rest, and
// which: commands end in what matters as often as they begin with it.
const (
	briefMost = 30
	briefHead = 20
	briefTail = 8
	briefWhy  = 2
)

// brief is a question as it is first shown: what, where, why it is asked, and the keys.
// "?" shows the rest. What a tool itself asks is shown whole. Left is how many lines of
// what would be done are not shown.
func (l look) brief(d *desk.Desk, q *desk.Question) (page string, left int) {
	if q.Text != "" {
		return l.question(q), 0
	}
	var head, why string
	var body strings.Builder
	for i, part := range q.Describe() {
		switch {
		case i == 0:
			head = l.head(part.Title, q.ID)
		case part.Kind == desk.PartWhy || part.Kind == desk.PartNotes:
			title := "Why: "
			if part.Kind == desk.PartNotes {
				title = ""
			}
			for i, line := range part.Lines {
				if left := len(part.Lines) - i; i == briefWhy && left > 1 && title != "" {
					why += l.line(part.Kind, fmt.Sprintf("  … and %d lines more: ? shows them", left))
					break
				}
				why += l.line(part.Kind, title+line)
				if title != "" {
					title = "  "
				}
			}
		default:
			if part.Kind == desk.PartSteps {
				body.WriteString(l.line(part.Kind, part.Title+":"))
			}
			for _, line := range part.Lines { // further in, so that no argument looks like a reason
				body.WriteString("  " + look{l.colour, l.width - 2}.line(part.Kind, line))
			}
		}
	}
	where := ""
	if q.Project != "" {
		where = l.line("", "In "+text.ShowExact(q.Project))
	}
	if q.Effects == 0 { // whoever wrote it does not say, so that no reason names it either
		where += l.line("", q.Describe()[0].Lines[0])
	}
	short, left := l.shortened(body.String())
	return head + short + where + why + l.keyRow(q, d.Offers(q)), left
}

// shortened leaves out the middle of what is very long, and says so.
func (l look) shortened(body string) (short string, left int) {
	rows := strings.SplitAfter(body, "\n")
	if rows = rows[:len(rows)-1]; len(rows) <= briefMost {
		return body, 0
	}
	left = len(rows) - briefHead - briefTail
	return strings.Join(rows[:briefHead], "") +
		l.note(fmt.Sprintf("  … %d lines are not shown here: ? shows them", left)) +
		strings.Join(rows[len(rows)-briefTail:], ""), left
}

// keyRow says in a word what each key means.
func (l look) keyRow(q *desk.Question, offers []desk.Offer) string {
	var words []string
	if q.TakesPart(offers) {
		words = append(words, "o PATH… only these")
	}
	for _, o := range offers {
		words = append(words, map[desk.Choice]string{
			desk.AllowOnce: "y yes, once", desk.AllowSession: "s this session", desk.AllowProject: "p this project",
			desk.AllowAlways: "a always", desk.Deny: "n no", desk.Edit: "e edit",
		}[o.Choice])
		if o.Choice == desk.Deny {
			words = append(words, "m no, because…")
		}
	}
	words = append(words, "? more")
	out, used := "", 0
	for _, w := range words {
		width := len([]rune(w)) + 2
		if used > 0 && used+width > l.width {
			out, used = out+"\n", 0
		}
		out, used = out+"  "+l.strong(w[:1])+w[1:], used+width
	}
	return out + "\n"
}
