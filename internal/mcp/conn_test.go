package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// far is the other side of a conversation, line by line.
type far struct {
	t   *testing.T
	in  *bufio.Scanner
	out io.WriteCloser
}

func (f *far) say(line string) {
	if _, err := io.WriteString(f.out, line+"\n"); err != nil {
		f.t.Errorf("saying %.80q: %v", line, err)
	}
}

func (f *far) hear() string {
	f.t.Helper()
	if !f.in.Scan() {
		f.t.Fatalf("nothing more is said: %v", f.in.Err())
	}
	return f.in.Text()
}

// talk begins a conversation, which ends with the test.
func talk(t *testing.T, most int, h Handler) (*Conn, *far) {
	t.Helper()
	before := runtime.NumGoroutine()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := NewConn(t.Context(), Lines(inR, outW, most, func() error {
		return errors.Join(inR.Close(), outW.Close())
	}), h)
	ended := make(chan error, 1)
	go func() { ended <- c.Run() }()
	scanner := bufio.NewScanner(outR)
	scanner.Buffer(nil, 1<<20)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Error("Run goes on after Close")
		}
		for range 400 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(25 * time.Millisecond)
		}
		t.Errorf("%d goroutines are left", runtime.NumGoroutine()-before)
	})
	return c, &far{t, scanner, inW}
}

type answer struct {
	result string
	err    error
}

func ask(ctx context.Context, c *Conn, method string) <-chan answer {
	out := make(chan answer, 1)
	go func() {
		result, err := c.Call(ctx, method, json.RawMessage(`{}`), nil)
		out <- answer{string(result), err}
	}()
	return out
}

func TestConnCall(t *testing.T) {
	c, far := talk(t, 1<<20, Handler{})
	one := ask(t.Context(), c, "one")
	if got := far.hear(); got != `{"jsonrpc":"2.0","id":1,"method":"one","params":{}}` {
		t.Error(got)
	}
	two := ask(t.Context(), c, "two")
	if got := far.hear(); !strings.Contains(got, `"id":2`) {
		t.Error(got)
	}
	far.say(`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"bad","data":{"a":1}}}`)
	if got := <-two; got.result != "" || ErrorOf(got.err).Code != CodeInvalidParams || string(ErrorOf(got.err).Data) != `{"a":1}` {
		t.Errorf("%+v", got)
	}
	far.say(`{"jsonrpc":"2.0","id":1,"result":{"x": 1}}`)
	if got := <-one; got.result != `{"x": 1}` || got.err != nil {
		t.Errorf("%+v", got)
	}
}

// Answers that nobody waits for, or that are none, disturb nobody.
func TestConnAnswersTwice(t *testing.T) {
	var mu sync.Mutex
	bad := 0
	c, far := talk(t, 1<<20, Handler{Bad: func(error) {
		mu.Lock()
		defer mu.Unlock()
		bad++
	}})
	one := ask(t.Context(), c, "one")
	far.hear()
	for _, line := range []string{
		`garbage`, `{"jsonrpc":"2.0"`, `[]`, ``, `{"jsonrpc":"2.0","id":{},"result":1}`, `{"jsonrpc":"1.0","id":1,"result":1}`, `{"id":1,"result":1}`,
		`{"jsonrpc":"2.0","id":99,"result":1}`, `{"jsonrpc":"2.0","id":"1","result":1}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"n":1}}`, `{"jsonrpc":"2.0","id":1,"result":{"n":2}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`,
	} {
		far.say(line)
	}
	if got := <-one; got.result != `{"n":1}` {
		t.Errorf("%+v", got)
	}
	two := ask(t.Context(), c, "two")
	if got := far.hear(); !strings.Contains(got, `"id":2,"method":"two"`) {
		t.Errorf("it said something in between: %s", got)
	}
	far.say(`{"jsonrpc":"2.0","id":2,"result":{"n":3}}`)
	if got := <-two; got.result != `{"n":3}` {
		t.Errorf("%+v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if bad != 6 {
		t.Errorf("%d bad messages were told of", bad)
	}
}

// A side that takes requests tells of what it cannot read, unless it is quiet.
func TestConnGarbage(t *testing.T) {
	handle := func(context.Context, *Message) (json.RawMessage, error) { return nil, nil }
	_, loud := talk(t, 100, Handler{Request: handle})
	for line, want := range map[string]string{
		`{"jsonrpc":`:                           `"id":null,"error":{"code":-32700`,
		`{"jsonrpc":"1.0","id":5}`:              `"id":5,"error":{"code":-32600`,
		`[{}]`:                                  `"id":null,"error":{"code":-32600`,
		strings.Repeat("x", 300):                `"id":null,"error":{"code":-32600,"message":"the message is too long"`,
		`{"jsonrpc":"2.0","id":6,"method":"m"}`: `"id":6,"result":{}`,
	} {
		loud.say(line)
		if got := loud.hear(); !strings.Contains(got, want) {
			t.Errorf("%.40q is answered with %s", line, got)
		}
	}
	_, quiet := talk(t, 100, Handler{Request: handle, Quiet: true})
	quiet.say(`{"jsonrpc":`)
	quiet.say(strings.Repeat("x", 300))
	quiet.say(`{"jsonrpc":"2.0","id":6,"method":"m"}`)
	if got := quiet.hear(); !strings.Contains(got, `"id":6,"result":{}`) {
		t.Errorf("a quiet side said %s", got)
	}
}

// Whoever gives up tells the other side.
func TestConnCancelOurs(t *testing.T) {
	c, far := talk(t, 1<<20, Handler{})
	ctx, cancel := context.WithCancel(t.Context())
	one := ask(ctx, c, "one")
	far.hear()
	cancel()
	if got := far.hear(); got != `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"cancelled"}}` {
		t.Error(got)
	}
	if got := <-one; !errors.Is(got.err, context.Canceled) {
		t.Errorf("%+v", got)
	}
	far.say(`{"jsonrpc":"2.0","id":1,"result":{}}`) // too late
	if got := <-ask(ctx, c, "two"); !errors.Is(got.err, context.Canceled) {
		t.Errorf("%+v", got)
	}
	three := ask(t.Context(), c, "three")
	if got := far.hear(); !strings.Contains(got, "three") {
		t.Errorf("a call for nobody was sent: %s", got)
	}
	far.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	if got := <-three; got.err != nil {
		t.Errorf("%+v", got)
	}
}

// A request of the other side ends when it is cancelled, and is not answered.
func TestConnCancelTheirs(t *testing.T) {
	began := make(chan string, 4)
	ended := make(chan error, 4)
	_, far := talk(t, 1<<20, Handler{Request: func(ctx context.Context, m *Message) (json.RawMessage, error) {
		if m.Method == "quick" {
			return json.RawMessage(`{"q":1}`), nil
		}
		began <- string(m.ID)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}})
	far.say(`{"jsonrpc":"2.0","id":"a","method":"slow"}`)
	<-began
	far.say(`{"jsonrpc":"2.0","id":"a","method":"slow"}`)
	if got := far.hear(); !strings.Contains(got, `"id":"a","error":{"code":-32600`) {
		t.Errorf("an id in use is answered with %s", got)
	}
	far.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}}`)
	far.say(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	far.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	far.say(`{"jsonrpc":"2.0","id":"c","method":"quick"}`)
	if got := far.hear(); got != `{"jsonrpc":"2.0","id":"c","result":{"q":1}}` {
		t.Errorf("what was cancelled is answered: %s", got)
	}
	for { // the id is free again when the first has gone
		far.say(`{"jsonrpc":"2.0","id":"a","method":"quick"}`)
		if got := far.hear(); strings.Contains(got, `"result":{"q":1}`) {
			break
		}
	}
}

// A message of any length takes no more memory than is allowed.
func TestConnLongLine(t *testing.T) {
	c, far := talk(t, 1<<20, Handler{})
	one := ask(t.Context(), c, "one")
	far.hear()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 100 {
		if _, err := far.out.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	far.say("")
	far.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if got := <-one; got.err != nil {
		t.Errorf("%+v", got)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("a line of 100 MB took %d bytes", used)
	}
}

// The end of the other side ends every call and every request.
func TestConnHangUp(t *testing.T) {
	ended := make(chan struct{})
	began := make(chan struct{})
	c, far := talk(t, 1<<20, Handler{Request: func(ctx context.Context, _ *Message) (json.RawMessage, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}})
	var calls []<-chan answer
	for range 10 {
		calls = append(calls, ask(t.Context(), c, "one"))
		far.hear()
	}
	far.say(`{"jsonrpc":"2.0","id":"a","method":"slow"}`)
	<-began
	far.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	far.out.Close()
	for i, one := range calls {
		got := <-one
		if i == 0 && got.err != nil || i > 0 && !errors.Is(got.err, ErrClosed) {
			t.Errorf("call %d: %+v", i, got)
		}
	}
	<-ended
	<-c.Done()
	if err := c.Err(); !errors.Is(err, ErrClosed) || !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if got := <-ask(t.Context(), c, "late"); !errors.Is(got.err, ErrClosed) {
		t.Errorf("%+v", got)
	}
}

// No more requests are answered at once than are allowed; more wait, and what is too
// much for that is refused. One that waits can be cancelled.
func TestConnMost(t *testing.T) {
	release := make(chan struct{})
	var now, most, ran atomic.Int32
	_, far := talk(t, 1<<20, Handler{Most: 3, Request: func(ctx context.Context, _ *Message) (json.RawMessage, error) {
		ran.Add(1)
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		select {
		case <-release:
		case <-ctx.Done():
		}
		return json.RawMessage(`{}`), nil
	}})
	for i := range 49 {
		far.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"slow"}`, i))
	}
	if got := far.hear(); !strings.Contains(got, `"id":48,"error"`) || !strings.Contains(got, "too many") {
		t.Error(got)
	}
	for ran.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	// Whichever of them ran: none that is cancelled is answered.
	for i := range 40 {
		far.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
	}
	far.say(`{"jsonrpc":"2.0","id":"after","method":"slow"}`)
	close(release)
	for range 9 {
		if got := far.hear(); !strings.Contains(got, `"result":{}`) {
			t.Error(got)
		}
	}
	if most.Load() > 3 {
		t.Errorf("%d were answered at once", most.Load())
	}
}

// Requests that wait do not fill the memory.
func TestConnWaitingBytes(t *testing.T) {
	release, began := make(chan struct{}), make(chan struct{}, 4)
	c, far := talk(t, 1<<20, Handler{Most: 1, Request: func(ctx context.Context, _ *Message) (json.RawMessage, error) {
		began <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return json.RawMessage(`{}`), nil
	}})
	c.mu.Lock()
	c.room = 64 << 10
	c.mu.Unlock()
	large := `"` + strings.Repeat("x", 25<<10) + `"`
	for i := range 4 {
		far.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"slow","params":{"text":%s}}`, i, large))
		if i == 0 {
			<-began
		}
	}
	if got := far.hear(); !strings.Contains(got, `"error"`) || !strings.Contains(got, "too many") {
		t.Error(got)
	}
	close(release)
	for range 3 {
		if got := far.hear(); !strings.Contains(got, `"result":{}`) {
			t.Error(got)
		}
	}
}

// Notifications come one after another, in order, and before later answers.
func TestConnOrder(t *testing.T) {
	var got []string
	c, far := talk(t, 1<<20, Handler{Notification: func(m *Message) { got = append(got, string(m.Params)) }})
	one := ask(t.Context(), c, "one")
	far.hear()
	want := make([]string, 100)
	for i := range want {
		want[i] = fmt.Sprint(i)
		far.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":%d}`, i))
	}
	far.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	<-one
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%v", got)
	}
}

// stuck is a stream that takes nothing.
type stuck struct{ closed chan struct{} }

func (s stuck) Read() ([]byte, error) { <-s.closed; return nil, io.EOF }
func (s stuck) Write(ctx context.Context, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}
func (s stuck) Close() error { close(s.closed); return nil }

// A side that does not read holds up nobody who has given up.
func TestConnStuck(t *testing.T) {
	c := NewConn(t.Context(), stuck{make(chan struct{})}, Handler{})
	go func() { _ = c.Run() }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, "one", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
