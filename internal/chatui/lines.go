package chatui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Lines holds a conversation line by line, where there is no terminal or one that can do
// nothing: each line is an input, and one that ends in \ goes on in the next. Prompts
// and questions are written only if a person sits there. It gives the error of the last
// turn.
func Lines(ctx context.Context, in io.Reader, out io.Writer, person bool, b Backend, opt Options) error {
	c := newChat(b, opt)
	c.lines, c.signs = true, signsFor(true)
	c.wide = 1 << 20
	l := &lineLoop{chat: c, screen: &screen{out: out}, person: person}
	if person {
		c.begin()
	} else {
		c.past(opt.Past)
	}
	l.run(ctx, typedLines(in, c.gone, c.opt.Now))
	c.finish(context.WithoutCancel(ctx), leaveAfter)
	close(c.gone)
	l.flush()
	if l.screen.err != nil {
		return l.screen.err
	}
	return c.failed
}

type lineLoop struct {
	*chat
	screen *screen
	person bool
	begun  string // an input whose last line ended in \
	ended  bool   // there are no more lines
	waits  bool   // the prompt stands there
	// shown is the question that lines answer; another one first has to wait until
	// the lines that were typed before it have been read.
	shown, settling *asking
	settled         <-chan time.Time
}

// settleIn is how long the lines that were typed before a question have to be read. It
// passes before the question's prompt is shown, so that nobody who waits for the prompt
// is too early.
const settleIn = 200 * time.Millisecond

// run takes lines while nothing runs, and what happens while something does.
func (l *lineLoop) run(ctx context.Context, typed <-chan typedLine) {
	questions := l.b.Questions()
	for !l.quit && l.screen.err == nil {
		l.flush()
		lines := typed
		if l.ended || l.turn != nil && l.ask == nil {
			lines = nil
		}
		if l.ended && l.turn == nil {
			return
		}
		if l.ask != l.settling {
			l.settling, l.settled = l.ask, nil
			if l.ask != nil {
				l.settled = time.After(settleIn)
			}
		}
		if lines != nil && !l.waits && l.shown == l.ask {
			l.prompt()
			l.waits = true
		}
		select {
		case <-ctx.Done():
			return
		case n := <-l.news:
			l.hear(ctx, n)
		case e, ok := <-questions:
			if !ok {
				questions = nil
				break
			}
			l.asked(ctx, e)
			l.dismissIfEnded()
		case <-l.settled:
			l.shown, l.settled, l.ask.since = l.ask, nil, l.opt.Now()
		case given, ok := <-lines:
			if !ok {
				l.ended = true
				l.dismissIfEnded()
				break
			}
			l.waits = false
			l.take(ctx, given)
		}
	}
}

// dismissIfEnded leaves the questions unanswered that nobody can answer any more: those
// that wait when the input ends, and those that come later. Their calls are refused, and
// the turn goes on without them.
func (l *lineLoop) dismissIfEnded() {
	for l.ended && l.ask != nil {
		l.b.Dismiss(l.ask.q.ID)
		l.ask = nil
		l.nextQuestion()
	}
}

// take takes a line.
func (l *lineLoop) take(ctx context.Context, typed typedLine) {
	given := typed.text
	if l.ask != nil {
		if l.shown != l.ask || typed.at.Before(l.ask.since) { // who typed it had not seen the question
			l.note(notice, fmt.Sprintf("%q was typed before the question came, and is no answer to it.", text.Clip(given, 40)))
			return
		}
		l.answerLine(ctx, given)
		return
	}
	if head, ok := strings.CutSuffix(given, `\`); ok {
		l.begun += head + "\n"
		return
	}
	given, l.begun = l.begun+given, ""
	l.submit(ctx, given)
}

// prompt asks for the next line.
func (l *lineLoop) prompt() {
	switch {
	case !l.person:
	case l.ask == nil && l.begun != "":
		l.screen.send("... ")
	case l.ask == nil:
		l.screen.send("> ")
	case l.ask.stage == askText:
		l.screen.send("answer (empty: none)> ")
	case l.ask.stage == askMessage:
		l.screen.send("to the model> ")
	case l.ask.stage == askArguments:
		l.screen.send("arguments, as JSON on one line> ")
	default:
		var keys []string
		for _, o := range l.ask.offers {
			keys = append(keys, keyOf(o.Choice)+" "+wordOf(o.Choice))
		}
		l.screen.send("[" + strings.Join(append(keys, "m no, because...", "d details"), ", ") + "]> ")
	}
}

// answerLine takes a line as the answer to a question.
func (l *lineLoop) answerLine(ctx context.Context, given string) {
	given = strings.TrimSpace(given)
	if l.ask.stage != askKey {
		l.typed(ctx, given)
		l.sayHint()
		return
	}
	l.ask.armed = l.opt.Now() // a whole line is no slip of a finger
	if word := strings.ToLower(given); word == "" || word == "yes" || word == "no" {
		given = map[string]string{"": "n", "yes": "y", "no": "n"}[word]
	}
	if !slices.Contains([]string{"d", "m"}, given) && !slices.ContainsFunc(l.ask.offers, func(o desk.Offer) bool { return keyOf(o.Choice) == strings.ToLower(given) }) {
		l.note(notice, fmt.Sprintf("%q is not one of the answers.", given))
		return
	}
	l.pressed(ctx, key{text: given})
	if l.ask != nil && l.ask.stage == askArguments {
		l.ask.ed.set("")
	}
	l.sayHint()
}

func (l *lineLoop) sayHint() {
	if l.hint != "" {
		l.note(notice, l.hint)
		l.hint = ""
	}
}

// flush writes what is to be printed.
func (l *lineLoop) flush() {
	var b strings.Builder
	for _, row := range l.print {
		b.WriteString(l.screen.write(row) + "\n")
	}
	l.print = nil
	if b.Len() > 0 {
		if l.waits && l.person {
			l.screen.send("\n")
		}
		l.waits = false
		l.screen.send(b.String())
	}
}

// typedLine is a line, and when it was typed.
type typedLine struct {
	text string
	at   time.Time
}

// aheadMost is how many lines may be typed before they are taken. They are read at once,
// so that it is known which were there before a question was.
const aheadMost = 1024

// typedLines reads lines; the channel is closed at the end.
func typedLines(in io.Reader, gone <-chan struct{}, now func() time.Time) <-chan typedLine {
	out := make(chan typedLine, aheadMost)
	go func() {
		defer close(out)
		r := bufio.NewReader(in)
		for {
			given, err := r.ReadString('\n')
			if given = strings.TrimRight(given, "\r\n"); given != "" || err == nil {
				select {
				case out <- typedLine{given, now()}:
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
