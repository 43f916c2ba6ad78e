package client

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// event is one event of a text/event-stream.
type event struct {
	name string // empty: message
	data []byte
}

func (ev event) isMessage() bool { return len(ev.data) > 0 && (ev.name == "" || ev.name == "message") }

// events reads a text/event-stream.
type events struct {
	in   *bufio.Reader
	most int
	// last is the ID to go on from, retry how long to wait before: both are of
	// the whole stream. Last empty: there is none; retry negative: none was said.
	last  string
	retry time.Duration
	count int // events so far

	begun bool // the first bytes have been looked at
	cr    bool // the last line ended with CR, an LF belongs to it
}

func readEvents(in io.Reader, most int) *events {
	return &events{in: bufio.NewReader(in), most: most, retry: -1}
}

// next gives the next event with data or an ID. An event that the stream ends
// within is none.
func (e *events) next() (event, error) {
	var ev event
	some, first := false, true
	for {
		line, err := e.line()
		if err != nil {
			return event{}, err
		}
		if len(line) == 0 {
			if some {
				e.count++
				return ev, nil
			}
			ev, first = event{}, true
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if len(ev.data)+len(value)+1 > e.most {
				return event{}, mcp.ErrTooLong
			}
			if !first {
				ev.data = append(ev.data, '\n')
			}
			ev.data = append(ev.data, value...)
			some, first = true, false
		case "event":
			ev.name = string(value)
		case "id":
			if len(value) <= 1024 && bytes.IndexByte(value, 0) < 0 {
				e.last, some = string(value), true
			}
		case "retry":
			if len(value) < 10 {
				if n, err := strconv.ParseUint(string(value), 10, 32); err == nil {
					e.retry = time.Duration(n) * time.Millisecond
				}
			}
		}
	}
}

// message gives the next message. What cannot be read as one is left out and
// written to the log.
func (e *events) message(log *slog.Logger) (*mcp.Message, error) {
	for {
		ev, err := e.next()
		if err != nil {
			return nil, err
		}
		if !ev.isMessage() {
			continue
		}
		m, err := mcp.Parse(ev.data)
		if err == nil {
			return m, nil
		}
		log.Debug("a message of an MCP server could not be read", "error", err)
	}
}

// line reads a line, which ends with LF, CR or both. Its bytes are good until
// the next one is read.
func (e *events) line() ([]byte, error) {
	var long []byte
	for {
		if _, err := e.in.Peek(1); err != nil {
			return nil, err
		}
		buf, err := e.in.Peek(e.in.Buffered())
		if err != nil {
			return nil, err
		}
		if !e.begun {
			e.begun = true
			if buf[0] == 0xef { // a byte order mark may stand before everything
				if mark, err := e.in.Peek(3); err == nil && string(mark) == "\ufeff" {
					e.drop(3)
				}
				continue
			}
		}
		if e.cr {
			e.cr = false
			if buf[0] == '\n' {
				e.drop(1)
				continue
			}
		}
		n := bytes.IndexByte(buf, '\n')
		if m := bytes.IndexByte(buf[:max(n, 0)], '\r'); m >= 0 {
			n = m
		} else if n < 0 {
			n = bytes.IndexByte(buf, '\r')
		}
		length := n
		if n < 0 {
			length = len(buf)
		}
		if len(long)+length > e.most+16 { // the name of a field comes on top
			return nil, mcp.ErrTooLong
		}
		if n < 0 {
			long = append(long, buf...)
			e.drop(len(buf))
			continue
		}
		e.cr = buf[n] == '\r'
		line := buf[:n]
		if long != nil {
			line = append(long, line...)
		}
		e.drop(n + 1)
		return line, nil
	}
}

// drop takes bytes that have been seen out of the buffer.
func (e *events) drop(n int) {
	_, _ = e.in.Discard(n) // they are there
}
