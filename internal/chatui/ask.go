package chatui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/desk"
)

// asking is the question that is shown.
type asking struct {
	q      desk.Question
	offers []desk.Offer
	stage  askStage
	ed     editor
	since  time.Time // when it was shown
	armed  time.Time // from then on a key is an answer
	left   int       // how many lines were not shown yet
}

// askStage is what the keys mean.
type askStage uint8

const (
	askKey       askStage = iota // one key answers
	askMessage                   // a refusal's words to the model are typed
	askArguments                 // the arguments are changed
	askText                      // a tool's own question is answered
	askWider                     // a number chooses what is remembered
	askPaths                     // the part that is taken is typed
)

// calmDown is how long nothing may have been typed before a key counts as an answer: who
// was in the middle of a word when the question came has not seen it yet.
const calmDown = 400 * time.Millisecond

// A question longer than this is cut in the middle until the person wants to see it.
const (
	askMost = 90
	askHead = 60
	askTail = 20
)

// asked takes in what became of a question. What the agent said before it asked was told
// by another way, and is taken in first.
func (c *chat) asked(ctx context.Context, e desk.Event) {
	for told := true; told; {
		select {
		case n := <-c.news:
			c.hear(ctx, n)
		default:
			told = false
		}
	}
	q := e.Question
	at := slices.IndexFunc(c.questions, func(o desk.Question) bool { return o.ID == q.ID })
	current := c.ask != nil && c.ask.q.ID == q.ID
	switch {
	case q.State == desk.Open && at < 0 && !current:
		c.questions = append(c.questions, q)
		if w, watch := c.b.(onlyAsked); watch {
			w.Came(&q)
		}
	case q.State == desk.Open && at >= 0:
		c.questions[at] = q
	case q.State != desk.Open && at >= 0:
		c.questions = slices.Delete(c.questions, at, at+1)
	case q.State != desk.Open && current:
		c.note(notice, "  "+settled(&q))
		c.ask = nil
	}
	c.nextQuestion()
}

// nextQuestion shows a question if none is shown.
func (c *chat) nextQuestion() {
	if c.ask != nil || len(c.questions) == 0 {
		return
	}
	now := c.opt.Now()
	a := &asking{q: c.questions[0], since: now, armed: now.Add(calmDown)}
	c.questions = c.questions[1:]
	a.offers = c.b.Offers(&a.q)
	if a.q.Text != "" {
		a.stage = askText
	}
	c.ask = a
	c.endAnswer()
	rows := c.describe(&a.q)
	if len(rows) > askMost {
		a.left = len(rows) - askHead - askTail
		rows = slices.Concat(rows[:askHead], []line{say(alarm, fmt.Sprintf("  %s %d lines are not shown here: d shows them", c.signs.more, a.left))}, rows[len(rows)-askTail:])
	}
	c.last = cmp.Or(c.last, blockNote)
	c.put(blockQuestion, rows...)
	for _, k := range c.cards {
		if k.name == a.q.Tool && !k.asked && a.q.Preview != "" {
			k.asked = true
			break
		}
	}
}

// describe writes a question out, in the words that every screen has for it.
func (c *chat) describe(q *desk.Question) (rows []line) {
	in := line{{plain, "  "}}
	for i, part := range q.Describe() {
		switch {
		case i == 0:
			rows = append(rows, say(notice, c.signs.ask+" ").and(exact(bold, part.Title)).wrap(c.wide, in)...)
			if part.Kind == desk.PartHead {
				continue // what it can do is told with the details
			}
		case len(part.Lines) == 1 && part.Kind == desk.PartWhy || part.Kind == desk.PartNotes:
			for _, l := range part.Lines {
				rows = append(rows, in.and(exact(dim, part.Title+": "), exact(notice, l)).wrap(c.wide, line{{plain, "    "}})...)
			}
			continue
		case part.Kind != desk.PartArguments || q.Text != "":
			rows = append(rows, in.and(exact(dim, part.Title+":")).wrap(c.wide, in)...)
		}
		for _, l := range part.Lines {
			rows = append(rows, c.partRow(part.Kind, l)...)
		}
	}
	return rows
}

// partRow writes one line of a part. A row that goes on stands further in, so that no
// text can look like a line of its own.
func (c *chat) partRow(kind desk.PartKind, l string) []line {
	in, further := line{{plain, "    "}}, line{{plain, "          "}}
	switch kind {
	case desk.PartChange:
		return in.and(exact(diffStyle(l), l)).wrap(c.wide, further)
	case desk.PartArguments:
		if name, value, ok := strings.Cut(l, ": "); ok && !strings.HasPrefix(l, " ") {
			return in.and(exact(dim, name+": "), exact(plain, value)).wrap(c.wide, further)
		}
	case desk.PartNotes, desk.PartWhy:
		return in.and(exact(notice, l)).wrap(c.wide, further)
	}
	return in.and(exact(plain, l)).wrap(c.wide, further)
}

// details writes out all that is known, and what each key means.
func (c *chat) details() {
	a := c.ask
	if a.left > 0 {
		c.put(blockQuestion, c.describe(&a.q)...)
		a.left = 0
	}
	in := line{{plain, "  "}}
	rows := in.and(exact(dim, "Question "+a.q.ID+", call "+a.q.Call)).wrap(c.wide, in)
	for _, part := range a.q.Describe() {
		if part.Kind == desk.PartHead {
			for _, l := range part.Lines {
				rows = append(rows, in.and(exact(plain, l)).wrap(c.wide, in)...)
			}
		}
	}
	for l := range strings.SplitSeq(indented(a.q.Input), "\n") {
		rows = append(rows, in.and(exact(accent, l)).wrap(c.wide, line{{plain, "      "}})...)
	}
	row := func(key, means string) {
		rows = append(rows, in.and(say(bold, key), exact(plain, "  "+means)).wrap(c.wide, line{{plain, "     "}})...)
	}
	if a.q.TakesPart(a.offers) {
		row("o", "take only some of it, which you name")
	}
	for _, o := range a.offers {
		row(keyOf(o.Choice), o.Text)
		if len(o.Wider) > 0 {
			row(strings.ToUpper(keyOf(o.Choice)), o.Wider[0].Text)
		}
		if o.Choice == desk.Deny {
			row("m", "deny it, with a message to the model")
		}
	}
	if slices.ContainsFunc(a.offers, func(o desk.Offer) bool { return lasts(o.Choice) }) {
		rows = append(rows, in.and(exact(dim, "What lasts remembers "+a.q.Remembers(desk.ByArguments)+".")).wrap(c.wide, in)...)
	}
	c.put(blockQuestion, rows...)
}

func lasts(choice desk.Choice) bool {
	return choice == desk.AllowSession || choice == desk.AllowProject || choice == desk.AllowAlways
}

// keyOf is the key that means a choice.
func keyOf(choice desk.Choice) string {
	return map[desk.Choice]string{desk.AllowOnce: "y", desk.AllowSession: "s", desk.AllowProject: "p", desk.AllowAlways: "a", desk.Deny: "n", desk.Edit: "e"}[choice]
}

func wordOf(choice desk.Choice) string {
	return map[desk.Choice]string{desk.AllowOnce: "yes, once", desk.AllowSession: "this session", desk.AllowProject: "this project", desk.AllowAlways: "always", desk.Deny: "no", desk.Edit: "edit"}[choice]
}

// askRows is what is painted while a question is shown.
func (c *chat) askRows() (rows []line, at place) {
	a := c.ask
	if c.opt.Now().Before(a.armed) {
		return []line{say(dim, "  (a question; stop typing to answer it)")}, place{}
	}
	if a.stage == askWider {
		return c.widerRows()
	}
	if a.stage != askKey {
		prompt := map[askStage]string{askMessage: "to the model ", askArguments: "arguments ", askText: "answer ", askPaths: "take only "}[a.stage]
		rows, at = a.ed.rows(say(title, prompt+c.signs.prompt), c.wide)
		help := map[askStage]string{askMessage: "enter refuses with this message, escape goes back", askArguments: "enter runs it with these, alt-enter is a new line, escape goes back", askText: "enter answers, escape does not", askPaths: "enter takes these paths and drops the rest, escape goes back"}[a.stage]
		if a.stage == askText && len(a.q.Options) > 0 {
			help = "a number chooses, " + help
		}
		return append(rows, say(dim, help).wrap(c.wide, nil)...), at
	}
	var keys []line
	if a.q.TakesPart(a.offers) {
		keys = append(keys, say(title, "o").and(say(plain, " only…")))
	}
	for _, o := range a.offers {
		keys = append(keys, say(title, keyOf(o.Choice)).and(say(plain, " "+wordOf(o.Choice))))
		if o.Choice == desk.Deny {
			keys = append(keys, say(title, "m").and(say(plain, " no, because…")))
		}
	}
	if len(a.wider()) > 0 {
		keys = append(keys, say(title, "w").and(say(plain, " wider…")))
	}
	keys = append(keys, say(title, "d").and(say(plain, " details")))
	row := line{{plain, "  "}}
	for _, k := range keys {
		if row.width() > 2 && row.width()+k.width()+3 > c.wide {
			rows = append(rows, row)
			row = line{{plain, "  "}}
		}
		if row.width() > 2 {
			row = row.and(line{{plain, "   "}})
		}
		row = row.and(k)
	}
	rows = append(rows, row)
	return rows, place{len(rows) - 1, row.width()}
}
