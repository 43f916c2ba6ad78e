package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// newest is the version that is asked for.
const newest = mcp.Legacy

// exitTime is how long a program may take to end when its input has. It is looked
// at once; where another run begins, a program that stays is not waited for.
const (
	exitTime = 2 * time.Second
	nextTime = 300 * time.Millisecond
)

// maxLine bounds a line that is kept.
const maxLine = 32 << 20

// event is a message as it was heard.
type event struct {
	*mcp.Message
	raw []byte
}

// talk is a conversation with one running program, line by line, so that also what
// no client would send can be sent.
type talk struct {
	process  client.Process
	patience time.Duration
	next     int

	mu    sync.Mutex
	heard []event
	more  chan struct{} // closed and replaced when something was heard, or it ended
	ended bool
}

func newTalk(p client.Process, patience time.Duration, noise func(line string)) *talk {
	t := &talk{process: p, patience: patience, more: make(chan struct{})}
	lines := mcp.Lines(p.Stdout, nil, maxLine, nil)
	go func() {
		for {
			text, err := lines.Read()
			if err != nil && !errors.Is(err, mcp.ErrTooLong) {
				break
			}
			t.take(text, err, noise)
		}
		t.mu.Lock()
		t.ended = true
		t.wake()
		t.mu.Unlock()
	}()
	return t
}

// take notes a line. The other side may ask for something, too: it is told that this
// is not to be had.
func (t *talk) take(text []byte, err error, noise func(string)) {
	text = bytes.Clone(text)
	if err == nil && len(bytes.TrimSpace(text)) == 0 {
		err = errors.New("an empty line")
	}
	var m *mcp.Message
	if err == nil {
		m, err = mcp.Parse(text)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		noise(quote(text) + " (" + err.Error() + ")")
		return
	}
	t.heard = append(t.heard, event{m, text})
	t.wake()
	if m.IsRequest() {
		id := m.ID
		go func() {
			_ = t.say(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"this is only a check"}}`, id))
		}()
	}
}

// wake tells who waits; the lock is held.
func (t *talk) wake() {
	close(t.more)
	t.more = make(chan struct{})
}

// say writes a line, whatever it is. A program that does not read is given up on.
func (t *talk) say(line []byte) error {
	done := make(chan error, 1)
	go func() {
		_, err := t.process.Stdin.Write(append(line, '\n'))
		done <- err
	}()
	clock := time.NewTimer(t.patience)
	defer clock.Stop()
	select {
	case err := <-done:
		if err != nil {
			return t.gone()
		}
		return nil
	case <-clock.C:
		return errors.New("it does not read its standard input")
	}
}

// gone says that the program has ended, and how.
func (t *talk) gone() error {
	clock := time.NewTimer(time.Second)
	defer clock.Stop()
	select {
	case <-t.process.Done:
		if t.process.Err != nil {
			if err := t.process.Err(); err != nil {
				return fmt.Errorf("it ended: %w", err)
			}
		}
		return errors.New("it ended")
	case <-clock.C:
		return errors.New("it closed its standard output and runs on")
	}
}

// over reports whether the program has ended.
func (t *talk) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// wait waits until something was heard that is found, and gives where it stands.
func (t *talk) wait(ctx context.Context, patience time.Duration, find func([]event) int) (event, error) {
	clock := time.NewTimer(patience)
	defer clock.Stop()
	for {
		t.mu.Lock()
		at, more, ended := find(t.heard), t.more, t.ended
		var found event
		if at >= 0 {
			found = t.heard[at]
		}
		t.mu.Unlock()
		switch {
		case at >= 0:
			return found, nil
		case ended:
			return event{}, t.gone()
		}
		select {
		case <-more:
		case <-clock.C:
			return event{}, fmt.Errorf("there is no answer within %v", patience)
		case <-ctx.Done():
			return event{}, ctx.Err()
		}
	}
}

// request writes a request and gives its ID.
func (t *talk) request(method string, params json.RawMessage) (json.RawMessage, error) {
	t.next++
	id := fmt.Appendf(nil, "%d", t.next)
	if t.next%2 == 0 { // an id may be a text as well, and comes back as it was
		id = fmt.Appendf(nil, `"check-%d"`, t.next)
	}
	return id, t.write(id, method, params)
}

func (t *talk) write(id json.RawMessage, method string, params json.RawMessage) error {
	text, err := (&mcp.Message{ID: id, Method: method, Params: params}).Append(nil)
	if err != nil {
		return err
	}
	return t.say(text)
}

// answer waits for the answer to a request.
func (t *talk) answer(ctx context.Context, id json.RawMessage, patience time.Duration) (event, error) {
	return t.wait(ctx, patience, func(heard []event) int {
		for i, m := range heard {
			if m.IsAnswer() && bytes.Equal(m.ID, id) {
				return i
			}
		}
		return -1
	})
}

// ask makes a request and waits for its answer.
func (t *talk) ask(ctx context.Context, method string, params json.RawMessage) (event, error) {
	id, err := t.request(method, params)
	if err != nil {
		return event{}, err
	}
	return t.answer(ctx, id, t.patience)
}

// must is ask, where the answer has to be a result.
func (t *talk) must(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	m, err := t.ask(ctx, method, params)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", method, err)
	case m.Error != nil:
		return nil, fmt.Errorf("%s is answered with an error: %s", method, quote(m.raw))
	}
	return m.Result, nil
}

// alive says whether the program still answers, if only with an error.
func (t *talk) alive(ctx context.Context) error {
	_, err := t.ask(ctx, mcp.MethodPing, nil)
	return err
}

// greet makes the first request, and tells that it was answered.
func (t *talk) greet(ctx context.Context, version string) (json.RawMessage, error) {
	result, err := t.must(ctx, mcp.MethodInitialize, json.RawMessage(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"toolcrib","version":"1"}}`, version)))
	if err != nil {
		return nil, err
	}
	return result, t.write(nil, mcp.MethodInitialized, nil)
}

// close ends the conversation, and the program if it does not end by itself in this
// time. It reports whether it did.
func (t *talk) close(within time.Duration) bool {
	_ = t.process.Stdin.Close() // it may be gone
	clock := time.NewTimer(within)
	defer clock.Stop()
	byItself := true
	select {
	case <-t.process.Done:
	case <-clock.C:
		byItself = false
		if t.process.Kill != nil {
			t.process.Kill()
		}
		again := time.NewTimer(exitTime)
		defer again.Stop()
		select {
		case <-t.process.Done:
		case <-again.C:
		}
	}
	if c, ok := t.process.Stdout.(io.Closer); ok {
		_ = c.Close() // so that its reader ends
	}
	return byItself
}

// all gives all that was heard so far.
func (t *talk) all() []event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clip(t.heard)
}
