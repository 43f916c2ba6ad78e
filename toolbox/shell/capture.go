package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
)

// capture takes one stream of a command: its beginning and its end in memory,
// all of it (up to a bound) on disk, and every piece as an event. However much
// a command prints, the memory it takes here is fixed.
type capture struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring once it is full
	at    int    // where the ring goes on
	half  int    // size of head and of tail
	total int64

	root     *os.Root // nil: nothing is spilled
	name     string
	file     *os.File
	spilled  int64
	maxSpill int64
	lost     bool // the disk refused, or the bound was reached

	told int64 // how much of it the caller was shown
	hide func(string) ([]Span, error)
	mark string

	kind string // stdout or stderr
	news chan<- struct{}
	emit func(toolcrib.Event)
}

func newCapture(cfg Config, root *os.Root, name, kind string, news chan<- struct{}, emit func(toolcrib.Event)) *capture {
	return &capture{half: cfg.Output / 2, root: root, name: name, kind: kind, maxSpill: cfg.Spill, hide: cfg.Hide, mark: cfg.Mark, news: news, emit: emit}
}

// Write takes a piece. It never fails: a full disk must not end the command.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.toDisk(p)
	c.keep(p)
	before := c.total
	c.total += int64(len(p))
	c.mu.Unlock()
	select {
	case c.news <- struct{}{}:
	default: // nobody has looked since the last piece
	}
	// Screens see all of what a person could read, and of a flood a piece now and
	// then: each event is a copy.
	if total := before + int64(len(p)); total <= shownWhole || before>>20 != total>>20 {
		c.emit(toolcrib.Event{Kind: c.kind, Text: string(p)})
	}
	return len(p), nil
}

// shownWhole is how much of a stream goes to screens piece by piece.
const shownWhole = 4 << 20

func (c *capture) keep(p []byte) {
	if room := c.half - len(c.head); room > 0 {
		n := min(room, len(p))
		c.head = append(c.head, p[:n]...)
		p = p[n:]
	}
	if len(p) > c.half { // only its end can stay
		p = p[len(p)-c.half:]
	}
	for len(p) > 0 {
		if len(c.tail) < c.half {
			n := min(c.half-len(c.tail), len(p))
			c.tail = append(c.tail, p[:n]...)
			p = p[n:]
			continue
		}
		n := copy(c.tail[c.at:], p)
		c.at = (c.at + n) % c.half
		p = p[n:]
	}
}

// toDisk keeps the whole stream, from the moment it no longer fits in memory:
// up to then memory has all of it, and that is written first.
func (c *capture) toDisk(p []byte) {
	if c.root == nil || c.lost || c.total+int64(len(p)) <= int64(2*c.half) {
		return
	}
	if c.file == nil {
		f, err := c.root.OpenFile(c.name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			c.lost = true
			return
		}
		c.file = f
		c.spillMore(c.head)
		c.spillMore(c.ring())
	}
	c.spillMore(p)
}

func (c *capture) spillMore(p []byte) {
	if room := c.maxSpill - c.spilled; int64(len(p)) > room {
		p, c.lost = p[:room], true
	}
	n, err := c.file.Write(p)
	c.spilled += int64(n)
	if err != nil {
		c.lost = true
	}
}

// ring is the tail in order.
func (c *capture) ring() []byte {
	if len(c.tail) < c.half {
		return c.tail
	}
	return append(append([]byte{}, c.tail[c.at:]...), c.tail[:c.at]...)
}

// page gives a part of the stream as it is shown, from disk if it is there, else
// from memory, and the offset at which to go on.
func (c *capture) page(offset int64, limit int) (text string, next, total int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, from, to, total, err := c.around(offset, limit)
	if err != nil {
		return "", offset, total, err
	}
	text, err = c.cover(all, from, to)
	return text, offset + int64(to-from), total, err
}

// whole leaves out a character at the end that is not there in full.
func whole(text []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax-1, len(text)-1); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// fresh gives what was printed since the last time, as far as it fits into an
// answer.
func (c *capture) fresh(limit int) (text string, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, from, to, total, err := c.around(c.told, limit)
	if err != nil { // it was not kept in full: both ends of it are
		c.told = c.total
		return c.shown()
	}
	c.told += int64(to - from)
	if text, err = c.cover(all, from, to); err != nil {
		text = heldBack(err)
	}
	return text, c.told < total
}

// heldBack stands for an output of which it cannot be told what is hidden in it.
func heldBack(err error) string { return fmt.Sprintf("[output held back: %v]", err) }

func (c *capture) part(offset int64, limit int) (text []byte, total int64, err error) {
	if c.file != nil {
		buf := make([]byte, limit)
		n, err := c.file.ReadAt(buf, offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, c.total, err
		}
		if n == 0 && offset < c.total {
			return nil, c.total, fmt.Errorf("only the first %d of %d bytes were kept", c.spilled, c.total)
		}
		return buf[:n], c.total, nil
	}
	all := append(append([]byte{}, c.head...), c.ring()...)
	if int64(len(all)) < c.total {
		return nil, c.total, errors.New("the output was too long and was not kept")
	}
	if offset >= int64(len(all)) {
		return nil, c.total, nil
	}
	all = all[offset:]
	return all[:min(len(all), limit)], c.total, nil
}

// drop closes and removes the file.
func (c *capture) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return
	}
	// Nobody can do anything about a failure here; see job.drop.
	_, _ = c.file.Close(), c.root.Remove(c.name)
	c.file = nil
}

// kept reports whether there is more to page through than text shows.
func (c *capture) kept() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.file != nil
}

// text is what a result shows: everything, or both ends with a note between.
func (c *capture) text() (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = c.total
	return c.shown()
}

func (c *capture) shown() (string, bool) {
	tail := c.ring()
	gone := c.total - int64(len(c.head)) - int64(len(tail))
	if gone <= 0 {
		return string(c.head) + string(tail), false
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", c.end(c.head, 0), gone, c.end(tail, c.total-int64(len(tail)))), true
}

// end is one end of a stream as it is shown.
func (c *capture) end(text []byte, offset int64) string {
	all, from, to, _, err := c.around(offset, len(text))
	if err != nil || from >= to { // all that was kept is these bytes
		all, from, to = text, 0, len(text)
	}
	shown, err := c.cover(all, from, to)
	if err != nil {
		return heldBack(err)
	}
	return shown
}
