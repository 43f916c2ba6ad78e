package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Event is one event of a stream.
type Event struct {
	Name string
	Data []byte // valid until the next event is read
}

// Events reads a stream of server-sent events.
type Events struct {
	r      *bufio.Reader
	data   []byte
	line   []byte
	name   string
	first  bool
	skipLF bool // the last line ended with a CR: an LF behind it is a part of that end
}

var errTooBig = errors.New("one event of the stream is larger than 8 MB")

// NewEvents reads from r.
func NewEvents(r io.Reader) *Events {
	return &Events{r: bufio.NewReaderSize(r, 32<<10), first: true}
}

// Next gives the next event that has data. At the end it is io.EOF. An event that the
// stream ends in without an empty line counts, because some servers leave that out.
func (e *Events) Next() (Event, error) {
	e.data, e.name = e.data[:0], ""
	some := false
	for {
		err := e.readLine()
		if err != nil && (!errors.Is(err, io.EOF) || len(e.line) == 0 && !some) {
			return Event{}, err
		}
		line := e.line
		if len(line) == 0 {
			if some {
				return Event{e.name, e.data}, nil
			}
			e.name = ""
			e.skipEmpty()
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if some {
				e.data = append(e.data, '\n')
			}
			if len(e.data)+len(value) > maxEvent {
				return Event{}, errTooBig
			}
			e.data, some = append(e.data, value...), true
		case "event":
			e.name = string(value)
		}
		if err != nil {
			if some {
				return Event{e.name, e.data}, nil
			}
			return Event{}, err
		}
	}
}

// readLine reads a line into e.line. Lines end with LF, CR LF or CR. It looks for the
// end in what has arrived and not byte by byte: answers have megabytes.
func (e *Events) readLine() error {
	e.line = e.line[:0]
	for {
		have, err := e.arrived()
		if err != nil {
			return err
		}
		if e.skipLF {
			e.skipLF = false
			if have[0] == '\n' {
				e.take(1)
				continue
			}
		}
		end := lineEnd(have)
		if len(e.line)+end > maxEvent {
			return errTooBig
		}
		e.line = append(e.line, have[:end]...)
		if end == len(have) {
			e.take(end)
			continue
		}
		e.skipLF = have[end] == '\r'
		e.take(end + 1)
		e.begun()
		return nil
	}
}

// arrived gives what can be read without waiting: at least one byte.
func (e *Events) arrived() ([]byte, error) {
	if _, err := e.r.Peek(1); err != nil {
		return nil, err
	}
	return e.r.Peek(e.r.Buffered())
}

// take goes past what has arrived.
func (e *Events) take(n int) { _, _ = e.r.Discard(n) }

// lineEnd is where the line in b ends: at its LF or CR, or with b.
func lineEnd(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	if i := bytes.IndexByte(b, '\r'); i >= 0 {
		return i
	}
	return len(b)
}

// skipEmpty goes past the empty lines that have arrived: a server may send nothing else.
func (e *Events) skipEmpty() {
	have, _ := e.r.Peek(e.r.Buffered())
	if n := len(have) - len(bytes.TrimLeft(have, "\r\n")); n > 0 {
		e.skipLF = have[n-1] == '\r'
		e.take(n)
	}
}

// begun takes a byte order mark off the first line.
func (e *Events) begun() {
	if e.first && len(e.line) >= 3 && string(e.line[:3]) == "\ufeff" {
		e.line = e.line[3:]
	}
	e.first = false
}
