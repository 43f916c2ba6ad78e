package codemode

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestFloodWhileItWaits: the clock of a script stands while a person thinks. A worker
// that goes on talking then is ended, and the call that it waits for with it.
func TestFloodWhileItWaits(t *testing.T) {
	said := frames(t, Message{Kind: Ready}, Message{Kind: Call, ID: 1, Name: "ask", Body: []byte("{}")}, Message{Kind: Wait, ID: 1}, Message{Kind: Log, Name: "x"}, Message{Kind: Log, Name: "x"})
	p := &Pool{Start: replay(said)}
	defer p.Close()
	_, err := p.Run(t.Context(), Script{Code: "1", Time: time.Minute}, Host{Call: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done() // nobody answers
		return nil, ctx.Err()
	}})
	if !errors.Is(err, errFrame) {
		t.Error(err)
	}
}

// TestUnreadyIsEnded: a worker that is started in the place of one that ended while it
// waited is not left behind if it does not get ready.
func TestUnreadyIsEnded(t *testing.T) {
	var starts, ends atomic.Int32
	gone := make(chan struct{})
	close(gone)
	p := &Pool{Start: func(ctx context.Context) (*Conn, error) {
		first := Message{Kind: Ready}
		if starts.Add(1) > 1 {
			first.Kind = Done
		}
		c, err := replay(frames(t, first))(ctx)
		end := c.End
		c.Gone, c.End = gone, func() { ends.Add(1); end() }
		return c, err
	}}
	defer p.Close()
	_, err := p.Run(t.Context(), Script{Code: "1"}, Host{})
	if !errors.Is(err, ErrNoWorker) || starts.Load() != 2 || ends.Load() != 2 {
		t.Errorf("%v; %d started, %d ended", err, starts.Load(), ends.Load())
	}
}

// TestLongFault: what a script is told about a call that failed fits into a message.
func TestLongFault(t *testing.T) {
	in, to := io.Pipe()
	from, out := io.Pipe()
	heard := make(chan Message, 1)
	conn := &Conn{To: to, From: from, End: func() { _ = from.Close(); _ = to.Close() }}
	go func() {
		_, _ = out.Write(frames(t, Message{Kind: Ready}))
		r := bufio.NewReader(in)
		_, _ = Read(r)
		_, _ = out.Write(frames(t, Message{Kind: Call, ID: 1, Name: "t", Body: []byte("{}"), Waits: true}))
		m, _ := Read(r)
		heard <- m
		_, _ = out.Write(frames(t, Message{Kind: Done, Body: []byte("1")}))
	}()
	var starts atomic.Int32
	p := &Pool{Start: func(context.Context) (*Conn, error) {
		if starts.Add(1) > 1 {
			return nil, errors.New("one is enough")
		}
		return conn, nil
	}}
	_, err := p.Run(t.Context(), Script{Code: "1"}, Host{Call: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		return nil, &Fault{Code: strings.Repeat("c", 1<<20), Message: strings.Repeat("m", MaxValue+1)}
	}})
	if m := <-heard; err != nil || m.Kind != Refuse || len(m.Body) > maxFault+4 || len(m.Body) < maxFault {
		t.Errorf("%v, %d, %d bytes", err, m.Kind, len(m.Body))
	}
}

// TestManySearches: looking for tools is counted by nobody else.
func TestManySearches(t *testing.T) {
	said := []Message{{Kind: Ready}}
	for i := range uint32(3 * maxLooks) {
		said = append(said, Message{Kind: Search, ID: i + 1, Name: "x", Waits: true})
	}
	p := &Pool{Start: replay(frames(t, append(said, Message{Kind: Done, Body: []byte("1")})...))}
	defer p.Close()
	searches := 0
	got, err := p.Run(t.Context(), Script{Code: "1", Time: time.Minute}, Host{Search: func(context.Context, string) (json.RawMessage, error) {
		searches++
		return json.RawMessage(`""`), nil
	}})
	if err != nil || searches != maxLooks || got.Calls != 3*maxLooks {
		t.Errorf("%v, %d searches of %d", err, searches, got.Calls)
	}
}
