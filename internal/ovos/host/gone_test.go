package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// testBus is one that the host does not serve itself: it goes and comes back at the
// same address.
type testBus struct {
	t    testing.TB
	addr string
	url  string
	stop func()
}

func newBus(t testing.TB) *testBus {
	t.Helper()
	b := &testBus{t: t, addr: "127.0.0.1:0"}
	b.start()
	t.Cleanup(func() { b.stop() })
	return b
}

func (b *testBus) start() {
	b.t.Helper()
	// What is bad is passed on too: a host has to live with it.
	server, err := bus.NewServer(bus.ServerConfig{Addr: b.addr, RelayPoison: true})
	if err != nil {
		b.t.Fatal(err)
	}
	var ln net.Listener
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if ln, err = server.Listen(context.Background()); err == nil {
			break
		}
		if time.Now().After(end) { // the system gives the address back in a moment
			b.t.Fatal(err)
		}
	}
	b.addr = ln.Addr().String()
	b.url = "ws://" + b.addr + bus.DefaultPath
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, ln) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Errorf("the bus ended with %v", err)
		}
	})
}

// TestTheBusGoesAndComesBack drops it ten times while calls run. Each request
// runs at most once; what was under way is answered on the next connection.
func TestTheBusGoesAndComesBack(t *testing.T) {
	box := newSlowBox()
	r := furnish(t, setup{more: []toolcrib.Toolbox{box}})
	b := newBus(t)
	cfg := r.config()
	cfg.Serve, cfg.Bus.URL = nil, b.url
	var joined atomic.Int32
	cfg.Bus.Changed = func(connected bool, _ error) {
		if connected {
			joined.Add(1)
		}
	}
	serve(t, cfg)
	runs := 0
	for round := range 10 {
		s := ready(t, b.url)
		marks := map[any]bool{}
		for i := range 4 {
			mark := fmt.Sprintf("%d-%d", round, i)
			marks[mark] = true
			s.send(request(waitCall, `{"name":"wait","kwargs":{"mark":"`+mark+`"}}`, `"mark":"`+mark+`"`))
		}
		for range marks {
			box.waitBegan(t)
		}
		runs += len(marks)
		b.stop()
		b.start()
		back := connect(t, b.url)
		back.wake() // the host is there again, and has lost no registration
		for range marks {
			box.let <- struct{}{}
		}
		for len(marks) > 0 {
			f := back.next(waitCall+".response", "")
			mark := f.Context["mark"]
			if !marks[mark] || f.Data["result"].(map[string]any)["asked"].(map[string]any)["mark"] != mark {
				t.Errorf("round %d: %v was answered with %v", round, mark, f.Data)
			}
			delete(marks, mark)
		}
	}
	if got := int(box.ran.Load()); got != runs || box.cut.Load() != 0 || len(r.journal.Records()) != runs {
		t.Errorf("%d calls ran %d times, %d were cut off, %d are on record", runs, got, box.cut.Load(), len(r.journal.Records()))
	}
	if joined.Load() < 11 {
		t.Errorf("the host joined the bus %d times", joined.Load())
	}
}

// TestBadFramesTakeNobodyDown sends all that is wrong, on a bus that passes it
// on and on one of the host's own.
func TestBadFramesTakeNobodyDown(t *testing.T) {
	r := furnish(t, setup{})
	other := newBus(t)
	cfg := r.config()
	cfg.Serve, cfg.Bus.URL = nil, other.url
	serve(t, cfg)
	own, _ := serve(t, r.config())
	for _, url := range []string{other.url, own} {
		s := ready(t, url)
		for _, bad := range []string{
			"", "null", "[1]", "7", `"x"`, "{", `{"type":`, "not JSON", `{"type":"ovos.tools.list","data":NaN}`, "\xff\xfe",
			`{"type":"ovos.tools.list","data":[]}`, `{"type":"ovos.tools.list","data":7}`, `{"type":"ovos.tools.list","data":null,"context":null}`,
			`{"type":"ovos.tools.list","context":[1]}`, `{"type":"ovos.tools.list","context":{"session":null}}`,
			`{"type":"ovos.tools.list","context":{"session":"x"}}`, `{"type":"ovos.tools.list","context":{"session":{"session_id":7}}}`,
			`{"type":"ovos.tools.list","data":{"x":"\ud800"},"context":{"x":"\udc00"}}`, `{"type":null}`, `{"type":{}}`, `{}`,
			`{"type":"ovos.tools.invoke","data":{"name":"get_current_datetime","args":{"n":1e999}}}`,
			`{"type":"ovos.tools.invoke","data":{"name":"get_current_datetime","args":{"a":1,"a":2}}}`,
			`{"type":"ovos.tools.invoke","data":{"name":"` + strings.Repeat("n", 1<<18) + `"}}`,
			`{"type":"ovos.tools.invoke","data":{"name":"unit_convert","args":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}`,
			`{"type":"ovos.tools.list","context":{"big":"` + strings.Repeat("x", 1<<20) + `"}}`, // not echoed, not answered
			`{"type":"ovos.persona.tools.ovos-math-tools.call","data":{"name":"evaluate_expression","kwargs":{"expression":"` + strings.Repeat("1+", 2200<<10) + `1"}}}`,
		} {
			s.send(bad)
		}
		if err := s.write(2, []byte(`{"type":"ovos.tools.list"}`)); err != nil {
			t.Fatal(err)
		}
		if got := s.ask(clockCall, `{"name":"get_current_datetime"}`).Data; got["result"] == nil {
			t.Errorf("afterwards: %v", got)
		}
		huge := connect(t, url)
		_ = huge.write(1, bytes.Repeat([]byte("x"), 30<<20)) // the bus hangs up in the middle of it
		half := connect(t, url)
		if _, err := half.conn.Write([]byte{0x81, 0xff, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, '{', '"'}); err != nil {
			t.Fatal(err)
		}
		half.conn.Close()
		if got := s.ask(mathCall, `{"name":"evaluate_expression","kwargs":{"expression":"1+1"}}`).Data; got["result"] == nil {
			t.Errorf("afterwards: %v", got)
		}
	}
}

// TestASecondHostIsNoticed: two that answer for one toolbox would both carry
// out its calls.
func TestASecondHostIsNoticed(t *testing.T) {
	r := furnish(t, setup{})
	var log safeBuffer
	cfg := r.config()
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	url, _ := serve(t, cfg)
	s := ready(t, url)
	s.discover(4) // its own answers are not another's
	s.send(`{"type":"ovos.persona.tools.discover.response","data":{"tools":[],"toolbox_id":"elsewhere"},"context":{"source":"python"}}`)
	s.ask("ovos.tools.list", `{}`)
	if text := log.String(); strings.Contains(text, "another host") {
		t.Errorf("nobody else is there: %s", text)
	}
	for range 3 {
		s.send(`{"type":"ovos.persona.tools.discover.response","data":{"tools":[],"toolbox_id":"ovos-math-tools"},"context":{"source":"python"}}`)
	}
	s.ask("ovos.tools.list", `{}`)
	if text := log.String(); strings.Count(text, "another host") != 1 || !strings.Contains(text, "ovos-math-tools") {
		t.Errorf("the log says %q", text)
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// TestALoadThatHangsIsNotWaitedFor: a toolbox that does not answer must not
// keep the others from being found.
func TestALoadThatHangsIsNotWaitedFor(t *testing.T) {
	r := furnish(t, setup{})
	cfg := r.config()
	release := make(chan struct{})
	cfg.Load = func(context.Context) (toolcrib.Diff, []toolcrib.LoadError) {
		<-release
		return toolcrib.Diff{}, nil
	}
	defer close(release)
	cfg.LoadTimeout = 50 * time.Millisecond
	url, _ := serve(t, cfg)
	s := ready(t, url)
	if got := s.discover(4); len(got) != 4 {
		t.Errorf("%d toolboxes", len(got))
	}
	got := s.ask("ovos.tools.reload", `{}`).Data
	if detail, ok := got["detail"].(string); !ok || !strings.Contains(detail, "longer than") || got["total_tools"] == 0.0 {
		text, _ := json.Marshal(got["detail"])
		t.Errorf("reload: %v tools, detail %s", got["total_tools"], text)
	}
}
