package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// attend makes this terminal a screen of the desk, if a person is there: from
// then on what the crib asks is asked here. A pipe is nobody. stop ends it.
func (c *command) attend(ctx context.Context, d *desk.Desk, sees func(desk.Question) bool) (stop func(), err error) {
	in, ok := c.in.(*os.File)
	if !ok || !c.attended() {
		return func() {}, nil
	}
	if c.asking == nil {
		c.asking = new(atomic.Bool)
	}
	p := &atTerminal{
		desk: d, sees: sees, asked: c.asking, in: bufio.NewReader(in), out: c.err, by: subject(), look: c.look(c.err), calm: calmDown,
		unread: func() { unread(in) }, edit: func(text []byte) ([]byte, error) { return c.editor(ctx, in, "arguments.json", text) },
	}
	events, end, err := d.Watch(ctx, desk.Screen{Name: "terminal", Sees: sees})
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run(ctx, events)
	}()
	return func() {
		end()
		select { // what it has to say is said before the result
		case <-done:
		case <-time.After(time.Second):
		}
	}, nil
}

// attendCall is attend for one call and for what its tool calls.
func (c *command) attendCall(ctx context.Context, d *desk.Desk, call *toolcrib.Call) (stop func(), err error) {
	start := time.Now()
	if call.ID == "" {
		call.ID = callid.New(start)
	}
	if parent := os.Getppid(); call.Caller.Session == "" && parent > 1 && terminal(c.err) {
		call.Caller.Session = fmt.Sprintf("shell-%d", parent) // "for this session" is for this shell
	}
	return c.attend(ctx, d, questionsOf(call.ID, call.Caller.Session, start))
}

// questionsOf are those about a call and about what its tool calls, which has other IDs
// and the same session. What was asked there before is left alone, unless a call waits
// for it again.
func questionsOf(call, session string, start time.Time) func(desk.Question) bool {
	return func(q desk.Question) bool {
		return q.Call == call || session != "" && q.Caller.Session == session && q.Current(start)
	}
}

// atTerminal is a person who reads questions and types answers, one at a time.
type atTerminal struct {
	desk   *desk.Desk
	sees   func(desk.Question) bool // nil: all
	in     *bufio.Reader
	out    io.Writer
	by     string
	look   look
	calm   time.Duration                           // how long what takes another's place has to be seen
	unread func()                                  // drops what was typed before; nil: nothing was
	edit   func(text []byte) (now []byte, e error) // has the person change a text; errNoEditor: there is none

	asked *atomic.Bool // whether a question is shown; nil: nobody wants to know

	queue   []desk.Question // not shown yet
	current *desk.Question  // shown, and not answered
	left    int             // lines of what it would do that are not shown yet
	shown   time.Time       // since when it is
	counts  time.Time       // from when on a line is an answer to it
	stage   stage
	lines   chan typed // what was typed; nil: nobody reads
	reading bool
}

// calmDown is how long a question has to be on the screen that took the place of another
// which nobody answered here.
const calmDown = 400 * time.Millisecond

// stage is what the next line means.
type stage uint8

const (
	stageAnswer stage = iota
	stageMessage
	stageArguments
	stagePaths
)

type typed struct {
	text string
	err  error
	at   time.Time
}

// run shows questions until there are no more events.
func (p *atTerminal) run(ctx context.Context, events <-chan desk.Event) {
	if p.lines == nil {
		p.lines = make(chan typed, 1)
	}
	for {
		if p.asked != nil && p.current == nil {
			p.asked.Store(false)
		}
		if p.current == nil && len(p.queue) > 0 {
			q := p.queue[0]
			p.queue, p.current = p.queue[1:], &q
			p.show(ctx)
		}
		var lines chan typed
		if p.current != nil {
			lines = p.lines
		}
		select {
		case ev, ok := <-events:
			if !ok {
				return
			}
			if ev.Missed > 0 {
				p.catchUp(ctx)
			}
			p.hear(ev.Question)
		case line := <-lines:
			p.reading = false
			switch {
			case line.err == nil && line.at.Before(p.shown): // meant for one that was settled elsewhere
				p.read(ctx)
			case line.err == nil && line.at.Before(p.counts):
				p.say(p.look.note("This is another question than the one before. Look at it, and answer again."))
				p.prompt(ctx)
			default:
				p.typed(ctx, line)
			}
		}
	}
}

// hear takes in what became of a question.
func (p *atTerminal) hear(q desk.Question) {
	at := -1
	for i := range p.queue {
		if p.queue[i].ID == q.ID {
			at = i
		}
	}
	switch {
	case q.State == desk.Open && at < 0 && (p.current == nil || p.current.ID != q.ID):
		p.queue = append(p.queue, q)
	case q.State == desk.Open && at >= 0:
		p.queue[at] = q
	case q.State != desk.Open && at >= 0:
		p.queue = append(p.queue[:at], p.queue[at+1:]...)
	case q.State != desk.Open && p.current != nil && p.current.ID == q.ID:
		p.say("\n" + p.look.note(settledText(&q)))
		p.current = nil
	}
}

// catchUp reads again what is open, where events were lost.
func (p *atTerminal) catchUp(ctx context.Context) {
	open, err := p.desk.Questions(ctx, desk.Filter{State: desk.Open})
	if err != nil {
		p.say(p.look.note("the questions cannot be read: " + err.Error()))
		return
	}
	for _, q := range open {
		if p.sees == nil || p.sees(q) {
			p.hear(q)
		}
	}
}

// settledText says how a question ended that somebody else answered.
func settledText(q *desk.Question) string {
	switch {
	case q.State == desk.Expired:
		return "Nobody answered in time."
	case q.State == desk.Replaced:
		return "What it would do has changed, so that this is asked again."
	case q.Reply != nil:
		return fmt.Sprintf("Answered by %s on another screen: %s.", text.ShowExact(q.Reply.By), q.Reply.Choice)
	}
	return "It was answered on another screen."
}

// show puts the current question before the person.
func (p *atTerminal) show(ctx context.Context) {
	p.stage = stageAnswer
	if p.asked != nil {
		p.asked.Store(true)
		p.say("\r\x1b[K") // a line of progress
	}
	page, left := p.look.brief(p.desk, p.current)
	p.left = left
	p.say("\n" + page)
	p.shown = time.Now()
	p.counts = p.shown
	if p.reading { // another was on the screen, and a finger may be on its way
		p.counts = p.shown.Add(p.calm)
	}
	p.prompt(ctx)
}

// prompt asks for the next line.
func (p *atTerminal) prompt(ctx context.Context) {
	switch {
	case p.stage == stageMessage:
		p.say("Message to the model: ")
	case p.stage == stageArguments:
		p.say("The arguments, as JSON on one line (empty: back): ")
	case p.stage == stagePaths:
		p.say("The paths to take, with blanks between them (empty: back): ")
	case p.current.Text != "":
		own := ""
		if len(p.current.Options) > 0 {
			own = "its number, or your own words; "
		}
		p.say("Answer (" + own + "empty: none): ")
	default:
		p.say(p.look.strong("Answer") + " [" + strings.Join(append(keys(p.current, p.desk.Offers(p.current)), "?"), "/") + "], Enter denies: ")
	}
	if p.unread != nil && p.stage == stageAnswer {
		p.unread()
		if !p.reading {
			p.in.Discard(p.in.Buffered()) //nolint:errcheck // it has as much
		}
	}
	p.read(ctx)
}

// read waits for the next line.
func (p *atTerminal) read(ctx context.Context) {
	if p.reading || ctx.Err() != nil {
		return // whoever reads already gets the line
	}
	p.reading = true
	go func() {
		line, err := p.in.ReadString('\n')
		if errors.Is(err, io.EOF) && line != "" {
			err = nil
		}
		p.lines <- typed{strings.TrimSpace(line), err, time.Now()}
	}()
}

// typed takes a line as the answer.
func (p *atTerminal) typed(ctx context.Context, line typed) {
	if line.err != nil { // the person has hung up, and answers nothing
		p.say("\n" + p.look.note("No answer. Question "+p.current.ID+" stays open; answer it with 'toolcrib approvals allow "+p.current.ID+"' or 'deny'."))
		p.desk.Dismiss(p.current.ID, "")
		p.current = nil
		return
	}
	if p.stage == stageAnswer && p.current.Text == "" && (line.text == "?" || line.text == "h" || line.text == "help") {
		p.left = 0
		p.say(p.look.question(p.current) + p.look.offers(p.desk, p.current))
		p.prompt(ctx)
		return
	}
	if p.left > 0 && p.allows(line.text) {
		p.say(p.look.note("There is more than is shown: ? shows all of it first."))
		p.prompt(ctx)
		return
	}
	reply, next, err := p.understand(line.text)
	if err != nil {
		p.say(p.look.note(err.Error()))
	}
	if next != stageAnswer || err != nil {
		p.stage = next
		p.prompt(ctx)
		return
	}
	q, err := p.desk.Answer(ctx, p.current.ID, reply, p.by)
	switch {
	case errors.Is(err, desk.ErrBadReply):
		p.say(p.look.note(err.Error()))
		p.stage = stageAnswer
		p.prompt(ctx)
		return
	case errors.Is(err, desk.ErrAnswered) || errors.Is(err, desk.ErrExpired) || errors.Is(err, desk.ErrReplaced):
		p.say(p.look.note("Too late. " + settledText(&q)))
	case err != nil:
		p.say(p.look.note("The answer could not be kept: " + err.Error()))
		p.desk.Dismiss(p.current.ID, "")
	default:
		p.say(p.look.note(answeredText(&q)))
	}
	p.current = nil
}

// say writes to the terminal. If that fails nobody reads it, and the question
// is not answered here either.
func (p *atTerminal) say(text string) { _, _ = io.WriteString(p.out, text) }
