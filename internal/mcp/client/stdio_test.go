package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// A server that does what it must not: the call gets a clear error, and what
// can go on does.
func TestStdioBadServer(t *testing.T) {
	f := &fake{}
	f.handle = old(func(f *fake, m *mcp.Message) {
		switch toolOf(m) {
		case "twice":
			f.answer(m, `{"n":1}`)
			f.answer(m, `{"n":2}`)
		case "garbage":
			f.say("Listening on port 3000")
			f.say(`{"jsonrpc":"2.0","id":`)
			f.say(`[1,2]`)
			f.say(`{"jsonrpc":"2.0","id":"unknown","result":{}}`)
			f.say(`{"jsonrpc":"1.0","id":7,"result":{}}`)
			f.answer(m, `{"n":3}`)
		case "flood":
			for i := range 20_000 {
				f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":%d}}`, i))
			}
			f.answer(m, `{"n":4}`)
		case "long":
			f.mu.Lock()
			out := f.out
			f.mu.Unlock()
			chunk := []byte(strings.Repeat("x", 1<<20))
			for range 100 {
				if _, err := out.Write(chunk); err != nil {
					return
				}
			}
			f.say("")
		case "fine":
			f.answer(m, `{"n":5}`)
		case "silent":
		}
	})
	leaks(t)
	s := open(t, Config{Transport: Stdio{Start: f.start}, Version: mcp.Legacy, Most: 1 << 20})
	do := func(tool string) (string, error) {
		result, err := s.Do(t.Context(), Call{Method: "tools/call", Params: params(tool)})
		return string(result), err
	}
	for tool, want := range map[string]string{"twice": `{"n":1}`, "garbage": `{"n":3}`, "flood": `{"n":4}`, "fine": `{"n":5}`} {
		for range 2 {
			if got, err := do(tool); err != nil || got != want {
				t.Errorf("%s: %s, %v", tool, got, err)
			}
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := do("long"); !errors.Is(err, mcp.ErrTooLong) || !strings.Contains(err.Error(), "1048576") {
		t.Errorf("a message of 100 MB: %v", err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 20<<20 {
		t.Errorf("a message of 100 MB took %d bytes of memory", used)
	}
	if got, err := do("fine"); err != nil || got != `{"n":5}` {
		t.Errorf("after it: %s, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Do(ctx, Call{Method: "tools/call", Params: params("silent")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no answer: %v", err)
	}
	if got, err := do("fine"); err != nil || got != `{"n":5}` {
		t.Errorf("after no answer: %s, %v", got, err)
	}
	if !strings.Contains(f.heard(), "notifications/cancelled") {
		t.Error("it was not told that nobody waits")
	}
}

// The end of the program ends every call, and says how it ended.
func TestStdioDies(t *testing.T) {
	leaks(t)
	f := &fake{ended: errors.New("exit status 7")}
	f.handle = modern(func(f *fake, m *mcp.Message) {
		if toolOf(m) == "die" {
			f.stop()
		}
	})
	s := open(t, Config{Transport: Stdio{Start: f.start}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := s.Do(t.Context(), Call{Method: "tools/call", Params: params("wait")})
			if !errors.Is(err, mcp.ErrClosed) || !strings.Contains(err.Error(), "exit status 7") {
				t.Errorf("a call under way: %v", err)
			}
		})
	}
	if _, err := s.Do(t.Context(), Call{Method: "tools/call", Params: params("die")}); !errors.Is(err, mcp.ErrClosed) {
		t.Errorf("the call that killed it: %v", err)
	}
	wg.Wait()
	<-s.Done()
	if err := s.Err(); !errors.Is(err, mcp.ErrClosed) {
		t.Error(err)
	}
	sent := false
	if _, err := s.Do(t.Context(), Call{Method: "tools/call", Params: params("x"), Sent: func() { sent = true }}); !errors.Is(err, mcp.ErrClosed) || sent {
		t.Errorf("a call after the end: %v, sent %t", err, sent)
	}
	if f.starts != 1 {
		t.Errorf("it was started %d times", f.starts)
	}
}

// A program whose child holds its output open has ended all the same.
func TestStdioOrphan(t *testing.T) {
	leaks(t)
	f := &fake{handle: modern(nothing)}
	done := make(chan struct{})
	s := open(t, Config{Transport: Stdio{Start: func(ctx context.Context) (Process, error) {
		p, err := f.start(ctx)
		p.Done = done
		return p, err
	}}})
	close(done) // and its output stays open
	select {
	case <-s.Done():
	case <-time.After(20 * time.Second):
		t.Error("the session goes on without its program")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	f.stop()
}

// A program that stops reading holds up nobody.
func TestStdioDeaf(t *testing.T) {
	leaks(t)
	wait := make(chan struct{})
	f := &fake{stubborn: true}
	f.handle = modern(func(*fake, *mcp.Message) { <-wait })
	s := open(t, Config{Transport: Stdio{Start: f.start}})
	large, err := json.Marshal(map[string]string{"name": "x", "arguments": strings.Repeat("a", 1<<16)})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 24 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := s.Do(ctx, Call{Method: "tools/call", Params: large}); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	f.mu.Lock()
	if !f.killed {
		t.Error("it was not killed")
	}
	f.mu.Unlock()
	close(wait)
}

// Close ends the calls under way.
func TestStdioClose(t *testing.T) {
	leaks(t)
	f := &fake{handle: modern(nothing)}
	s := open(t, Config{Transport: Stdio{Start: f.start}})
	result := make(chan error, 1)
	sent := make(chan struct{})
	go func() {
		_, err := s.Do(t.Context(), Call{Method: "tools/call", Params: params("x"), Sent: func() { close(sent) }})
		result <- err
	}()
	<-sent
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-result; !errors.Is(err, mcp.ErrClosed) {
		t.Error(err)
	}
}

// Which call a question of a legacy server is put to.
func TestLegacyQuestions(t *testing.T) {
	leaks(t)
	f := &fake{}
	answers, calls := make(chan *mcp.Message, 1), make(chan *mcp.Message, 10)
	f.handle = old(func(f *fake, m *mcp.Message) {
		switch {
		case m.IsAnswer():
			answers <- m
		case m.Method == mcp.MethodToolsCall:
			calls <- m
		}
	})
	s := open(t, Config{Transport: Stdio{Start: f.start}, Version: mcp.Legacy})
	ask := func(method string) string {
		f.say(`{"jsonrpc":"2.0","id":"q","method":"` + method + `","params":{"m":1}}`)
		select {
		case m := <-answers:
			if m.Error != nil {
				return fmt.Sprint(m.Error.Code)
			}
			return string(m.Result)
		case <-time.After(20 * time.Second):
			t.Fatal("a question was not answered")
			return ""
		}
	}
	begun := 0
	begin := func(who, reply string) (end func()) {
		begun++
		ctx, cancel := context.WithCancel(t.Context())
		sent, done := make(chan struct{}), make(chan struct{})
		c := Call{Method: "tools/call", Params: params(fmt.Sprint("call", begun)), For: who, Sent: func() { close(sent) }}
		if reply != "" {
			c.Ask = func(_ context.Context, requests map[string]mcp.Request) (map[string]json.RawMessage, error) {
				out := map[string]json.RawMessage{}
				for key := range requests {
					out[key] = json.RawMessage(reply)
				}
				return out, nil
			}
		}
		go func() {
			defer close(done)
			_, _ = s.Do(ctx, c)
		}()
		<-sent
		return func() { cancel(); <-done }
	}
	check := func(what, method, want string) {
		t.Helper()
		if got := ask(method); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	check("ping", mcp.MethodPing, "{}")
	check("no call", mcp.MethodElicit, "-32601")
	mute := begin("", "")
	check("a call that cannot be asked", mcp.MethodElicit, "-32601")
	one := begin("ann", `{"a":1}`)
	check("one call", mcp.MethodElicit, `{"a":1}`)
	check("one call, folders", mcp.MethodRoots, `{"a":1}`)
	check("what is not known", "something/else", "-32601")
	same := begin("ann", `{"a":1}`)
	check("two for the same", mcp.MethodSample, `{"a":1}`)
	other := begin("bob", `{"b":1}`)
	check("two for different ones", mcp.MethodElicit, "-32600")
	check("ping meanwhile", mcp.MethodPing, "{}")
	one()
	check("two for different ones still", mcp.MethodElicit, "-32600")
	same()
	check("the other, of whom the server may not mean", mcp.MethodElicit, "-32600")
	// They may come in another order than they were begun in.
	came := map[string]*mcp.Message{}
	answer := func(name string) {
		t.Helper()
		for came[name] == nil {
			select {
			case m := <-calls:
				came[string(m.Params)] = m
			case <-time.After(20 * time.Second):
				t.Fatalf("%s did not come", name)
			}
		}
		f.answer(came[name], `{}`)
	}
	answer(string(params("call2")))
	check("the other, with one that the server is still at", mcp.MethodElicit, "-32600")
	answer(string(params("call3")))
	check("the other alone", mcp.MethodElicit, `{"b":1}`)
	nameless := begin("", `{"c":1}`)
	check("one without a name", mcp.MethodElicit, "-32600")
	nameless()
	other()
	mute()
	check("all have ended", mcp.MethodElicit, "-32601")
}
