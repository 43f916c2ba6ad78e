package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// fake is a program whose every answer is written down in a test.
type fake struct {
	handle func(f *fake, m *mcp.Message)
	ended  error // what it ends with

	mu       sync.Mutex
	out      *io.PipeWriter
	starts   int
	got      []string // methods, in order
	killed   bool
	stop     func()
	deaf     bool // it does not read
	stubborn bool // it does not end when its input does
}

func (f *fake) start(context.Context) (Process, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	var once sync.Once
	f.mu.Lock()
	defer f.mu.Unlock()
	f.starts++
	f.out = outW
	stop := func() {
		once.Do(func() {
			inR.Close()
			outW.Close()
			close(done)
		})
	}
	f.stop = stop
	if !f.deaf {
		go func() {
			lines := bufio.NewScanner(inR)
			lines.Buffer(nil, 64<<20)
			for lines.Scan() {
				m, err := mcp.Parse([]byte(lines.Text()))
				if err != nil {
					f.say(fmt.Sprintf("cannot read %q", lines.Text()))
					continue
				}
				f.mu.Lock()
				f.got = append(f.got, m.Method)
				f.mu.Unlock()
				f.handle(f, m)
			}
			if !f.stubborn {
				stop()
			}
		}()
	}
	return Process{Stdin: inW, Stdout: outR, Done: done, Err: func() error { return f.ended }, Kill: func() {
		f.mu.Lock()
		f.killed = true
		f.mu.Unlock()
		stop()
	}}, nil
}

// say writes a line.
func (f *fake) say(line string) {
	f.mu.Lock()
	out := f.out
	f.mu.Unlock()
	_, _ = io.WriteString(out, line+"\n")
}

func (f *fake) answer(m *mcp.Message, result string) {
	f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
}

func (f *fake) refuse(m *mcp.Message, code int, data string) {
	if data == "" {
		data = "null"
	}
	f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no","data":%s}}`, m.ID, code, data))
}

func (f *fake) heard() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.got, " ")
}

const (
	initializeResult = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`
	discoverResult   = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`
)

// old does the handshake of a legacy server, then does what is given.
func old(then func(f *fake, m *mcp.Message)) func(f *fake, m *mcp.Message) {
	return func(f *fake, m *mcp.Message) {
		switch {
		case m.Method == mcp.MethodInitialize:
			f.answer(m, initializeResult)
		case m.Method == mcp.MethodInitialized:
		case m.Method == mcp.MethodDiscover:
			f.refuse(m, mcp.CodeMethodNotFound, "")
		default:
			then(f, m)
		}
	}
}

func modern(then func(f *fake, m *mcp.Message)) func(f *fake, m *mcp.Message) {
	return func(f *fake, m *mcp.Message) {
		switch m.Method {
		case mcp.MethodDiscover:
			f.answer(m, discoverResult)
		case mcp.MethodInitialize:
			f.refuse(m, mcp.CodeMethodNotFound, "")
		default:
			then(f, m)
		}
	}
}

func nothing(*fake, *mcp.Message) {}

// How the era is found out on a stream.
func TestStdioEra(t *testing.T) {
	died := errors.New("exit status 3")
	cases := []struct {
		name    string
		cached  string
		fake    fake
		version string
		heard   string
		starts  int
	}{
		{"modern", "", fake{handle: modern(nothing)}, mcp.Modern, "server/discover", 1},
		{"legacy refuses", "", fake{handle: old(nothing)}, "2025-06-18", "server/discover initialize notifications/initialized", 1},
		{"legacy is silent", "", fake{handle: func(f *fake, m *mcp.Message) {
			if m.Method == mcp.MethodInitialize {
				f.answer(m, initializeResult)
			}
		}}, "2025-06-18", "server/discover initialize notifications/initialized", 1},
		{"modern is slow", "", fake{handle: func(f *fake, m *mcp.Message) {
			switch {
			case m.Method == mcp.MethodInitialize:
				f.refuse(m, mcp.CodeInvalidRequest, "")
			case f.heard() != "server/discover":
				f.answer(m, discoverResult)
			}
		}}, mcp.Modern, "server/discover initialize server/discover", 1},
		{"legacy answers everything", "", fake{handle: func(f *fake, m *mcp.Message) {
			switch {
			case m.Method == mcp.MethodInitialize:
				f.answer(m, initializeResult)
			case m.ID != nil:
				f.answer(m, `{}`)
			}
		}}, "2025-06-18", "server/discover initialize notifications/initialized", 1},
		{"legacy dies", "", fake{ended: died, handle: func(f *fake, m *mcp.Message) {
			switch m.Method {
			case mcp.MethodDiscover:
				f.stop()
			case mcp.MethodInitialize:
				f.answer(m, initializeResult)
			}
		}}, "2025-06-18", "server/discover initialize notifications/initialized", 2},
		{"refuses once", "", fake{handle: func(f *fake, m *mcp.Message) {
			if f.heard() == "server/discover" {
				f.refuse(m, mcp.CodeUnsupportedVersion, `{"supported":["2099-01-01","2026-07-28"]}`)
				return
			}
			f.answer(m, discoverResult)
		}}, mcp.Modern, "server/discover server/discover", 1},
		{"offers only the old", "", fake{handle: func(f *fake, m *mcp.Message) {
			switch m.Method {
			case mcp.MethodDiscover:
				f.refuse(m, mcp.CodeUnsupportedVersion, `{"supported":["2025-06-18"]}`)
			case mcp.MethodInitialize:
				f.answer(m, initializeResult)
			}
		}}, "2025-06-18", "server/discover initialize notifications/initialized", 1},
		{"cached legacy", mcp.Legacy, fake{handle: old(nothing)}, "2025-06-18", "initialize notifications/initialized", 1},
		{"cached legacy and wrong", mcp.Legacy, fake{handle: modern(nothing)}, mcp.Modern, "initialize server/discover", 1},
		{"cached modern and wrong", mcp.Modern, fake{handle: old(nothing)}, "2025-06-18", "server/discover initialize notifications/initialized", 1},
		{"another version of initialize", mcp.Legacy, fake{handle: func(f *fake, m *mcp.Message) {
			if m.Method != mcp.MethodInitialize {
				return
			}
			if strings.Contains(string(m.Params), `"2024-11-05"`) {
				f.answer(m, strings.Replace(initializeResult, "2025-06-18", "2024-11-05", 1))
				return
			}
			f.refuse(m, mcp.CodeInvalidParams, `{"supported":["2024-11-05"]}`)
		}}, "2024-11-05", "initialize initialize notifications/initialized", 1},
	}
	for i := range cases {
		c := &cases[i]
		t.Run(c.name, func(t *testing.T) {
			leaks(t)
			s := open(t, Config{Transport: Stdio{Start: c.fake.start}, Version: c.cached, Handshake: 5 * time.Second})
			if err := s.link.notify(t.Context(), "notifications/last", nil); err != nil {
				t.Fatal(err)
			}
			for range 400 { // it hears in its own time
				if strings.HasSuffix(c.fake.heard(), "notifications/last") {
					break
				}
				time.Sleep(25 * time.Millisecond)
			}
			if got := strings.TrimSuffix(c.fake.heard(), " notifications/last"); s.Version() != c.version || got != c.heard || c.fake.starts != c.starts {
				t.Errorf("version %s after %q and %d starts, want %s after %q and %d", s.Version(), got, c.fake.starts, c.version, c.heard, c.starts)
			}
		})
	}
}

// Servers that cannot be connected to.
func TestStdioConnectFails(t *testing.T) {
	cases := []struct {
		name string
		fake fake
		want string
	}{
		{"hangs", fake{handle: nothing, stubborn: true}, "did not answer within"},
		{"does not read", fake{deaf: true}, "did not answer within"},
		{"dies twice", fake{ended: errors.New("exit status 3"), handle: func(f *fake, _ *mcp.Message) { f.stop() }}, "exit status 3"},
		{"garbage", fake{handle: func(f *fake, _ *mcp.Message) { f.say(strings.Repeat("garbage ", 1000)) }}, "did not answer within"},
		{"an unknown version", fake{handle: func(f *fake, m *mcp.Message) {
			if m.Method == mcp.MethodDiscover {
				f.refuse(m, mcp.CodeMethodNotFound, "")
				return
			}
			f.answer(m, `{"protocolVersion":"1999-01-01","capabilities":{}}`)
		}}, "1999-01-01"},
		{"no version of ours", fake{handle: func(f *fake, m *mcp.Message) {
			f.refuse(m, mcp.CodeUnsupportedVersion, `{"supported":["2099-01-01"]}`)
		}}, "no version that we speak"},
		{"will not have us", fake{handle: func(f *fake, m *mcp.Message) { f.refuse(m, mcp.CodeMissingCapability, "") }}, "no"},
	}
	for i := range cases {
		c := &cases[i]
		t.Run(c.name, func(t *testing.T) {
			leaks(t)
			began := time.Now()
			_, err := Connect(t.Context(), Config{Transport: Stdio{Start: c.fake.start}, Handshake: 600 * time.Millisecond})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
			c.fake.stop()
		})
	}
	_, err := Connect(t.Context(), Config{Transport: Stdio{Start: func(context.Context) (Process, error) { return Process{}, errors.New("no such program") }}})
	if err == nil || !strings.Contains(err.Error(), "no such program") {
		t.Error(err)
	}
}

func params(tool string) json.RawMessage {
	return json.RawMessage(`{"name":"` + tool + `","arguments":{}}`)
}

// toolOf is the tool that is called.
func toolOf(m *mcp.Message) string {
	return strings.Trim(string(jsontext.Lookup(m.Params, "name")), `"`)
}
