package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestTheBusGoesAndComesBackTenTimes: while calls run, nothing is executed
// twice, the host still hears requests, and each caller gets its own answer or
// a clear error.
func TestTheBusGoesAndComesBackTenTimes(t *testing.T) {
	b := startBus(t, ServerConfig{})
	addr := b.addr
	hosting := b.client(t, func(cfg *ClientConfig) { cfg.QueueFrames = 5000 })
	var executed sync.Map
	host(t, hosting, "tool.call", func(m Message) json.RawMessage {
		if _, twice := executed.LoadOrStore(string(m.Data), true); twice {
			t.Errorf("%s was executed twice", m.Data)
		}
		return m.Data
	})

	stop := make(chan struct{})
	var callers sync.WaitGroup
	var answered, failed atomic.Int64
	for n := range 4 {
		c := b.client(t, func(cfg *ClientConfig) { cfg.ConnectWait = 200 * time.Millisecond })
		for g := range 2 {
			callers.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					data := fmt.Sprintf(`{"caller":"%d-%d","i":%d}`, n, g, i)
					ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
					m, err := c.Ask(ctx, Message{Type: "tool.call", Data: json.RawMessage(data)}, Answer{})
					cancel()
					switch {
					case err == nil && string(m.Data) == data:
						answered.Add(1)
					case errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrNotConnected), errors.Is(err, ErrUncertain):
						failed.Add(1)
					default:
						t.Errorf("%s: got %s, %v", data, m.Data, err)
					}
				}
			})
		}
	}
	for round := range 10 {
		before := answered.Load()
		eventually(t, fmt.Sprintf("answers in round %d", round), func() bool { return answered.Load() > before+5 })
		b.stop()
		b = startBus(t, ServerConfig{Addr: addr})
	}
	before := answered.Load()
	eventually(t, "answers at the end", func() bool { return answered.Load() > before+5 })
	close(stop)
	callers.Wait()
	t.Logf("%d calls answered, %d failed, the host reconnected %d times", answered.Load(), failed.Load(), hosting.breaks())
}

// TestAnswersOutliveTheConnection: a slow tool's answer comes over the next
// connection, and the request is not sent again.
func TestAnswersOutliveTheConnection(t *testing.T) {
	b := startBus(t, ServerConfig{})
	addr := b.addr
	hosting := b.client(t, nil)
	got, goOn := make(chan struct{}, 10), make(chan struct{})
	host(t, hosting, "slow", func(Message) json.RawMessage {
		got <- struct{}{}
		<-goOn
		return json.RawMessage(`{"result":1}`)
	})
	var changes []bool
	var mu sync.Mutex
	c := b.client(t, func(cfg *ClientConfig) {
		cfg.Changed = func(connected bool, cause error) {
			mu.Lock()
			defer mu.Unlock()
			if !connected && cause == nil {
				t.Error("the bus went without a cause")
			}
			changes = append(changes, connected)
		}
	})
	answer := make(chan error, 1)
	go func() {
		_, err := c.Ask(within(t), Message{Type: "slow"}, Answer{})
		answer <- err
	}()
	<-got
	b.stop()
	b = startBus(t, ServerConfig{Addr: addr})
	eventually(t, "both are back", func() bool { return b.Stats().Clients == 2 })
	close(goOn)
	if err := <-answer; err != nil {
		t.Error(err)
	}
	if len(got) != 0 {
		t.Error("the request was sent twice")
	}
	mu.Lock()
	defer mu.Unlock()
	if fmt.Sprint(changes) != "[true false true]" {
		t.Errorf("the bus was seen as %v", changes)
	}
}

// TestBackoff: a bus that hangs up at once is not called in a tight loop, and
// one that takes connections and says nothing does not hold the client.
func TestBackoff(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var tries atomic.Int64
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			tries.Add(1)
			conn.Close()
		}
	}()
	c, err := Open(ClientConfig{URL: "ws://" + ln.Addr().String() + "/core", BackoffMin: 20 * time.Millisecond, BackoffMax: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	// Pauses of at least 10, 20, 40, 80, 160 ms fit into it.
	if n := tries.Load(); n < 1 || n > 6 {
		t.Errorf("%d tries", n)
	}
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > patience/2 {
		t.Errorf("closing took %v", took)
	}
}

// TestADeadConnectionIsNoticed: a bus that takes frames and never answers a
// ping is given up.
func TestADeadConnectionIsNoticed(t *testing.T) {
	b := startBus(t, ServerConfig{})
	proxy := newDeafProxy(t, b.addr)
	c, err := Open(ClientConfig{URL: "ws://" + proxy.addr + "/core", PingEvery: 30 * time.Millisecond, BackoffMin: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ready(t, c)
	proxy.deaf.Store(true)
	eventually(t, "the dead connection is given up", func() bool { return c.breaks() > 0 })
}

// deafProxy passes bytes on until it is deaf; then it swallows them.
type deafProxy struct {
	addr string
	deaf atomic.Bool
}

func newDeafProxy(t *testing.T, to string) *deafProxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	p := &deafProxy{addr: ln.Addr().String()}
	pass := func(from, to net.Conn) {
		defer to.Close()
		buf := make([]byte, 4096)
		for {
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			if p.deaf.Load() {
				continue
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			go pass(in, out)
			go pass(out, in)
		}
	}()
	return p
}
