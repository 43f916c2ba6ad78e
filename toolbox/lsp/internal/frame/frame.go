// Package frame carries JSON-RPC messages as language servers write them: a header
// with the length, an empty line, and so many bytes. toolbox/lsp imports it.
//
// Its one invariant: what a server sends takes no more memory than it has sent, and
// a header that is wrong ends the stream, because nobody knows where the next begins.
package frame

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// The bounds of a message.
const (
	MaxHeader = 4 << 10
	// flood is how much a server may send while nobody has asked it anything new.
	flood = 512 << 20
)

// ErrFraming is in the chain of what is told of a stream that cannot be read on.
var ErrFraming = errors.New("the language server does not keep to the protocol")

// Stream is the two pipes of a language server.
type Stream struct {
	in   *bufio.Reader
	most int

	out     chan struct{} // holds one token: who has it writes
	to      io.Writer
	taken   atomic.Int64 // bytes since the last question
	once    sync.Once
	closing func() error
	err     error
}

// New makes a stream. Messages longer than most end it.
func New(in io.Reader, to io.Writer, most int, closing func() error) *Stream {
	s := &Stream{in: bufio.NewReaderSize(in, 32<<10), most: most, out: make(chan struct{}, 1), to: to, closing: closing}
	s.out <- struct{}{}
	return s
}

// Asked says that somebody asks something, so that an answer may be long.
func (s *Stream) Asked() { s.taken.Store(0) }

// Read gives the next message.
func (s *Stream) Read() ([]byte, error) {
	size, err := s.header()
	if err != nil {
		return nil, err
	}
	if size > s.most {
		return nil, fmt.Errorf("%w: a message of %d bytes, more than %d", ErrFraming, size, s.most)
	}
	if s.taken.Add(int64(size)) > flood {
		return nil, fmt.Errorf("%w: it sends without end", ErrFraming)
	}
	var body bytes.Buffer // it grows as bytes come: a length alone takes no memory
	if n, err := io.CopyN(&body, s.in, int64(size)); err != nil {
		return nil, fmt.Errorf("%w: a message of %d bytes ended after %d: %w", ErrFraming, size, n, noEOF(err))
	}
	return body.Bytes(), nil
}

// header reads up to the empty line and gives the length.
func (s *Stream) header() (int, error) {
	size, total := -1, 0
	for {
		line, err := s.in.ReadSlice('\n')
		if total += len(line); total > MaxHeader || errors.Is(err, bufio.ErrBufferFull) {
			return 0, fmt.Errorf("%w: a header of more than %d bytes", ErrFraming, MaxHeader)
		}
		if err != nil {
			if total == 0 {
				return 0, err // between two messages: it has hung up
			}
			return 0, fmt.Errorf("%w: it ended within a header: %w", ErrFraming, noEOF(err))
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			if size < 0 {
				return 0, fmt.Errorf("%w: a message without Content-Length", ErrFraming)
			}
			return size, nil
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return 0, fmt.Errorf("%w: %q is no header", ErrFraming, shorten(text))
		}
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 || size >= 0 && n != size {
			return 0, fmt.Errorf("%w: Content-Length is %q", ErrFraming, shorten(value))
		}
		size = n
	}
}

// Write sends one message. A server that does not read holds up who writes only until
// ctx ends; the message is finished behind its back, or with the stream.
func (s *Stream) Write(ctx context.Context, message []byte) error {
	select {
	case <-s.out:
	case <-ctx.Done():
		return ctx.Err()
	}
	text := append(fmt.Appendf(make([]byte, 0, len(message)+32), "Content-Length: %d\r\n\r\n", len(message)), message...)
	done := make(chan error, 1)
	go func() {
		_, err := s.to.Write(text)
		s.out <- struct{}{}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the stream.
func (s *Stream) Close() error {
	s.once.Do(func() {
		if s.closing != nil {
			s.err = s.closing()
		}
	})
	return s.err
}

// noEOF keeps an end in mid-message from looking like a good one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func shorten(text string) string {
	if len(text) > 80 {
		text = text[:80]
	}
	return text
}
