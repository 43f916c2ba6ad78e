package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/text"
)

// freeAddress is an address of this machine that nobody listens on, for
// scripts that start a bus.
func freeAddress() (string, error) {
	ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// Everybody on a bus can send anything: what is shown of it steers nothing.
func TestSniffedMessages(t *testing.T) {
	hostile := bus.Message{
		Type: "speak\x1b[2J\n09:00:00.000 forged {}", Data: json.RawMessage(`{"text":"a` + "\u202e\u200b" + `b\u001b[31m"}`),
		Context: map[string]json.RawMessage{"source": json.RawMessage(`"evil\u0007"`), "destination": json.RawMessage(`"you"`)},
	}
	var out bytes.Buffer
	c := &command{out: &out}
	if err := c.showMessage(hostile, false); err != nil {
		t.Fatal(err)
	}
	shown := out.String()
	if strings.Count(shown, "\n") != 1 || strings.ContainsFunc(strings.TrimSuffix(shown, "\n"), text.Invisible) {
		t.Errorf("it steers a terminal: %q", shown)
	}
	for _, part := range []string{`speak[U+001B][2J\n09:00:00.000 forged {}`, `[evil[U+0007]→you]`, `a[U+202E][U+200B]b`} {
		if !strings.Contains(shown, part) {
			t.Errorf("%s is not in %s", part, shown)
		}
	}

	out.Reset()
	long := bus.Message{Type: "x", Data: json.RawMessage(`{"a":"` + strings.Repeat("é", 1000) + `"}`)}
	if err := c.showMessage(long, false); err != nil || out.Len() > 2*maxShown+100 || !strings.Contains(out.String(), "… (2008 bytes)") {
		t.Errorf("a long message was shown as %d bytes: %v", out.Len(), err)
	}
	out.Reset()
	if err := c.showMessage(long, true); err != nil || out.Len() < 2000 {
		t.Errorf("--full showed %d bytes: %v", out.Len(), err)
	}

	out.Reset()
	c.output = "json"
	if err := c.showMessage(hostile, false); err != nil {
		t.Fatal(err)
	}
	var got sniffed
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Type != hostile.Type || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("for programs it was %s: %v", out.String(), err)
	}
}

// TestSniff has somebody talk on a bus until the watcher has seen enough.
func TestSniff(t *testing.T) {
	server, err := bus.NewServer(bus.ServerConfig{Addr: "127.0.0.1:0", Token: "a token of some length"})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := server.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, ln) }()
	url := "ws://" + ln.Addr().String() + bus.DefaultPath
	talker, err := bus.Open(bus.ClientConfig{URL: url, Token: "a token of some length", Source: "talker"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := talker.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	home := t.TempDir()
	var out, complaints bytes.Buffer
	c := &command{out: &out, err: &complaints, dir: home, environ: []string{"HOME=" + home, "USERPROFILE=" + home, "TOOLCRIB_HOME=" + home, "TOOLCRIB_BUS_TOKEN=a token of some length"}}
	seen := make(chan int, 1)
	go func() {
		seen <- c.run(t.Context(), []string{"bus", "sniff", "--url", url, "--type", "wanted.", "--count", "2", "-o", "json"})
	}()
	for status := -1; status < 0; {
		for _, typ := range []string{"other", "wanted.one", "wanted.two"} {
			m, err := bus.NewMessage(typ, map[string]any{"n": 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := talker.Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case status = <-seen:
			if status != 0 {
				t.Fatalf("exit status %d: %s", status, complaints.String())
			}
		case <-time.After(20 * time.Millisecond):
		}
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("it printed %q", lines)
	}
	for _, line := range lines {
		var m sniffed
		if err := json.Unmarshal([]byte(line), &m); err != nil || !strings.HasPrefix(m.Type, "wanted.") || string(m.Data) != `{"n":1}` || string(m.Context["source"]) != `"talker"` {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestShownURL(t *testing.T) {
	for text, want := range map[string]string{
		"ws://127.0.0.1:8181/core":            "ws://127.0.0.1:8181/core",
		"wss://me:secret@house/core?token=xy": "wss://house/core",
		"ws://%zz":                            "it",
	} {
		if got := shownURL(text); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "http://127.0.0.1/", "ws://", "127.0.0.1:8181"} {
		if err := checkBusURL(text); !isUsage(err) {
			t.Errorf("%q was taken for a bus: %v", text, err)
		}
	}
}
