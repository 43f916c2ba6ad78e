package chatui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/model"
)

// Watched is what [Watch] shows: the questions of every conversation.
type Watched interface {
	Questions() <-chan desk.Event
	Offers(q *desk.Question) []desk.Offer
	Answer(ctx context.Context, id string, r desk.Reply) (desk.Question, error)
	Dismiss(id string)
	// Line is a question on one row.
	Line(q *desk.Question) string
	// Came hears of each question that is new.
	Came(q *desk.Question)
}

// Watch shows questions as they come, and has each answered with one key, until the
// person leaves or ctx ends. What is not answered stays open.
func Watch(ctx context.Context, t Terminal, w Watched, opt Options) error {
	return run(ctx, t, onlyAsked{Watched: w}, opt)
}

// onlyAsked is a backend without an agent.
type onlyAsked struct{ Watched }

var errNoAgent = errors.New("there is no agent here: 'toolcrib chat' has one")

func (onlyAsked) Turn(context.Context, string, func(agent.Event)) error   { return errNoAgent }
func (onlyAsked) Status() Status                                          { return Status{} }
func (onlyAsked) Choices(context.Context, Kind) ([]Choice, error)         { return nil, errNoAgent }
func (onlyAsked) Choose(context.Context, Kind, string) (string, error)    { return "", errNoAgent }
func (onlyAsked) Tools() []Choice                                         { return nil }
func (onlyAsked) Todos(context.Context) ([]Todo, error)                   { return nil, errNoAgent }
func (onlyAsked) Resume(context.Context, string) ([]model.Message, error) { return nil, errNoAgent }
func (onlyAsked) Branch(context.Context) (string, error)                  { return "", errNoAgent }

// watchKey takes in a key while nothing is asked, or one that means the same whatever
// is asked. handled: it was such a key.
func (c *chat) watchKey(k key) (handled bool) {
	typing := c.ask != nil && c.ask.stage != askKey
	switch {
	case k.name == "ctrl-c", k.name == "ctrl-d", k.text == "q" && !typing && !k.paste:
		c.quit = true
	case k.text == "z" && !typing && !k.paste && c.ask != nil:
		if len(c.questions) == 0 {
			c.hint = "No other question waits. q leaves this one open."
			return true
		}
		put := c.ask.q
		c.ask = nil
		c.note(dim, "  Put off.")
		c.nextQuestion()
		c.questions = append(c.questions, put)
	case c.ask == nil: // there is nothing to be typed
	default:
		return false
	}
	return true
}

// watchRows are the live rows of a watch: the keys of the question, and what waits
// behind it.
func (c *chat) watchRows() (rows []line, at place) {
	if c.last != blockNone {
		rows = append(rows, nil)
	}
	if c.ask == nil {
		rows = append(rows, say(dim, "Nothing waits for an answer. q leaves."))
		return rows, place{len(rows) - 1, 0}
	}
	typed, at := c.askRows()
	at.row += len(rows)
	rows = append(rows, typed...)
	if c.hint != "" {
		rows = append(rows, say(notice, c.hint).wrap(c.wide, nil)...)
	}
	help := "q leaves it open"
	if len(c.questions) > 0 {
		help = "z puts it off" + c.signs.dot + help
	}
	rows = append(rows, say(dim, "  "+help).clip(c.wide))
	w := c.b.(onlyAsked)
	for i := range c.questions {
		if i == max(c.high/4, 1) && len(c.questions) > i+1 {
			rows = append(rows, say(dim, fmt.Sprintf("  %s and %d more", c.signs.more, len(c.questions)-i)))
			break
		}
		rows = append(rows, say(dim, "  next: ").and(exact(dim, strings.ReplaceAll(w.Line(&c.questions[i]), "\n", " "))).clip(c.wide))
	}
	return rows, at
}
