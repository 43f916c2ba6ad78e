package hostproxy

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// idle ends something after a time in which nothing happened.
type idle struct {
	timer *time.Timer
	after time.Duration
}

func newIdle(after time.Duration, end func()) *idle {
	return &idle{timer: time.AfterFunc(after, end), after: after}
}

func (i *idle) touch() { i.timer.Reset(i.after) }
func (i *idle) stop()  { i.timer.Stop() }

// counting counts what is read, and notices that something happens.
type counting struct {
	io.ReadCloser
	n    *atomic.Int64
	idle *idle
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.n.Add(int64(n))
	c.idle.touch()
	return n, err
}

// patient waits for a reader that is slow, but not for one that does not read.
type patient struct {
	net.Conn
	most time.Duration
}

func (p *patient) Write(b []byte) (int, error) {
	if err := p.SetWriteDeadline(time.Now().Add(p.most)); err != nil {
		return 0, err
	}
	return p.Conn.Write(b)
}

// join passes on what comes from one side to the other until both have ended. A side
// that has said all may still hear the rest.
func (v *visit) join(ctx context.Context, client io.Reader, host net.Conn, hello []byte) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := newIdle(v.proxy.cfg.Idle, cancel)
	defer idle.stop()
	defer context.AfterFunc(ctx, func() { _, _ = host.Close(), v.conn.Close() })()
	first := newAnswer()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer first.know(false)
		from := &counting{ReadCloser: io.NopCloser(host), n: &v.received, idle: idle}
		to := &patient{v.conn, v.proxy.cfg.Idle}
		if err := first.look(from, to); err == nil {
			_, _ = io.Copy(to, from)
		}
		closeWrite(v.conn)
	}()
	from := &counting{ReadCloser: io.NopCloser(client), n: &v.sent, idle: idle}
	to := &patient{host, v.proxy.cfg.Idle}
	if err := v.toHost(from, to, hello, first); err != nil {
		v.told.Refused = words(err)
		cancel()
	}
	closeWrite(host)
	<-done
}

// toHost passes on what the program says.
func (v *visit) toHost(from io.Reader, to io.Writer, hello []byte, first *answer) error {
	if _, err := to.Write(hello); err != nil {
		return nil //nolint:nilerr // the host has gone
	}
	v.sent.Add(int64(len(hello)))
	if err := checkSecond(from, to, v.told.Host, first); err != nil {
		return err
	}
	_, _ = io.Copy(to, from) // either side may end it
	return nil
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // it may be gone
		return
	}
	_ = c.Close()
}
