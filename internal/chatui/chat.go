package chatui

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// chat is a conversation as it stands. One goroutine has it.
type chat struct {
	b      Backend
	opt    Options
	signs  signs
	print  []line // to be printed next
	last   block  // what was printed last
	wide   int    // the columns that a row may have
	high   int
	quit   bool
	wipe   bool // the screen is to be cleared
	ed     editor
	hint   string    // said above the prompt until the next key
	again  time.Time // until then a second ctrl-c leaves
	lines  bool      // there are no live rows: what is asked for is typed on lines
	queue  []string  // what was typed while a turn runs
	turn   *turn     // nil: none runs
	failed error     // how the last turn failed

	answer stream
	cards  []*card // of calls that run
	kept   []*card // those that ended, to be looked at again
	seen   int     // how many of them, from the last, were

	questions []desk.Question // not shown yet
	ask       *asking         // the one that is shown; nil: none is

	news chan any      // from the turn that runs
	gone chan struct{} // closed when nobody listens any more
}

// turn is one input that is worked on.
type turn struct {
	began   time.Time
	stage   string
	thought string // the end of what the model thinks aloud
	cancel  context.CancelFunc
	stopped bool // by the person
}

// turnOver is the last of a turn's news.
type turnOver struct{ err error }

// block is what kind of thing was printed, for the gaps between them.
type block uint8

const (
	blockNone block = iota
	blockGap
	blockInput
	blockAnswer
	blockCard
	blockNote
	blockQuestion
)

func newChat(b Backend, opt Options) *chat {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	c := &chat{b: b, opt: opt, wide: 79, high: 24, news: make(chan any, 64), gone: make(chan struct{}), signs: signsFor(false)}
	c.ed.history = append(c.ed.history, opt.History...)
	return c
}

// put prints lines, with a gap before them where another kind of block was printed.
func (c *chat) put(kind block, lines ...line) {
	if c.last != blockNone && c.last != blockGap && c.last != kind {
		c.print = append(c.print, nil)
	}
	c.print = append(c.print, lines...)
	c.last = kind
}

// note says something of our own, wrapped.
func (c *chat) note(st style, given string) {
	for l := range strings.SplitSeq(strings.TrimRight(given, "\n"), "\n") {
		c.put(blockNote, say(st, l).wrap(c.wide, nil)...)
	}
}

// begin greets, and tells what was said before.
func (c *chat) begin() {
	for i, l := range c.opt.Greeting {
		st := dim
		if i == 0 {
			st = bold
		}
		c.put(blockNote, say(st, l).wrap(c.wide, nil)...)
	}
	c.past(c.opt.Past)
}

// start says something to the agent.
func (c *chat) start(ctx context.Context, input string) {
	ctx, cancel := context.WithCancel(ctx)
	c.turn = &turn{began: c.opt.Now(), stage: "thinking", cancel: cancel}
	c.failed = nil
	go func() {
		defer cancel()
		err := c.b.Turn(ctx, input, func(e agent.Event) { c.tell(e) })
		c.tell(turnOver{err})
	}()
}

// tell hands news to the goroutine that has the chat.
func (c *chat) tell(what any) {
	select {
	case c.news <- what:
	case <-c.gone:
	}
}

// hear takes in news of the turn.
func (c *chat) hear(ctx context.Context, what any) {
	switch e := what.(type) {
	case agent.Event:
		c.event(ctx, e)
	case turnOver:
		c.over(ctx, e.err)
	}
}

func (c *chat) event(ctx context.Context, e agent.Event) {
	if e.Depth > 0 && e.Kind != agent.Call && e.Kind != agent.CallResult {
		return // what a delegate says, it says to the agent
	}
	switch e.Kind {
	case agent.Content:
		c.setStage("answering", "")
		if rows := c.answer.add(e.Text, c.wide); len(rows) > 0 {
			c.put(blockAnswer, rows...)
		}
	case agent.Call:
		c.endAnswer()
		c.setStage("working", "")
		c.cards = append(c.cards, newCard(e, c.opt.Now()))
	case agent.CallResult:
		c.endAnswer()
		c.result(ctx, e)
	case agent.Stage:
		c.staged(e)
	case agent.Failed:
		c.endAnswer()
		if e.Text != "" && c.turn != nil && !c.turn.stopped {
			c.failed = errors.New(e.Text)
		}
	}
}

func (c *chat) staged(e agent.Event) {
	switch e.Text {
	case agent.Thinking:
		if c.turn != nil {
			c.setStage("thinking", text.Tail(c.turn.thought+e.Thought, thoughtMost))
		}
	case agent.InModel:
		c.setStage("thinking", "")
	case agent.Context:
		c.setStage("making room in the context", "")
	case "":
	default:
		c.setStage(e.Text, "")
	}
}

// thoughtMost is how much of what the model thinks aloud is kept, for one row.
const thoughtMost = 400

func (c *chat) setStage(stage, thought string) {
	if c.turn != nil {
		c.turn.stage, c.turn.thought = stage, thought
	}
}

// endAnswer prints the row of the answer that is still being written.
func (c *chat) endAnswer() {
	if rows := c.answer.end(c.wide); len(rows) > 0 {
		c.put(blockAnswer, rows...)
	}
}

// over takes in that a turn has ended.
func (c *chat) over(ctx context.Context, err error) {
	c.endAnswer()
	for _, k := range c.cards { // of calls that nobody told the end of
		k.state, k.end = cardStopped, c.opt.Now()
		c.keep(k)
	}
	c.cards = nil
	stopped := c.turn != nil && c.turn.stopped
	c.turn = nil
	switch {
	case stopped:
		c.note(notice, c.signs.stop+" Stopped. What was said so far is kept; go on whenever you like.")
	case err != nil:
		c.failed = err
		c.note(bad, c.signs.fail+" "+err.Error())
	case c.failed != nil:
		c.note(bad, c.signs.fail+" "+c.failed.Error())
	}
	if stopped {
		c.queue = nil
	}
	if len(c.queue) > 0 && !c.quit {
		next := c.queue[0]
		c.queue = c.queue[1:]
		c.input(ctx, next)
	}
}

// stop ends the turn. A question that waits is refused: nobody is left to use the answer.
func (c *chat) stop(ctx context.Context) {
	if c.turn == nil || c.turn.stopped {
		return
	}
	c.turn.stopped = true
	if c.ask != nil {
		c.reply(ctx, desk.Reply{Choice: desk.Deny, Message: "the person stopped the turn"})
	}
	c.turn.cancel()
}

// submit takes what was typed: a command, or something for the agent.
func (c *chat) submit(ctx context.Context, given string) {
	if strings.TrimSpace(given) == "" {
		return
	}
	if c.ed.remember(given) && c.opt.Remember != nil {
		c.opt.Remember(given)
	}
	if name, rest, ok := slash(given); ok {
		c.command(ctx, name, rest)
		return
	}
	if c.turn != nil {
		c.queue = append(c.queue, given)
		return
	}
	c.input(ctx, given)
}

// input shows what was said to the agent, and has it work.
func (c *chat) input(ctx context.Context, given string) {
	if !c.lines {
		c.echo(given)
	}
	c.start(ctx, given)
}

// finish leaves: the turn that runs is stopped, and waited for, so that its end is kept.
func (c *chat) finish(ctx context.Context, patience time.Duration) {
	if c.turn != nil {
		c.stop(ctx)
		late := time.NewTimer(patience)
		defer late.Stop()
		for c.turn != nil {
			select {
			case n := <-c.news:
				c.hear(ctx, n)
			case <-late.C:
				c.turn = nil
			}
		}
	}
	if c.ask != nil {
		c.b.Dismiss(c.ask.q.ID)
		c.ask = nil
	}
}

// readAll sends what is read, until there is no more; then the channel is closed.
func readAll(in io.Reader, gone <-chan struct{}) <-chan []byte {
	out := make(chan []byte)
	go func() {
		defer close(out)
		buffer := make([]byte, 4096)
		for {
			n, err := in.Read(buffer)
			if n > 0 {
				select {
				case out <- append([]byte(nil), buffer[:n]...):
				case <-gone:
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}
