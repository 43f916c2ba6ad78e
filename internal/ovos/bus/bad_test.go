package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// badFrames are texts that take the clients of the original down.
func badFrames() []string {
	return []string{
		``, `hello`, `[1]`, `"text"`, `{"type":"a","data":{"x":NaN}}`, `{"type":"a","data":{"x":-Infinity}}`,
		`{"type":"a","context":{"session":null}}`, `{"type":"a","context":{"session":"x"}}`, `{"type":"a","context":{"session":[]}}`,
		`{"type":"a","data":[1]}`, `{"type":"a","context":7}`, `{"type":"a","data":{"x":"\ud800"}}`, `{"type":"a","data":{"x":1e999}}`,
		`{"type":"a","data":{`, nested("[", "", "]", 100_000), "{\"type\":\"\x00\"}", `{"type":"a"}{"type":"b"}`,
	}
}

// TestBadFramesHurtNobody sends everything bad from one client after another,
// while a caller and a host go on working.
func TestBadFramesHurtNobody(t *testing.T) {
	b := startBus(t, ServerConfig{})
	caller, hosting, watcher := b.client(t, nil), b.client(t, nil), b.connect(t)
	host(t, hosting, "echo", func(m Message) json.RawMessage { return m.Data })
	works := func(after string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		data := json.RawMessage(fmt.Sprintf(`{"after":%s}`, jsontext.Quote(after[:min(len(after), 60)])))
		answer, err := caller.Ask(ctx, Message{Type: "echo", Data: data}, Answer{})
		if err != nil || string(answer.Data) != string(data) {
			t.Fatalf("after %.60q: %s, %v", after, answer.Data, err)
		}
		for _, typ := range []string{`"echo"`, `"echo.response"`} { // and nothing else
			if got := watcher.read(); !strings.Contains(got, typ) {
				t.Fatalf("after %.60q somebody else got %.200s", after, got)
			}
		}
	}
	for _, bad := range badFrames() {
		c := b.connect(t)
		c.send(bad)
		works(bad)
		c.send(`{"type":"still here"}`)
		if got := watcher.read(); got != `{"type":"still here"}` {
			t.Fatalf("after %.60q its sender is mute: %s", bad, got)
		}
		c.CloseNow()
	}
	c := b.connect(t)
	if err := c.trySend(websocket.MessageBinary, "\x00\xff\xfe"); err != nil {
		t.Fatal(err)
	}
	works("binary")
	eventually(t, "every bad frame is counted", func() bool { return b.Stats().Poison == uint64(len(badFrames())+1) })

	raw := map[string][]byte{
		"half a frame":        maskedFrame(0x81, []byte(`{"type":"half"}`))[:20],
		"half a header":       {0x81},
		"a lie about length":  {0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 'x'},
		"a negative length":   {0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 'x'},
		"no mask":             {0x81, 0x02, '{', '}'},
		"reserved bits":       {0xf1, 0x80, 0, 0, 0, 0},
		"an unknown opcode":   {0x83, 0x80, 0, 0, 0, 0},
		"a lone continuation": {0x80, 0x80, 0, 0, 0, 0},
		"a long ping":         maskedFrame(0x89, make([]byte, 200)),
		"a broken close":      {0x88, 0x81, 0, 0, 0, 0, 'x'},
		"not a websocket":     []byte(strings.Repeat("GET / HTTP/1.1\r\n\r\n", 10)),
	}
	for name, bytes := range raw {
		conn := b.socket(t)
		if _, err := conn.Write(bytes); err != nil {
			t.Fatal(err)
		}
		works(name)
		conn.Close()
		works(name + ", gone")
	}

	large := b.socket(t)
	// The server hangs up in the middle, so that writing may fail.
	_, _ = large.Write(maskedFrame(0x81, []byte(`{"type":"large","data":{"x":"`+strings.Repeat("x", 30<<20)+`"}}`)))
	works("30 MB")
	eventually(t, "its sender is gone", func() bool { return b.Stats().Clients == 4 }) // the two, the watcher and the sender of binary
}

// TestAnOriginalBus: on a bus that passes everything on, our clients go on
// working.
func TestAnOriginalBus(t *testing.T) {
	b := startBus(t, ServerConfig{RelayPoison: true})
	small := func(cfg *ClientConfig) { cfg.MaxFrame = 1 << 20 }
	caller, hosting, bad := b.client(t, small), b.client(t, small), b.connect(t)
	host(t, hosting, "echo", func(m Message) json.RawMessage { return m.Data })
	go func() {
		for {
			if _, err := bad.tryRead(); err != nil {
				return
			}
		}
	}()
	for _, frame := range append(badFrames(), `{"type":"echo","context":{"session":null}}`, strings.Repeat(" ", 3<<20)) {
		bad.send(frame)
	}
	if err := bad.trySend(websocket.MessageBinary, "\xff\xfe"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := caller.Ask(ctx, Message{Type: "echo"}, Answer{}); err != nil {
		t.Fatal(err)
	}
	if b.Stats().Poison != 0 || caller.breaks() != 0 || hosting.breaks() != 0 {
		t.Errorf("%d frames kept back, the clients broke off %d and %d times", b.Stats().Poison, caller.breaks(), hosting.breaks())
	}
}

// TestUnfinishedLargeFramesAreBounded: clients that begin large frames and
// never end them share one budget.
func TestUnfinishedLargeFramesAreBounded(t *testing.T) {
	b := startBus(t, ServerConfig{MaxFrame: 256 << 10})
	const clients = 30
	var conns []net.Conn
	for range clients {
		conn := b.socket(t)
		conns = append(conns, conn)
		frame := maskedFrame(0x81, make([]byte, 256<<10))
		_, _ = conn.Write(frame[:len(frame)-1]) // some are refused half way
	}
	eventually(t, "some are dropped", func() bool { return b.Stats().Clients < clients })
	if got := b.arriving.Load(); got > b.budget() {
		t.Errorf("%d bytes are arriving, the budget is %d", got, b.budget())
	}
	c := b.connect(t)
	c.send(`{"type":"small"}`)
	if got := c.read(); got != `{"type":"small"}` {
		t.Errorf("got %s", got)
	}
	for _, conn := range conns {
		conn.Close()
	}
	eventually(t, "the budget is free again", func() bool { return b.arriving.Load() == 0 })
	large := `{"type":"large","data":{"x":"` + strings.Repeat("x", 200<<10) + `"}}`
	for range 10 { // the next must not pay for the last
		c.send(large)
		if got := c.read(); got != large {
			t.Fatalf("got %.80s", got)
		}
	}
	if got := b.arriving.Load(); got != 0 {
		t.Errorf("%d bytes are still charged", got)
	}
}
