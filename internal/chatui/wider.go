package chatui

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/desk"
)

// widerOffer is an answer that is remembered for more than the arguments that are shown.
type widerOffer struct {
	reply desk.Reply
	text  string
}

// wider lists such answers, the shortest lasting first. Nine have a key.
func (a *asking) wider() (list []widerOffer) {
	for _, o := range a.offers {
		for _, w := range o.Wider {
			if len(list) < 9 {
				list = append(list, widerOffer{desk.Reply{Choice: o.Choice, By: w.By, Calls: a.q.Waiting}, w.Text})
			}
		}
	}
	return list
}

// widerRows lists them with their keys.
func (c *chat) widerRows() (rows []line, at place) {
	in := line{{plain, "  "}}
	for i, w := range c.ask.wider() {
		rows = append(rows, in.and(say(title, fmt.Sprint(i+1)), exact(plain, " "+w.text)).wrap(c.wide, line{{plain, "    "}})...)
	}
	rows = append(rows, in.and(say(dim, "any other key goes back")))
	return rows, place{len(rows) - 1, 2}
}

// chooseWider takes in a key while they are listed.
func (c *chat) chooseWider(ctx context.Context, k key) {
	a := c.ask
	a.stage = askKey
	for i, w := range a.wider() {
		if k.name != "" || k.paste || k.text != fmt.Sprint(i+1) {
			continue
		}
		if c.mayAllow(k) {
			c.reply(ctx, w.reply)
		}
		return
	}
}

// mayAllow reports whether a key that allows something counts, and says why not.
func (c *chat) mayAllow(k key) bool {
	switch a := c.ask; {
	case k.among: // more of it may be on its way
		c.hint = "Several keys came at once, as from a paste. Press the one that you mean by itself."
		a.armed = c.opt.Now().Add(calmDown)
	case a.left > 0:
		c.hint = "There is more than is shown: d shows all of it first."
	default:
		return true
	}
	return false
}
