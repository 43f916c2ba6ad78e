package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// ServeStdio serves one client on the given streams until it hangs up or ctx
// ends. Both eras can be spoken on them: each message says which it is of.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sess := s.newSession(ctx, "")
	defer sess.end()
	text := closable(in)
	line := &patientLine{silent: make(chan struct{}), Stream: mcp.Lines(text, out, s.maxMessage(), func() error { return errors.Join(text.Close(), in.Close(), out.Close()) })}
	conn := mcp.NewConn(ctx, line, mcp.Handler{
		Request: func(ctx context.Context, m *mcp.Message) (json.RawMessage, error) {
			return s.answerLine(ctx, m, sess, line)
		},
		Bad: func(err error) { s.cfg.Log.Debug("a client sent what is no message", "err", err) },
	})
	line.conn, line.last = conn, func() { waitFor(ctx, conn) }
	hangUp := func() {
		if err := conn.Close(); err != nil {
			s.cfg.Log.Debug("closing the streams of a client", "err", err)
		}
	}
	stop := context.AfterFunc(ctx, hangUp)
	told := make(chan struct{})
	go func() {
		defer close(told)
		sess.tellLine(conn)
	}()
	err := conn.Run()
	if ctx.Err() != nil {
		err = ctx.Err() // and not that the stream was closed over it
	}
	waitFor(context.WithoutCancel(ctx), conn) // what was cancelled is still recorded
	stop()
	hangUp()
	<-told
	return err
}

// closable gives what a stream says until it is closed itself. To close the
// standard input does not end a read of it that waits, if it is a pipe or a
// terminal that somebody keeps open; that read is left to wait.
func closable(in io.Reader) io.ReadCloser {
	text, into := io.Pipe()
	go func() {
		_, err := io.Copy(into, in)
		_ = into.CloseWithError(err) // it never fails
	}()
	return text
}

// patience is how long a client that says nothing more is still answered: one
// that was only a pipe waits for it, and one that goes away does not wait long.
const patience = 2 * time.Second

// waitFor waits until everything is answered, for a while.
func waitFor(ctx context.Context, conn *mcp.Conn) {
	done := make(chan struct{})
	go func() {
		conn.Wait()
		close(done)
	}()
	clock := time.NewTimer(patience)
	defer clock.Stop()
	select {
	case <-done:
	case <-clock.C:
	case <-ctx.Done():
	}
}

// patientLine tells of its end when what was said before is answered.
type patientLine struct {
	mcp.Stream
	conn   *mcp.Conn
	last   func()
	once   sync.Once
	silent chan struct{} // closed when the client says nothing more
}

func (l *patientLine) Read() ([]byte, error) {
	text, err := l.Stream.Read()
	if errors.Is(err, io.EOF) {
		l.once.Do(func() { close(l.silent) })
		l.last()
	}
	return text, err
}

// answerLine answers one request.
func (s *Server) answerLine(ctx context.Context, m *mcp.Message, sess *session, line *patientLine) (json.RawMessage, error) {
	w := &lineReply{conn: line.conn, silent: line.silent}
	w.write = func(text []byte) error { return line.Write(ctx, text) }
	defer w.close()
	p, err := readParams(m.Params)
	if err != nil {
		return nil, err
	}
	if p.version() != "" {
		return s.answerModern(ctx, m, p, w)
	}
	return s.answerLegacy(ctx, m, p, sess, w)
}

// tellLine passes on what changes until the conversation ends.
func (s *session) tellLine(conn *mcp.Conn) {
	for {
		select {
		case <-s.heard.wake:
			for _, n := range s.heard.drain() {
				if err := conn.Notify(s.ctx, n.method, n.params); err != nil {
					return
				}
			}
		case <-conn.Done():
			return
		}
	}
}

// lineReply is the way to a client over stdio.
type lineReply struct {
	messageWriter
	conn   *mcp.Conn
	silent <-chan struct{}
}

func (w *lineReply) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return w.conn.Call(ctx, method, params, nil)
}
