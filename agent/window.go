package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/find"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// window is what of a conversation the model gets. It goes by estimates, and by what
// the service said it counted.
type window struct {
	room int // tokens for messages; 0: not known
	sent int // the estimate of what was sent last, as it is
	// scale is by how much the service counts more than the estimate.
	scale float64
	// instructions is how many tokens the instructions have; 0: not counted yet.
	instructions int
	besides      int // tokens of the system text and the tools

	// render puts a message into the form that the model reads. Nil: it is in form.
	render func(model.Message) model.Message

	shown                 []model.Message // as it was sent last
	upTo, summed, shorted int             // what shown was made of
}

const (
	imageTokens   = 1600
	messageTokens = 6        // around a message
	exactText     = 16 << 10 // up to here a text is counted, then reckoned up
	shortResult   = 400      // bytes of a result that is not worth shortening
	longestResult = 100_000
)

// contextLimit is how many tokens a request may have.
func (r *run) contextLimit() int {
	limit := r.traits.Context
	if own := r.agent.Context; own > 0 && (limit == 0 || own < limit) {
		limit = own
	}
	return limit
}

// longest is how many bytes of one result the model gets.
func (w *window) longest() int {
	if w.room == 0 {
		return longestResult
	}
	return min(max(w.room, 2000), longestResult) // a quarter of the room, at four bytes a token
}

// textTokens estimates a text; of a long one only the beginning is counted.
func textTokens(s string) int {
	if len(s) <= exactText {
		return find.Tokens(s)
	}
	return find.Tokens(s[:exactText]) * (len(s) / 1024) / (exactText / 1024)
}

func sizeOf(m *model.Message) int {
	n := messageTokens
	for i := range m.Parts {
		if len(m.Parts[i].Data) > 0 {
			n += imageTokens
		}
		n += textTokens(m.Parts[i].Text)
	}
	for i := range m.Calls {
		n += messageTokens + textTokens(m.Calls[i].Name) + textTokens(string(m.Calls[i].Arguments))
	}
	return max(n, len(m.Own)/6)
}

// measure estimates what is new.
func (c *Conversation) measure() {
	if len(c.sizes) > len(c.Messages) { // somebody has taken messages away
		c.sizes = nil
	}
	for i := len(c.sizes); i < len(c.Messages); i++ {
		c.sizes = append(c.sizes, sizeOf(&c.Messages[i]))
	}
}

// size is the estimate of messages from one index on, as they would be sent.
func (c *Conversation) size(from int) int {
	n := 0
	for i := from; i < len(c.Messages); i++ {
		n += c.sizeAt(i)
	}
	return n
}

func (c *Conversation) sizeAt(i int) int {
	if i < c.Shortened && c.Messages[i].Role == model.Tool {
		return min(c.sizes[i], shortResult/3)
	}
	return c.sizes[i]
}

func (w *window) scaled(n int) int {
	if w.scale == 0 {
		return n
	}
	return int(float64(n) * w.scale)
}

// measured learns from what the service counted.
func (w *window) measured(u model.Usage) {
	const enough = 2000 // less says nothing about the whole
	if u.Input >= enough && w.sent > 0 {
		w.scale = min(max(float64(u.Input)/float64(w.sent+w.besides), 0.5), 3)
	}
}

// fit makes the conversation fit before it is sent.
func (r *run) fit(ctx context.Context, besides int) error {
	w := &r.window
	r.c.measure()
	if w.instructions == 0 {
		w.instructions = textTokens(r.agent.Instructions)
	}
	w.besides = w.instructions + besides
	needed, limit := r.needed(), r.contextLimit()
	if limit == 0 {
		return nil
	}
	answer := limit / 4 // room for the answer
	for _, n := range []int{r.agent.MaxTokens, r.traits.Output} {
		if n > 0 {
			answer = min(answer, n)
		}
	}
	w.room = max(limit-answer-w.scaled(w.besides), limit/8)
	if needed <= w.room*9/10 {
		return nil
	}
	return r.compact(ctx, w.room*6/10)
}

// needed is the estimate of all that would be sent.
func (r *run) needed() int {
	r.window.sent = r.c.size(r.c.Summarised) + textTokens(r.c.Summary)
	return r.window.scaled(r.window.sent)
}

// compact makes the conversation fit into so many tokens, as far as that can be: first
// old results become one line each, then old turns are summarised, and if that is not
// enough the newest results become short too.
func (r *run) compact(ctx context.Context, target int) error {
	r.emit(Event{Kind: Stage, Text: Context})
	c, w := r.c, &r.window
	if at := r.tail(target / 2); at > c.Shortened {
		c.Shortened = at
	}
	if r.needed() <= target {
		return nil
	}
	if at := r.tail(target / 2); at > c.Summarised {
		if err := r.summarise(ctx, at); err != nil {
			return err
		}
	}
	if r.needed() > target {
		if last := r.tail(0); last > c.Summarised && w.scaled(c.size(last)) < target {
			if err := r.summarise(ctx, last); err != nil {
				return err
			}
		}
	}
	if r.needed() > target {
		c.Shortened = len(c.Messages) // results only: what people and the model said stays
	}
	return nil
}

// tail finds where the newest messages begin that take so many tokens together. It
// never begins with a result, and the last turn always belongs to it.
func (r *run) tail(tokens int) int {
	c, w := r.c, &r.window
	at, sum := len(c.Messages), 0
	best := -1
	for at > c.Summarised {
		at--
		sum += w.scaled(c.sizeAt(at))
		if best >= 0 && sum > tokens {
			break
		}
		if c.Messages[at].Role != model.Tool {
			best = at
		}
	}
	return max(best, c.Summarised)
}

// view is what the model is sent of the conversation.
func (r *run) view() []model.Message {
	c, w := r.c, &r.window
	if c.Summarised == 0 && c.Shortened == 0 && w.render == nil {
		return slices.Clip(c.Messages)
	}
	if w.summed != c.Summarised || w.shorted != c.Shortened || w.upTo < c.Summarised || w.shown == nil {
		w.shown, w.upTo, w.summed, w.shorted = nil, c.Summarised, c.Summarised, c.Shortened
		w.shown = make([]model.Message, 0, len(c.Messages)-c.Summarised+8)
		if c.Summary != "" {
			w.shown = append(w.shown, model.Text(model.User, c.Summary))
		}
	}
	for ; w.upTo < len(c.Messages); w.upTo++ {
		m := c.Messages[w.upTo]
		if w.upTo < c.Shortened && m.Role == model.Tool {
			m = shortened(m)
		}
		if w.render != nil {
			m = w.render(m)
		}
		w.shown = append(w.shown, m)
	}
	return slices.Clip(w.shown)
}

// shortened is the line that stands for an old result.
func shortened(m model.Message) model.Message {
	said, images := "", 0
	for _, p := range m.Parts {
		said += p.Text
		if len(p.Data) > 0 {
			images++
		}
	}
	if len(said) <= shortResult && images == 0 {
		return m
	}
	line := text.Clip(strings.Join(strings.Fields(text.Head(said, 4*shortResult)), " "), shortResult/2)
	if images > 0 {
		line += fmt.Sprintf(" [images: %d]", images)
	}
	line = strings.Join(append([]string{line}, pointers(said)...), " ")
	m.Parts = []model.Part{{Text: fmt.Sprintf("[old result of %d bytes, shortened; call the tool again if you need it] %s", len(said), line)}}
	return m
}
