package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// ledger counts by whom each numbered call was carried out and answered.
type ledger struct {
	mu      sync.Mutex
	ran     map[int][]string
	answers map[int][]json.RawMessage
}

func newLedger() *ledger {
	return &ledger{ran: map[int][]string{}, answers: map[int][]json.RawMessage{}}
}

func (l *ledger) run(n int, by string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran[n] = append(l.ran[n], by)
}

func (l *ledger) answered(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.answers[n])
}

// once fails for calls that were carried out or answered more than once.
func (l *ledger) once(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for n, by := range l.ran {
		if len(by) > 1 {
			t.Errorf("call %d was carried out by %v", n, by)
		}
	}
	for n, all := range l.answers {
		if len(all) > 1 {
			t.Errorf("call %d was answered by %s", n, all)
		}
	}
}

// counting is a box whose one tool notes that it ran.
type counting struct {
	name, by string
	ledger   *ledger
}

func (b counting) Name() string { return b.name }

func (b counting) Tools(context.Context) ([]toolcrib.Tool, error) {
	return []toolcrib.Tool{tool(b.name+"_it", func(_ context.Context, input json.RawMessage) (*toolcrib.Result, error) {
		var in struct{ N int }
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, err
		}
		b.ledger.run(in.N, b.by)
		return &toolcrib.Result{Value: fmt.Appendf(nil, `{"by":%q}`, b.by)}, nil
	})}, nil
}

// around is how long the hosts of these tests ask around, at least.
const around = 60 * time.Millisecond

// besides gives a host on a bus of somebody else with these boxes.
func besides(t testing.TB, url, by string, l *ledger, boxes ...string) (stop func()) {
	t.Helper()
	var more []toolcrib.Toolbox
	for _, name := range boxes {
		more = append(more, counting{name, by, l})
	}
	r := furnish(t, setup{more: more})
	cfg := r.config()
	cfg.Serve, cfg.Bus.URL, cfg.Around, cfg.ID = nil, url, around, by
	_, stop = serve(t, cfg)
	return stop
}

// aBus serves a bus alone; stop ends it, and again begins it at the same place.
type aBus struct {
	t    testing.TB
	addr string
	end  func()
}

func busHere(t testing.TB) *aBus {
	t.Helper()
	b := &aBus{t: t, addr: "127.0.0.1:0"}
	b.begin()
	t.Cleanup(func() { b.end() })
	return b
}

func (b *aBus) url() string { return "ws://" + b.addr + bus.DefaultPath }

func (b *aBus) begin() {
	b.t.Helper()
	server, err := bus.NewServer(bus.ServerConfig{Addr: b.addr})
	if err != nil {
		b.t.Fatal(err)
	}
	var ln net.Listener
	for limit := time.Now().Add(patience); ; { // the place may be taken for a moment yet
		if ln, err = server.Listen(context.Background()); err == nil {
			break
		}
		if time.Now().After(limit) {
			b.t.Fatal(err)
		}
	}
	b.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, ln) }()
	b.end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
	})
}

// fieldHost is a host as they are in the field: it answers everything, asks nobody,
// says nothing when it comes or goes, and gives back the context as it was.
type fieldHost struct {
	client *bus.Client
	ledger *ledger
	boxes  []string // each has one tool, <box>_it
	serves bool     // ovos.tools.*
	done   chan struct{}
	slow   atomic.Int64 // nanoseconds that a tool takes
}

func fieldAt(t testing.TB, url string, l *ledger, serves bool, boxes ...string) *fieldHost {
	t.Helper()
	client, err := bus.Open(bus.ClientConfig{URL: url, BackoffMin: 5 * time.Millisecond, BackoffMax: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	f := &fieldHost{client: client, ledger: l, boxes: boxes, serves: serves, done: make(chan struct{})}
	sub := client.Subscribe(bus.Filter{Prefixes: []string{"ovos.tools.", "ovos.persona.tools."}})
	if err := client.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(f.done)
		for {
			m, err := sub.Next(context.Background())
			if err != nil {
				return
			}
			go f.hear(m) // it has a pool of threads
		}
	}()
	t.Cleanup(f.leave)
	return f
}

func (f *fieldHost) leave() {
	_ = f.client.Close() // it ends as one that is killed
	<-f.done
}

func (f *fieldHost) hear(m bus.Message) {
	var data struct {
		Name   any
		Args   struct{ N int }
		Kwargs struct{ N int }
	}
	if strings.HasSuffix(m.Type, ".response") || json.Unmarshal(m.Data, &data) != nil {
		return
	}
	answer := func(text string) {
		out := bus.Message{Type: m.Type + ".response", Data: json.RawMessage(text), Context: m.Context}
		_ = f.client.Send(context.Background(), out) // the bus may be gone
	}
	if m.Type == "ovos.persona.tools.discover" {
		for _, id := range f.boxes {
			answer(`{"tools":[],"toolbox_id":"` + id + `"}`)
		}
		return
	}
	name, _ := data.Name.(string)
	box := strings.TrimSuffix(name, "_it")
	has := slices.Contains(f.boxes, box) && box != name
	if id, ok := strings.CutSuffix(strings.TrimPrefix(m.Type, "ovos.persona.tools."), ".call"); ok && slices.Contains(f.boxes, id) {
		switch {
		case data.Name != nil && name == "":
			answer(`{"error":"TypeError: unhashable type: 'list'","toolbox_id":"` + id + `"}`)
		case box != id:
			answer(`{"error":"ValueError: Unknown tool","toolbox_id":"` + id + `"}`)
		default:
			f.ledger.run(data.Kwargs.N, "field")
			time.Sleep(time.Duration(f.slow.Load()))
			answer(`{"result":{"by":"field"},"toolbox_id":"` + id + `"}`)
		}
		return
	}
	switch {
	case !f.serves:
	case m.Type == "ovos.tools.list":
		answer(`{"tools":[]}`)
	case name == "" && (m.Type == "ovos.tools.get" || m.Type == "ovos.tools.invoke"):
		answer(`{"error":"Missing required field: 'name'"}`)
	case m.Type == "ovos.tools.invoke" && !has, m.Type == "ovos.tools.get" && !has:
		answer(`{"name":"` + name + `","error":"Unknown tool: '` + name + `'"}`)
	case m.Type == "ovos.tools.get":
		answer(`{"name":"` + name + `"}`)
	case m.Type == "ovos.tools.invoke":
		f.ledger.run(data.Args.N, "field")
		answer(`{"name":"` + name + `","result":{"by":"field"}}`)
	}
}

// crowd sends numbered calls and collects all answers.
type crowd struct {
	t      testing.TB
	client *bus.Client
	ledger *ledger
	last   int
}

func newCrowd(t testing.TB, url string, l *ledger) *crowd {
	t.Helper()
	client, err := bus.Open(bus.ClientConfig{URL: url, BackoffMin: 5 * time.Millisecond, BackoffMax: 50 * time.Millisecond, QueueFrames: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	sub := client.Subscribe(bus.Filter{Prefixes: []string{"ovos.tools.", "ovos.persona.tools."}, Match: func(m bus.Message) bool {
		return m.Context["n"] != nil && strings.HasSuffix(m.Type, ".response")
	}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			m, err := sub.Next(context.Background())
			if err != nil {
				return
			}
			var n int
			if json.Unmarshal(m.Context["n"], &n) == nil {
				l.mu.Lock()
				l.answers[n] = append(l.answers[n], m.Data)
				l.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		_ = client.Close()
		<-done
	})
	if err := client.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &crowd{t: t, client: client, ledger: l}
}

// call sends one call; whether it arrives is not its concern.
func (c *crowd) call(typ, tool, args string) int {
	c.last++
	data := fmt.Sprintf(`{"name":%q,%q:{"n":%d}}`, tool, args, c.last)
	_ = c.client.Send(c.t.Context(), bus.Message{Type: typ, Data: json.RawMessage(data), Context: map[string]json.RawMessage{"n": fmt.Append(nil, c.last), "session": json.RawMessage(`{"session_id":"default"}`)}})
	return c.last
}

func (c *crowd) invoke(box string) int { return c.call("ovos.tools.invoke", box+"_it", "args") }
func (c *crowd) persona(box string) int {
	return c.call("ovos.persona.tools."+box+".call", box+"_it", "kwargs")
}

// by is who carried out a call that was answered; empty: nobody did.
func (l *ledger) by(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var is struct {
		Result struct{ By string }
	}
	if len(l.answers[n]) == 0 || json.Unmarshal(l.answers[n][0], &is) != nil {
		return ""
	}
	return is.Result.By
}

// soon is who carried out a call, if that is known before long.
func (c *crowd) soon(n int) string {
	for limit := time.Now().Add(8 * around); c.ledger.answered(n) == 0 && time.Now().Before(limit); {
		time.Sleep(5 * time.Millisecond)
	}
	return c.ledger.by(n)
}

// until calls until somebody in particular carries it out, and gives up late.
func (c *crowd) until(by string, call func() int) {
	const anybody = "anybody"
	c.t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); {
		if who := c.soon(call()); who == by || by == anybody && who != "" {
			return
		}
	}
	c.t.Fatalf("%s never carries it out", by)
}

// rest waits until these calls are answered.
func (c *crowd) rest(calls ...int) {
	c.t.Helper()
	for limit := time.Now().Add(patience); ; {
		open := slices.IndexFunc(calls, func(n int) bool { return c.ledger.answered(n) == 0 })
		if open < 0 {
			return
		}
		if time.Now().After(limit) {
			c.t.Fatalf("call %d of %d is never answered", calls[open], len(calls))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// count is how many calls somebody carried out.
func (l *ledger) count(by string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, all := range l.ran {
		if slices.Contains(all, by) {
			n++
		}
	}
	return n
}

// total is how many calls were answered.
func (l *ledger) total() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.answers)
}
