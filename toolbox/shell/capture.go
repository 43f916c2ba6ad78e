package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

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

	news chan<- struct{}
	emit func(toolcrib.Event)
}

func newCapture(cfg Config, root *os.Root, name string, news chan<- struct{}, emit func(toolcrib.Event)) *capture {
	return &capture{half: cfg.Output / 2, root: root, name: name, maxSpill: cfg.Spill, news: news, emit: emit}
}

// Write takes a piece. It never fails: a full disk must not end the command.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.toDisk(p)
	c.keep(p)
	c.total += int64(len(p))
	c.mu.Unlock()
	select {
	case c.news <- struct{}{}:
	default: // nobody has looked since the last piece
	}
	c.emit(toolcrib.Event{Kind: "output", Text: string(p)})
	return len(p), nil
}

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

// page gives a part of the stream: from disk if it is there, else from memory.
func (c *capture) page(offset int64, limit int) (text []byte, total int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
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
func (c *capture) drop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return nil
	}
	err := errors.Join(c.file.Close(), c.root.Remove(c.name))
	c.file = nil
	return err
}

// text is what a result shows: everything, or both ends with a note between.
func (c *capture) text() (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.ring()
	gone := c.total - int64(len(c.head)) - int64(len(tail))
	if gone <= 0 {
		return string(c.head) + string(tail), false
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", c.head, gone, tail), true
}
