package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// TestEachGetsItsOwnAnswer: on the original, whoever waits for a type takes
// the first answer, also the one meant for somebody else.
func TestEachGetsItsOwnAnswer(t *testing.T) {
	b := startBus(t, ServerConfig{})
	hosting := b.client(t, nil)
	first := make(chan struct{})
	host(t, hosting, "tool.call", func(m Message) json.RawMessage {
		if strings.Contains(string(m.Data), "slow") {
			<-first // the quick one is answered before
		}
		return m.Data
	})
	slow, quick := b.client(t, nil), b.client(t, nil)
	ctx := within(t)
	done := make(chan error)
	go func() {
		m, err := slow.Ask(ctx, Message{Type: "tool.call", Data: json.RawMessage(`{"a":"slow"}`)}, Answer{})
		if err == nil && string(m.Data) != `{"a":"slow"}` {
			err = fmt.Errorf("got another's answer: %s", m.Data)
		}
		done <- err
	}()
	seen := b.connect(t)
	for range 3 {
		m, err := quick.Ask(ctx, Message{Type: "tool.call", Data: json.RawMessage(`{"a":"quick"}`)}, Answer{})
		if err != nil || string(m.Data) != `{"a":"quick"}` {
			t.Fatalf("got %s, %v", m.Data, err)
		}
	}
	close(first)
	if err := <-done; err != nil {
		t.Error(err)
	}
	for range 3 {
		if m := decode(t, seen.read()); m.Text(CorrelationKey) == "" {
			t.Error("a request without correlation")
		}
	}
}

func TestAskFromManyGoroutines(t *testing.T) {
	b := startBus(t, ServerConfig{})
	host(t, b.client(t, func(cfg *ClientConfig) { cfg.QueueFrames = 5000 }), "echo", func(m Message) json.RawMessage { return m.Data })
	c := b.client(t, nil)
	ctx := within(t)
	var all sync.WaitGroup
	for g := range 40 {
		all.Go(func() {
			for i := range 10 {
				data := fmt.Sprintf(`{"g":%d,"i":%d}`, g, i)
				m, err := c.Ask(ctx, Message{Type: "echo", Data: json.RawMessage(data)}, Answer{})
				if err != nil || string(m.Data) != data {
					t.Errorf("asked %s, got %s, %v", data, m.Data, err)
					return
				}
			}
		})
	}
	all.Wait()
	c.subs.RLock()
	defer c.subs.RUnlock()
	if len(c.byID)+len(c.byType)+len(c.all) != 0 {
		t.Error("subscriptions were left behind")
	}
}

func TestAnswers(t *testing.T) {
	b := startBus(t, ServerConfig{})
	c := b.client(t, func(cfg *ClientConfig) { cfg.Source, cfg.Session = "me", "stable" })
	stranger := b.client(t, nil)
	sub := stranger.Subscribe(Filter{Types: []string{"q"}})
	ctx := within(t)
	ask := func(a Answer, answers func(q Message) []Message) (Message, error) {
		go func() {
			q, err := sub.Next(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			for _, m := range answers(q) {
				if err := stranger.Send(ctx, m); err != nil {
					t.Error(err)
				}
			}
		}()
		return c.Ask(ctx, Message{Type: "q"}, a)
	}
	data := func(n int) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)) }

	got, err := ask(Answer{Types: []string{"one", "two"}, Match: func(m Message) bool { return string(m.Data) != `{"n":3}` }}, func(q Message) []Message {
		if q.Text("source") != "me" || q.SessionID() != "stable" {
			t.Errorf("the request says it is from %q in session %q", q.Text("source"), q.SessionID())
		}
		return []Message{
			q.Response("", data(1)),      // not a type that is waited for
			{Type: "one", Data: data(2)}, // not an answer to this
			q.Reply("", "one", data(3)),  // not matched
			q.With(CorrelationKey, jsontext.Quote("x")).Forward("two", data(4)), // somebody else's
			q.Reply("", "two", data(5)),
		}
	})
	if err != nil || got.Type != "two" || string(got.Data) != `{"n":5}` {
		t.Errorf("got %s %s, %v", got.Type, got.Data, err)
	}

	got, err = ask(Answer{Loose: true}, func(q Message) []Message {
		return []Message{q.With(CorrelationKey, jsontext.Quote("x")).Forward("q.response", data(1)), {Type: "q.response", Data: data(2)}}
	})
	if err != nil || string(got.Data) != `{"n":2}` {
		t.Errorf("loose: got %s, %v", got.Data, err)
	}
}

func TestTimeoutIsClear(t *testing.T) {
	b := startBus(t, ServerConfig{})
	c := b.client(t, func(cfg *ClientConfig) { cfg.AnswerTimeout = 20 * time.Millisecond })
	_, err := c.Ask(context.Background(), Message{Type: "nobody"}, Answer{})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "nobody.response") {
		t.Errorf("got %v", err)
	}
}

func TestCollect(t *testing.T) {
	b := startBus(t, ServerConfig{})
	ctx := within(t)
	for n := range 5 {
		host(t, b.client(t, nil), "discover", func(Message) json.RawMessage {
			return json.RawMessage(fmt.Sprintf(`{"toolbox_id":"box%d"}`, n))
		})
	}
	c := b.client(t, nil)
	// The window ends early once all are there; the test need not wait for it.
	window, cancel := context.WithCancelCause(ctx)
	enough := errors.New("enough")
	seen := map[string]bool{}
	answers, err := c.Collect(window, Message{Type: "discover"}, Answer{Match: func(m Message) bool {
		if seen[string(m.Data)] = true; len(seen) == 5 {
			time.AfterFunc(10*time.Millisecond, func() { cancel(enough) })
		}
		return true
	}}, patience)
	if len(answers) != 5 || !errors.Is(err, enough) {
		t.Errorf("%d answers, %v", len(answers), err)
	}
	answers, err = c.Collect(ctx, Message{Type: "nobody"}, Answer{}, 10*time.Millisecond)
	if len(answers) != 0 || err != nil {
		t.Errorf("from nobody: %d answers, %v", len(answers), err)
	}
}

func TestFullSubscriptionsLoseAndSay(t *testing.T) {
	b := startBus(t, ServerConfig{})
	c := b.client(t, func(cfg *ClientConfig) { cfg.QueueFrames, cfg.QueueBytes = 3, 3000 })
	few, large, all := c.Subscribe(Filter{Types: []string{"t"}}), c.Subscribe(Filter{Types: []string{"large"}}), b.client(t, nil).Subscribe(Filter{})
	ctx := within(t)
	for i := range 5 {
		if err := c.Send(ctx, Message{Type: "t", Data: json.RawMessage(fmt.Sprintf(`{"i":%d}`, i))}); err != nil {
			t.Fatal(err)
		}
	}
	data := json.RawMessage(`{"x":"` + strings.Repeat("x", 2000) + `"}`)
	for range 2 {
		if err := c.Send(ctx, Message{Type: "large", Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	for got := 0; got < 7; { // without the greeting
		m, err := all.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if m.Type == "t" || m.Type == "large" {
			got++
		}
	}
	eventually(t, "the losses are counted", func() bool { return few.Lost() == 2 && large.Lost() == 1 })
	for i := range 3 {
		if m, err := few.Next(ctx); err != nil || string(m.Data) != fmt.Sprintf(`{"i":%d}`, i) {
			t.Errorf("got %s, %v", m.Data, err)
		}
	}
	if _, err := large.Next(ctx); err != nil {
		t.Error(err)
	}
	if err := c.Send(ctx, Message{Type: "large", Data: data}); err != nil {
		t.Fatal(err)
	}
	if _, err := large.Next(ctx); err != nil {
		t.Errorf("after it was emptied: %v", err)
	}
	few.Close()
	if _, err := few.Next(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestNoBus(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	c, err := Open(ClientConfig{URL: "ws://" + addr + "/core?token=hush", ConnectWait: 30 * time.Millisecond, BackoffMin: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Ask(within(t), Message{Type: "q"}, Answer{})
	if !errors.Is(err, ErrNotConnected) || strings.Contains(err.Error(), "hush") {
		t.Errorf("got %v", err)
	}
	t.Log(err)
	sub := c.Subscribe(Filter{})
	waiting := make(chan error)
	go func() {
		_, err := sub.Next(context.Background())
		waiting <- err
	}()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-waiting; !errors.Is(err, ErrClosed) {
		t.Errorf("waiting: %v", err)
	}
	if err := c.Send(within(t), Message{Type: "q"}); !errors.Is(err, ErrClosed) {
		t.Errorf("sending: %v", err)
	}
	if err := c.Ready(within(t)); !errors.Is(err, ErrClosed) {
		t.Errorf("ready: %v", err)
	}
	if _, err := c.Subscribe(Filter{}).Next(within(t)); !errors.Is(err, ErrClosed) {
		t.Errorf("a subscription of a closed client: %v", err)
	}
	for _, bad := range []string{"http://a/core", "127.0.0.1:8181", "ws://", "ws://a b"} {
		if c, err := Open(ClientConfig{URL: bad}); err == nil {
			c.Close()
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestSendRefusesWhatTheBusWouldNotTake(t *testing.T) {
	b := startBus(t, ServerConfig{})
	c := b.client(t, func(cfg *ClientConfig) { cfg.MaxFrame = 1000 })
	ctx := within(t)
	large := Message{Type: "t", Data: json.RawMessage(`{"x":"` + strings.Repeat("x", 1000) + `"}`)}
	if err := c.Send(ctx, large); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if err := c.Send(ctx, Message{Type: "t", Data: json.RawMessage(`{"x":NaN}`)}); err == nil {
		t.Error("NaN went out")
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := c.Send(gone, Message{Type: "t"}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if got := b.Stats().Received; got != 0 {
		t.Errorf("%d frames arrived", got)
	}
}

// TestLastWords: what was sent before Close arrives, on a busy bus too.
func TestLastWords(t *testing.T) {
	b := startBus(t, ServerConfig{})
	watcher := b.client(t, nil)
	last := watcher.Subscribe(Filter{Types: []string{"last"}})
	noise := b.connect(t)
	go func() {
		for {
			if _, err := noise.tryRead(); err != nil {
				return
			}
		}
	}()
	ctx := within(t)
	for i := range 20 {
		c := b.client(t, nil)
		for range 20 {
			noise.send(`{"type":"noise","data":{"x":"` + strings.Repeat("x", 500) + `"}}`)
		}
		want := fmt.Sprintf(`{"i":%d}`, i)
		if err := c.Send(ctx, Message{Type: "last", Data: json.RawMessage(want)}); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if m, err := last.Next(ctx); err != nil || string(m.Data) != want {
			t.Fatalf("got %s, %v", m.Data, err)
		}
	}
}
