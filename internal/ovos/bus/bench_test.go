package bus

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// BenchmarkFanOut sends messages of 200 bytes to ten clients in this process,
// which shares the cores with them. An operation is one message with all ten
// deliveries; msg/s is how many of those.
func BenchmarkFanOut(b *testing.B) {
	b.Run("sockets", func(b *testing.B) {
		fanOut(b, func(server *bus, took *atomic.Int64) {
			conn := server.socket(b)
			if err := conn.SetDeadline(time.Time{}); err != nil {
				b.Fatal(err)
			}
			go countBytes(conn, took)
		})
	})
	b.Run("clients", func(b *testing.B) {
		fanOut(b, func(server *bus, took *atomic.Int64) {
			c := server.client(b, nil)
			c.Subscribe(Filter{Types: []string{"bench"}, Match: func(Message) bool {
				took.Add(1)
				return false
			}})
		})
	})
}

const benchMessage = `{"type":"bench","data":{"utterances":["what is the weather like in lawrence today"],"lang":"en-US","n":12345},"context":{"source":"bench","destination":"all","session":{"session_id":"default"}}}`

func fanOut(b *testing.B, listen func(*bus, *atomic.Int64)) {
	const receivers = 10
	server := startBus(b, ServerConfig{})
	var took [receivers]atomic.Int64
	for i := range took {
		listen(server, &took[i])
	}
	sender := server.connect(b)
	var echoed atomic.Int64
	room := make(chan struct{}, 2000) // how many may be under way
	go func() {
		for {
			_, r, err := sender.Reader(context.Background())
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				return
			}
			echoed.Add(1)
			<-room
		}
	}()
	frame := []byte(benchMessage)
	b.SetBytes(int64(len(frame) * receivers))
	b.ResetTimer()
	for range b.N {
		room <- struct{}{}
		if err := sender.Write(context.Background(), websocket.MessageText, frame); err != nil {
			b.Fatal(err)
		}
	}
	eventually(b, "all are there", func() bool {
		for i := range took {
			if took[i].Load() < int64(b.N) {
				return false
			}
		}
		return true
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
	if slow := server.Stats().Slow; slow > 0 {
		b.Errorf("%d clients were dropped", slow)
	}
}

// countBytes reads a socket as cheaply as can be: the cores are for the server.
func countBytes(conn net.Conn, took *atomic.Int64) {
	buf := make([]byte, 64<<10)
	greeting := int64(2 + len(Greeting))
	size := int64(4 + len(benchMessage))
	total := int64(0)
	for {
		n, err := conn.Read(buf)
		total += int64(n)
		took.Store(max(0, total-greeting) / size)
		if err != nil {
			return
		}
	}
}

// BenchmarkDecode and BenchmarkCheck are what a client and the server do for
// every frame.
func BenchmarkDecode(b *testing.B) {
	b.SetBytes(int64(len(benchMessage)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode([]byte(benchMessage)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	b.SetBytes(int64(len(benchMessage)))
	b.ReportAllocs()
	frame := []byte(benchMessage)
	for b.Loop() {
		if err := CheckFrame(frame); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	m, err := Decode([]byte(benchMessage))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Encode(); err != nil {
			b.Fatal(fmt.Errorf("encoding: %w", err))
		}
	}
}
