package bus

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestACrowdWithOneThatNeverReads: 200 clients, one of which takes nothing.
// The others get every frame while the server still carries the deaf one, it
// is dropped in the end, and the memory stays within the bounds.
func TestACrowdWithOneThatNeverReads(t *testing.T) {
	const (
		clients    = 200
		queueBytes = 512 << 10
		payload    = 8 << 10
		rounds     = 10
		perRound   = 20
	)
	b := startBus(t, ServerConfig{QueueBytes: queueBytes, WriteTimeout: time.Minute})
	deaf := b.socket(t)
	if err := deaf.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	var got [clients - 1]atomic.Int64
	var conns []*plain
	for i := range clients - 1 {
		c := b.connect(t)
		conns = append(conns, c)
		go func() {
			buf := make([]byte, 16<<10)
			for {
				_, r, err := c.Reader(context.Background())
				if err != nil {
					return
				}
				for err == nil {
					_, err = r.Read(buf)
				}
				got[i].Add(1)
			}
		}()
	}
	before := heap()
	frame := `{"type":"noise","data":{"x":"` + strings.Repeat("x", payload) + `"}}`
	var slowest time.Duration
	var queued int64
	sent := int64(0)
	for round := range rounds {
		began := time.Now()
		for range perRound {
			conns[round].send(frame)
			sent++
		}
		eventually(t, fmt.Sprintf("round %d reaches everyone", round), func() bool {
			queued = max(queued, b.Stats().Queued)
			for i := range got {
				if got[i].Load() < sent {
					return false
				}
			}
			return true
		})
		slowest = max(slowest, time.Since(began))
		if round == 0 && b.Stats().Clients != clients {
			t.Error("the deaf one is gone before it could hold anybody up")
		}
	}
	stats := b.Stats()
	if stats.Slow != 1 || stats.Clients != clients-1 {
		t.Errorf("%d clients were dropped, %d are left", stats.Slow, stats.Clients)
	}
	if limit := int64(queueBytes + 2*payload); queued > limit {
		t.Errorf("%d bytes were queued, the limit is %d", queued, limit)
	}
	grown := int64(heap()) - int64(before)
	if limit := int64(64 << 20); grown > limit {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	t.Logf("%d frames of %d kB to %d clients, slowest round of %d took %v, queued at most %d kB, heap %+d kB", sent, payload>>10, clients-1, perRound, slowest, queued>>10, grown>>10)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestADeafClientIsDroppedInTime: without much traffic a client that takes
// nothing does not stay for ever either.
func TestADeafClientIsDroppedInTime(t *testing.T) {
	b := startBus(t, ServerConfig{WriteTimeout: 100 * time.Millisecond})
	deaf := b.socket(t)
	if err := deaf.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	c := b.connect(t)
	frame := `{"type":"noise","data":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`
	for range 3 {
		c.send(frame)
		if got := c.read(); got != frame {
			t.Fatal("it came out different")
		}
	}
	eventually(t, "the deaf client is dropped", func() bool { return b.Stats().Clients == 1 })
	if got := b.Stats().Slow; got != 1 {
		t.Errorf("%d clients were dropped for being slow", got)
	}
	eventually(t, "nothing is kept for it", func() bool { return b.Stats().Queued == 0 })
}

// TestAFloodIsHeld: a client that sends in a tight loop without reading is
// read no further, keeps its place, and goes on when it reads its echoes.
func TestAFloodIsHeld(t *testing.T) {
	const frames = 6000
	b := startBus(t, ServerConfig{QueueFrames: 2000})
	flood := b.socket(t)
	payload := []byte(`{"type":"flood","data":{"x":"` + strings.Repeat("x", 1000) + `"}}`)
	written := make(chan error, 1)
	go func() {
		_, err := flood.Write(bytes.Repeat(maskedFrame(0x81, payload), frames))
		written <- err
	}()
	held := func() bool {
		b.feed.mu.Lock()
		defer b.feed.mu.Unlock()
		for _, at := range b.feed.peers {
			if at.held {
				return true
			}
		}
		return false
	}
	eventually(t, "the flood is held", held)
	if got := b.Stats().Received; got >= frames {
		t.Errorf("all %d frames were taken from a client that reads none", got)
	}
	other := b.connect(t)
	other.send(`{"type":"other"}`)
	if got := other.read(); got != `{"type":"other"}` {
		t.Errorf("while it is held somebody else gets %.80s", got)
	}
	other.CloseNow()
	echoes := int64(2+len(Greeting)) + frames*int64(4+len(payload)) + int64(2+len(`{"type":"other"}`))
	if n, err := io.CopyN(io.Discard, flood, echoes); err != nil {
		t.Errorf("%d of %d bytes came back: %v", n, echoes, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if got := b.Stats().Slow; got != 0 {
		t.Errorf("%d clients were dropped", got)
	}
}
