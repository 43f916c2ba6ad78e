package chatui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/desk"
)

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
	if a.stage == askWider {
		c.chooseWider(ctx, k)
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
	case "o":
		if a.q.TakesPart(a.offers) && c.mayAllow(k) {
			a.stage = askPaths
		}
		return
	case "w":
		if len(a.wider()) > 0 {
			a.stage = askWider
		}
		return
	}
	for _, o := range a.offers {
		letter := keyOf(o.Choice)
		wide := k.text == strings.ToUpper(letter) && len(o.Wider) > 0
		if k.text != letter && !wide {
			continue
		}
		reply := desk.Reply{Choice: o.Choice, Calls: a.q.Waiting}
		if wide {
			reply.By = o.Wider[0].By
		}
		switch {
		case o.Choice != desk.Deny && !c.mayAllow(k):
		case o.Choice == desk.Edit:
			a.stage = askArguments
			a.ed.set(indented(a.q.Input))
		case o.Choice == desk.Deny:
			c.reply(ctx, desk.Reply{Choice: desk.Deny})
		default:
			c.reply(ctx, reply)
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
	case askPaths:
		paths, err := desk.Paths(given)
		if err == nil && len(paths) == 0 {
			err = errors.New("no path was named")
		}
		if err != nil {
			c.hint = err.Error() + ". Escape goes back."
			return
		}
		c.reply(ctx, desk.Reply{Choice: desk.AllowOnce, Paths: paths, Calls: a.q.Waiting})
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
	case r.Paths != nil:
		return yes.and(say(plain, "Took that part once."))
	case q.Reply != nil && q.Reply.Grant != "":
		return yes.and(say(plain, "Allowed, "+wordOf(r.Choice)+". 'toolcrib remembered revoke "+q.Reply.Grant+"' ends that."))
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
