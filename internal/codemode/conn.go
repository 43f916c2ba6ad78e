package codemode

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Conn is a worker that runs: one script each, never another one.
type Conn struct {
	To   io.WriteCloser // what it reads
	From io.Reader      // what it writes
	// End ends it and all it holds. It may be called often.
	End func()
	// Gone is closed when it has ended. Nil: nobody knows.
	Gone <-chan struct{}

	in *bufio.Reader // From
}

// gone reports whether the worker is known to have ended.
func (c *Conn) gone() bool {
	select {
	case <-c.Gone:
		return true
	default:
		return false
	}
}

// startTime is how long a worker may take until it is ready, on a machine with much to do.
const startTime = 30 * time.Second

// await returns when the worker is ready.
func (c *Conn) await() error {
	c.in = bufio.NewReaderSize(c.From, 16<<10)
	late := time.AfterFunc(startTime, c.End)
	defer late.Stop()
	m, err := Read(c.in)
	if err != nil {
		return errors.Join(errors.New("the worker did not get ready"), err)
	}
	if m.Kind != Ready {
		return fmt.Errorf("%w: the first message is of kind %d", errFrame, m.Kind)
	}
	return nil
}

// Starter starts a worker. It lives until its End, or that of ctx.
type Starter func(ctx context.Context) (*Conn, error)
