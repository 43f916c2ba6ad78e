package chatui

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Run holds a conversation in a terminal until the person leaves, or ctx ends.
func Run(ctx context.Context, t Terminal, b Backend, opt Options) error { return run(ctx, t, b, opt) }

func run(ctx context.Context, t Terminal, b Backend, opt Options) error {
	c := newChat(b, opt)
	c.signs = signsFor(t.ASCII)
	s := &screen{out: t.Out, colour: t.Colour}
	s.columns, s.rows = t.Size()
	l := &loop{chat: c, screen: s, t: t}
	l.sized()
	c.begin()
	s.send(pasteOn)
	err := l.run(ctx)
	c.finish(context.WithoutCancel(ctx), leaveAfter)
	close(c.gone)
	s.paint(c.print, nil, place{})
	s.send("\r" + eraseDown + pasteOff)
	if s.err != nil && err == nil && ctx.Err() == nil {
		err = s.err
	}
	return err
}

const (
	leaveAfter = 5 * time.Second       // so long a turn may take to end
	frame      = 15 * time.Millisecond // the screen is painted no more often
	escapeWait = 80 * time.Millisecond // so long a sequence may take to come
	againWait  = 2 * time.Second       // so long a second ctrl-c leaves
)

// loop is what Run does.
type loop struct {
	*chat
	screen  *screen
	t       Terminal
	keys    keyReader
	painted time.Time
	timer   *time.Timer
}

// run takes in what happens and paints, until the person leaves.
func (l *loop) run(ctx context.Context) error {
	bytes := readAll(l.t.In, l.gone)
	questions := l.b.Questions()
	l.timer = time.NewTimer(time.Hour)
	defer l.timer.Stop()
	var escape <-chan time.Time
	dirty := true
	for !l.quit && l.screen.err == nil {
		if dirty && time.Since(l.painted) >= frame {
			l.paint()
			dirty = false
		}
		l.timer.Reset(l.wait(dirty))
		select {
		case <-ctx.Done():
			return nil
		case p, ok := <-bytes:
			if !ok {
				return nil // the terminal is gone
			}
			l.press(ctx, l.keys.read(p))
			escape = nil
			if l.keys.waiting() {
				escape = time.After(escapeWait)
			}
		case <-escape:
			l.press(ctx, l.keys.flush())
			escape = nil
		case n := <-l.news:
			l.hear(ctx, n)
		case e, ok := <-questions:
			if !ok {
				questions = nil
				break
			}
			l.asked(ctx, e)
		case n := <-l.opt.Notes:
			l.note(notice, n)
		case <-l.t.Resized:
			l.sized()
		case <-l.timer.C:
		}
		dirty = true
	}
	return nil
}

// wait is how long until something has to be painted though nothing happens.
func (l *loop) wait(dirty bool) time.Duration {
	switch {
	case dirty:
		return frame
	case l.ask != nil && l.opt.Now().Before(l.ask.armed):
		return l.ask.armed.Sub(l.opt.Now()) + time.Millisecond
	case l.turn != nil || !l.again.IsZero():
		return time.Second
	}
	return time.Hour
}

func (l *loop) sized() {
	columns, rows := l.t.Size()
	if columns <= 0 {
		columns = 80
	}
	if rows <= 0 {
		rows = 24
	}
	l.screen.resize(columns, rows)
	// The last column stays free: what a terminal does after it differs.
	l.wide, l.high = max(columns-1, 10), rows
}

func (l *loop) press(ctx context.Context, keys []key) {
	for _, k := range keys {
		k.among = len(keys) > 1
		if l.ask == nil || k.name != "" || k.paste {
			l.key(ctx, k)
			continue
		}
		k.among = k.among || utf8.RuneCountInString(k.text) > 1
		for _, r := range k.text { // each means something by itself
			l.key(ctx, key{text: string(r), among: k.among})
		}
	}
}

// key takes in one key.
func (l *loop) key(ctx context.Context, k key) {
	c := l.chat
	c.hint = ""
	if _, watch := c.b.(onlyAsked); watch && c.watchKey(k) {
		return
	}
	if k.name != "ctrl-c" {
		c.again = time.Time{}
	}
	switch k.name {
	case "ctrl-c":
		c.interrupt(ctx)
		return
	case "ctrl-d":
		if c.ed.empty() || c.ask != nil {
			c.quit = true
			return
		}
		k.name = keyDelete
	case "ctrl-l":
		l.clear()
		return
	case "ctrl-o":
		c.expand()
		return
	}
	if c.ask != nil {
		c.pressed(ctx, k)
		return
	}
	switch k.name {
	case keyEnter:
		if c.ed.at > 0 && c.ed.text[c.ed.at-1] == '\\' {
			c.ed.remove(c.ed.at-1, c.ed.at)
			c.ed.insert("\n")
			return
		}
		c.submit(ctx, c.ed.take())
		if c.wipe {
			c.wipe = false
			l.clear()
		}
	case keyTab:
		c.complete(ctx)
	case keyEscape:
	default:
		c.ed.press(k)
	}
}

// clear empties the screen. What stood there is scrolled out, and not lost.
func (l *loop) clear() {
	l.screen.paint(l.print, nil, place{})
	l.print = nil
	l.screen.send(strings.Repeat("\r\n", l.high) + "\x1b[H" + eraseDown)
	l.screen.live, l.screen.at, l.last = nil, place{}, blockNone
}

// interrupt is ctrl-c: it stops the turn, or drops what was typed; twice it leaves.
func (c *chat) interrupt(ctx context.Context) {
	now := c.opt.Now()
	switch {
	case c.turn != nil && !c.turn.stopped:
		c.stop(ctx)
		c.again = now.Add(againWait)
	case now.Before(c.again):
		c.quit = true
	default:
		c.ed.take()
		c.again = now.Add(againWait)
		c.hint = "ctrl-c again leaves"
	}
}

// paint brings the screen up to date.
func (l *loop) paint() {
	if !l.again.IsZero() && l.opt.Now().After(l.again) {
		l.again = time.Time{}
		if l.hint == "ctrl-c again leaves" {
			l.hint = ""
		}
	}
	rows, at := l.rows()
	l.screen.paint(l.print, rows, at)
	l.print = nil
	l.painted = time.Now()
}

// rows are the live rows: what is being said and done, the prompt, and the status.
func (c *chat) rows() (rows []line, at place) {
	if _, watch := c.b.(onlyAsked); watch {
		return c.watchRows()
	}
	if c.last != blockNone && c.last != blockAnswer && c.answer.source != "" {
		rows = append(rows, nil)
	}
	rows = append(rows, c.answer.live(c.wide)...)
	cards := c.cards
	if c.ask != nil { // what is asked stands right above the keys
		cards = nil
	}
	if len(cards) > 0 && (c.answer.source != "" || c.last != blockCard && c.last != blockNone) {
		rows = append(rows, nil)
	}
	for i, k := range cards {
		if most := max(c.high/3, 2); i == most && len(cards) > most+1 {
			rows = append(rows, say(dim, fmt.Sprintf("%s and %d more", c.signs.more, len(cards)-most)))
			break
		}
		rows = append(rows, k.head(c, c.wide).clip(c.wide))
	}
	if len(rows) > 0 || c.last != blockNone {
		rows = append(rows, nil)
	}
	if c.ask == nil {
		rows = append(rows, c.activity()...)
	}
	var typed []line
	if c.ask != nil {
		typed, at = c.askRows()
	} else {
		typed, at = c.ed.rows(line{{title, c.signs.prompt}}, c.wide)
		typed, at = window(typed, at, max(c.high/2, 3))
	}
	at.row += len(rows)
	rows = append(rows, typed...)
	if c.hint != "" {
		rows = append(rows, say(notice, c.hint).wrap(c.wide, nil)...)
	}
	if c.ask == nil {
		rows = append(rows, c.offersRows()...)
	}
	return append(rows, c.statusRow()), at
}

// window keeps the rows around the cursor of a long text.
func window(rows []line, at place, most int) ([]line, place) {
	if len(rows) <= most {
		return rows, at
	}
	from := min(max(at.row-most/2, 0), len(rows)-most)
	at.row -= from
	return rows[from : from+most], at
}

// activity says that a turn runs, and what was typed for the next.
func (c *chat) activity() (rows []line) {
	if c.turn != nil {
		stage := c.turn.stage + c.signs.more
		if c.turn.stopped {
			stage = "stopping" + c.signs.more
		}
		took := fmt.Sprintf(" %d s", int(c.opt.Now().Sub(c.turn.began).Seconds()))
		rows = append(rows, say(notice, c.signs.run+" ").and(say(plain, stage), say(dim, took+c.signs.dot+"ctrl-c stops")).clip(c.wide))
		if thought := strings.Join(strings.Fields(c.turn.thought), " "); thought != "" {
			rows = append(rows, say(dim, "  "+clipHead(visible(thought), c.wide-3)))
		}
	}
	for _, q := range c.queue {
		rows = append(rows, say(dim, "next: "+strings.ReplaceAll(q, "\n", " ")).clip(c.wide))
	}
	return rows
}

// clipHead keeps the end of a text.
func clipHead(s string, most int) string {
	if width(s) <= most {
		return s
	}
	r := []rune(s)
	for len(r) > 0 && width(string(r)) > most-1 {
		r = r[1:]
	}
	return "…" + string(r)
}
