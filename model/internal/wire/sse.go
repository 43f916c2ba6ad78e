package wire

import (
	"bufio"
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
			continue
		}
		field, value := line, []byte(nil)
		for i, c := range line {
			if c == ':' {
				field, value = line[:i], line[i+1:]
				if len(value) > 0 && value[0] == ' ' {
					value = value[1:]
				}
				break
			}
		}
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

// readLine reads a line into e.line. Lines end with LF, CR LF or CR.
func (e *Events) readLine() error {
	e.line = e.line[:0]
	for {
		c, err := e.r.ReadByte()
		if err != nil {
			return err
		}
		skip := e.skipLF
		e.skipLF = false
		switch c {
		case '\n':
			if skip {
				continue
			}
			e.begun()
			return nil
		case '\r':
			e.skipLF = true
			e.begun()
			return nil
		}
		if len(e.line) >= maxEvent {
			return errTooBig
		}
		e.line = append(e.line, c)
	}
}

// begun takes a byte order mark off the first line.
func (e *Events) begun() {
	if e.first && len(e.line) >= 3 && string(e.line[:3]) == "\ufeff" {
		e.line = e.line[3:]
	}
	e.first = false
}
