package chatui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	for _, o := range a.offers {
		row := func(key, means string) {
			rows = append(rows, in.and(say(bold, key), exact(plain, "  "+means)).wrap(c.wide, line{{plain, "     "}})...)
		}
		row(keyOf(o.Choice), o.Text)
		if o.ByRule != "" && lasts(o.Choice) {
			row(strings.ToUpper(keyOf(o.Choice)), o.ByRule)
		}
		if o.Choice == desk.Deny {
			row("m", "deny it, with a message to the model")
		}
	}
	if slices.ContainsFunc(a.offers, func(o desk.Offer) bool { return lasts(o.Choice) }) {
		rows = append(rows, in.and(exact(dim, "What lasts remembers "+a.q.Remembers(false)+".")).wrap(c.wide, in)...)
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

// pressed takes in a key while a question is shown.
func (c *chat) pressed(ctx context.Context, k key) {
	a := c.ask
	if c.opt.Now().Before(a.armed) { // it was meant for what was typed before
		a.armed = c.opt.Now().Add(calmDown)
		if k.name == "" || k.name == keyBack {
			c.ed.press(k)
		}
		return
	}
	if a.stage != askKey {
		c.typing(ctx, k)
		return
	}
	if k.name != "" || k.paste || len(k.text) != 1 {
		return
	}
	switch k.text {
	case "d":
		c.details()
		return
	case "m":
		if c.offered(desk.Deny) {
			a.stage = askMessage
		}
		return
	}
	for _, o := range a.offers {
		letter := keyOf(o.Choice)
		byRule := k.text == strings.ToUpper(letter) && o.ByRule != "" && lasts(o.Choice)
		if k.text != letter && !byRule {
			continue
		}
		switch {
		case o.Choice != desk.Deny && k.among: // more of it may be on its way
			c.hint = "Several keys came at once, as from a paste. Press the one that you mean by itself."
			a.armed = c.opt.Now().Add(calmDown)
		case o.Choice != desk.Deny && a.left > 0:
			c.hint = "There is more than is shown: d shows all of it first."
		case o.Choice == desk.Edit:
			a.stage = askArguments
			a.ed.set(indented(a.q.Input))
		case o.Choice == desk.Deny:
			c.reply(ctx, desk.Reply{Choice: desk.Deny})
		default:
			c.reply(ctx, desk.Reply{Choice: o.Choice, ByRule: byRule, Calls: a.q.Waiting})
		}
		return
	}
}

func (c *chat) offered(choice desk.Choice) bool {
	return slices.ContainsFunc(c.ask.offers, func(o desk.Offer) bool { return o.Choice == choice })
}

// typing takes in a key while an answer is typed.
func (c *chat) typing(ctx context.Context, k key) {
	a := c.ask
	switch k.name {
	case keyEscape:
		if a.stage == askText {
			c.reply(ctx, desk.Reply{Choice: desk.Deny})
			return
		}
		a.stage = askKey
		a.ed.set("")
	case keyEnter:
		c.typed(ctx, a.ed.String())
	case keyUp, keyDown:
		if len(strings.Split(a.ed.String(), "\n")) > 1 {
			a.ed.press(k)
		}
	default:
		a.ed.press(k)
	}
}

// typed takes a text as the answer.
func (c *chat) typed(ctx context.Context, given string) {
	a := c.ask
	switch a.stage {
	case askMessage:
		c.reply(ctx, desk.Reply{Choice: desk.Deny, Message: strings.TrimSpace(given)})
	case askArguments:
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(given), &object); err != nil || object == nil {
			c.hint = "The arguments are not a JSON object. Escape goes back."
			if err != nil {
				c.hint = "The arguments are not a JSON object: " + err.Error() + ". Escape goes back."
			}
			return
		}
		c.reply(ctx, desk.Reply{Choice: desk.Edit, Input: json.RawMessage(given), Calls: a.q.Waiting})
	case askText:
		given = strings.TrimSpace(given)
		if given == "" {
			c.reply(ctx, desk.Reply{Choice: desk.Deny})
			return
		}
		for i, o := range a.q.Options {
			if given == fmt.Sprint(i+1) {
				given = o
				break
			}
		}
		c.reply(ctx, desk.Reply{Choice: desk.AllowOnce, Message: given, Calls: a.q.Waiting})
	}
}

// reply answers the question that is shown.
func (c *chat) reply(ctx context.Context, r desk.Reply) {
	q, err := c.b.Answer(ctx, c.ask.q.ID, r)
	switch {
	case errors.Is(err, desk.ErrBadReply):
		c.hint = err.Error()
		return
	case errors.Is(err, desk.ErrAnswered) || errors.Is(err, desk.ErrExpired) || errors.Is(err, desk.ErrReplaced):
		c.put(blockQuestion, say(notice, "  Too late. "+settled(&q)))
	case err != nil:
		c.put(blockQuestion, say(bad, "  The answer could not be kept: "+err.Error()).wrap(c.wide, nil)...)
		c.b.Dismiss(c.ask.q.ID)
	default:
		c.put(blockQuestion, c.answered(&q, c.ask.q.Text != "", r).wrap(c.wide, line{{plain, "    "}})...)
	}
	c.ask = nil
	c.nextQuestion()
}

// answered says what an answer has done.
func (c *chat) answered(q *desk.Question, own bool, r desk.Reply) line {
	yes, no := say(good, "  "+c.signs.done+" "), say(bad, "  "+c.signs.fail+" ")
	switch {
	case own && r.Choice == desk.Deny:
		return no.and(say(plain, "Not answered."))
	case own:
		return yes.and(exact(bold, r.Message))
	case r.Choice == desk.Deny && r.Message != "":
		return no.and(exact(plain, "You said no: "+r.Message))
	case r.Choice == desk.Deny:
		return no.and(say(plain, "You said no."))
	case r.Choice == desk.Edit:
		return yes.and(say(plain, "Allowed with the arguments as you changed them."))
	case q.Reply != nil && q.Reply.Grant != "":
		return yes.and(say(plain, "Allowed, "+wordOf(r.Choice)+". 'toolcrib grants revoke "+q.Reply.Grant+"' ends that."))
	}
	return yes.and(say(plain, "Allowed once."))
}

// settled says how a question ended that somebody else answered.
func settled(q *desk.Question) string {
	switch {
	case q.State == desk.Expired:
		return "Nobody answered in time."
	case q.State == desk.Replaced:
		return "What it would do has changed, so that this is asked again."
	case q.Reply != nil:
		return "Answered by " + q.Reply.By + " on another screen: " + string(q.Reply.Choice) + "."
	}
	return "The call no longer waits for an answer."
}

// askRows is what is painted while a question is shown.
func (c *chat) askRows() (rows []line, at place) {
	a := c.ask
	if c.opt.Now().Before(a.armed) {
		return []line{say(dim, "  (a question; stop typing to answer it)")}, place{}
	}
	if a.stage != askKey {
		prompt := map[askStage]string{askMessage: "to the model ", askArguments: "arguments ", askText: "answer "}[a.stage]
		rows, at = a.ed.rows(say(title, prompt+c.signs.prompt), c.wide)
		help := map[askStage]string{askMessage: "enter refuses with this message, escape goes back", askArguments: "enter runs it with these, alt-enter is a new line, escape goes back", askText: "enter answers, escape does not"}[a.stage]
		if a.stage == askText && len(a.q.Options) > 0 {
			help = "a number chooses, " + help
		}
		return append(rows, say(dim, help).wrap(c.wide, nil)...), at
	}
	var keys []line
	for _, o := range a.offers {
		keys = append(keys, say(title, keyOf(o.Choice)).and(say(plain, " "+wordOf(o.Choice))))
		if o.Choice == desk.Deny {
			keys = append(keys, say(title, "m").and(say(plain, " no, because…")))
		}
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
