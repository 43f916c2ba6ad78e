package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// Stream carries whole messages both ways.
type Stream interface {
	// Read gives the next message; its bytes are the caller's. ErrTooLong is
	// told once for a message that was left out, and reading can go on.
	Read() ([]byte, error)
	// Write sends one message. Several may be written at once.
	Write(ctx context.Context, message []byte) error
	Close() error
}

// ErrTooLong is told for a message that is longer than is taken.
var ErrTooLong = errors.New("the message is too long")

// Lines is a stream with a message a line, as programs talk to each other over
// their standard input and output. Messages longer than most are left out.
func Lines(in io.Reader, out io.Writer, most int, closing func() error) Stream {
	return &lines{in: bufio.NewReaderSize(in, 32<<10), out: out, most: most, closing: closing}
}

type lines struct {
	in   *bufio.Reader
	most int

	mu  sync.Mutex // a message is written whole
	out io.Writer

	once    sync.Once
	closing func() error
	err     error
}

func (l *lines) Read() ([]byte, error) {
	for {
		line, err := l.line()
		if errors.Is(err, ErrTooLong) {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil // an end in mid-line is told with the next
		}
		if err != nil {
			return nil, err
		}
	}
}

// line reads to the next line end. Of one that is too long nothing is kept.
func (l *lines) line() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := l.in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > l.most+1; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong && err == nil {
			return nil, ErrTooLong
		}
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
}

func (l *lines) Write(_ context.Context, message []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(append(message, '\n'))
	return err
}

func (l *lines) Close() error {
	l.once.Do(func() {
		if l.closing != nil {
			l.err = l.closing()
		}
	})
	return l.err
}
