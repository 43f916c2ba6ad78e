package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Streams are the pipes between a program and the reader and writers of its
// [toolcrib.Cmd]. There is always a pipe or the null device, never the
// caller's own file: a program that was handed a terminal could type into it,
// and one that was handed a file could open it again for writing.
type Streams struct {
	// The program's ends, for whoever starts it.
	Stdin, Stdout, Stderr *os.File

	source  io.Reader
	toStdin *os.File
	copies  []*outflow
	started bool
}

// OpenStreams makes the pipes. [Streams.Close] must be called in any case.
func OpenStreams(cmd toolcrib.Cmd) (_ *Streams, err error) {
	s := &Streams{source: cmd.Stdin}
	defer func() {
		if err != nil {
			err = fmt.Errorf("opening the streams of a program: %w", errors.Join(err, s.Close()))
		}
	}()
	if cmd.Stdin == nil {
		s.Stdin, err = os.Open(os.DevNull)
	} else {
		s.Stdin, s.toStdin, err = os.Pipe()
	}
	if err != nil {
		return nil, err
	}
	if s.Stdout, err = s.outlet(cmd.Stdout); err != nil {
		return nil, err
	}
	if cmd.Stdout != nil && same(cmd.Stdout, cmd.Stderr) {
		s.Stderr = s.Stdout // one writer: one pipe, so that it is never written by two and the order is kept
		return s, nil
	}
	s.Stderr, err = s.outlet(cmd.Stderr)
	return s, err
}

// same compares two writers the way os/exec does.
func same(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

func (s *Streams) outlet(w io.Writer) (*os.File, error) {
	if w == nil {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.copies = append(s.copies, &outflow{from: from, to: w, done: make(chan struct{})})
	return to, nil
}

// Started is called when the program runs: our copies of its ends are closed,
// and bytes begin to flow.
func (s *Streams) Started() error {
	err := s.closeEnds()
	s.started = true
	for _, c := range s.copies {
		go c.run()
	}
	if s.toStdin != nil {
		// Not waited for: a reader that never ends must not keep Run.
		go func(w *os.File, r io.Reader) {
			_, _ = io.Copy(w, r) // the program may close its input when it likes
			_ = w.Close()
		}(s.toStdin, s.source)
	}
	return err
}

func (s *Streams) closeEnds() error {
	var errs []error
	for i, f := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
		if f != nil && (i < 2 || f != s.Stdout) {
			errs = append(errs, f.Close())
		}
	}
	s.Stdin, s.Stdout, s.Stderr = nil, nil, nil
	return errors.Join(errs...)
}

// Drain is called when the program has ended. It waits for what is still in
// the pipes. A pipe that stays open without a byte for the grace is cut off:
// something that outlived the program holds it. A writer that is slow is
// waited for, unless over is closed: then it too has only the grace.
func (s *Streams) Drain(grace time.Duration, over <-chan struct{}) error {
	var errs []error
	for _, c := range s.copies {
		errs = append(errs, c.drain(grace, over))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("handing on the output of a program: %w", err)
	}
	return nil
}

// Close ends everything that is still open.
func (s *Streams) Close() error {
	err := s.closeEnds()
	if s.toStdin != nil && !s.started {
		err = errors.Join(err, s.toStdin.Close())
	} else if s.toStdin != nil {
		_ = s.toStdin.Close() // it may be closed already; this unblocks a copy to a program that never read
	}
	for _, c := range s.copies {
		if s.started {
			c.cut()
			continue
		}
		err = errors.Join(err, c.from.Close())
	}
	return err
}

// outflow carries one stream of output.
type outflow struct {
	from    *os.File
	to      io.Writer
	done    chan struct{}
	reading atomic.Int64 // how often a read was begun; negative while none is
	mu      sync.Mutex
	err     error
}

// copyBuffer is one pipe's worth, so that a program with much to say wakes us seldom.
const copyBuffer = 64 << 10

func (c *outflow) run() {
	defer close(c.done)
	defer func() { _ = c.from.Close() }()
	buf := make([]byte, copyBuffer)
	for n := int64(1); ; n++ {
		c.reading.Store(n)
		k, err := c.from.Read(buf)
		c.reading.Store(-n)
		if k > 0 && c.failure() == nil {
			if _, werr := c.to.Write(buf[:k]); werr != nil {
				c.fail(werr) // go on reading: the program must not block on our trouble
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, os.ErrClosed) {
				c.fail(err)
			}
			return
		}
	}
}

func (c *outflow) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

func (c *outflow) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *outflow) drain(grace time.Duration, over <-chan struct{}) error {
	tick := time.NewTicker(grace)
	defer tick.Stop()
	before := c.reading.Load()
	for {
		select {
		case <-c.done:
			return c.failure()
		case <-tick.C:
		}
		now := c.reading.Load()
		if now == before && now > 0 { // the same read all the time: nothing came
			c.cut()
		}
		if now == before && now < 0 && ended(over) {
			return errors.New("the writer of the output does not take it")
		}
		before = now
	}
}

// cut ends the read that run waits in.
func (c *outflow) cut() {
	if c.from.SetReadDeadline(time.Now()) != nil {
		_ = c.from.Close() // a system whose pipes know no deadlines
	}
}

func ended(over <-chan struct{}) bool {
	select {
	case <-over:
		return true
	default:
		return false
	}
}
