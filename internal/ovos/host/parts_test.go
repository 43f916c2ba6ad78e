package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

func TestPythonValues(t *testing.T) {
	for raw, want := range map[string]value{
		``: {kind: "str", falsy: true}, `""`: {kind: "str", falsy: true}, `"0"`: {text: "0", kind: "str"},
		`null`: {text: "None", kind: "NoneType", falsy: true}, `true`: {text: "True", kind: "bool"}, `false`: {text: "False", kind: "bool", falsy: true},
		`0`: {text: "0", kind: "int", falsy: true}, `-0`: {text: "0", kind: "int", falsy: true}, `12`: {text: "12", kind: "int"},
		`0.0`: {text: "0.0", kind: "float", falsy: true}, `5.0`: {text: "5.0", kind: "float"}, `1e16`: {text: "1e+16", kind: "float"},
		`1e15`: {text: "1000000000000000.0", kind: "float"}, `0.0001`: {text: "0.0001", kind: "float"}, `0.00001`: {text: "1e-05", kind: "float"},
		`123456.789e3`: {text: "123456789.0", kind: "float"}, `1.5e-300`: {text: "1.5e-300", kind: "float"},
		`[]`: {kind: "list", unhashable: "list", falsy: true}, `[ ]`: {kind: "list", unhashable: "list", falsy: true}, `[0]`: {kind: "list", unhashable: "list"},
		` {"a":1} `: {kind: "dict", unhashable: "dict"}, `{}`: {kind: "dict", unhashable: "dict", falsy: true},
	} {
		got := pythonValue(json.RawMessage(raw))
		got.raw = nil
		if got.text != want.text || got.kind != want.kind || got.unhashable != want.unhashable || got.falsy != want.falsy {
			t.Errorf("%s: %+v, want %+v", raw, got, want)
		}
	}
}

func TestResultsAreMendedOrRefused(t *testing.T) {
	for given, want := range map[string]string{
		`{"a":"\ud800b"}`: `{"a":"\ufffdb"}`, `{"a":"<&>"}`: `{"a":"<&>"}`, `"\udc00"`: `{"result":"\ufffd"}`,
		`{"n":18446744073709551615}`: `{"n":18446744073709551615}`, `{"n":18446744073709551616}`: "", `{"n":1e999}`: "", `{"n":`: "", `null`: `{"result":null}`,
	} {
		got, err := object(&toolcrib.Result{Value: json.RawMessage(given)}, nil)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v", given, got, err)
		}
	}
	if _, err := object(&toolcrib.Result{Value: json.RawMessage(`{"a":["\ud800",99999999999999999999]}`)}, nil); !errors.Is(err, errBigInteger) {
		t.Errorf("both: %v", err)
	}
}

func TestLaneIsBoundedByNumberAndBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var working sync.WaitGroup
		l := newWorkQueue(&working, slog.New(slog.DiscardHandler), 2, 4, 100)
		let := make(chan struct{})
		var running, most, ran atomic.Int32
		work := func() {
			most.Store(max(most.Load(), running.Add(1)))
			<-let
			running.Add(-1)
			ran.Add(1)
		}
		if !l.take(500, work) || l.take(1, work) {
			t.Error("one request may be larger than all together, and nothing beside it")
		}
		synctest.Wait()
		let <- struct{}{}
		synctest.Wait()
		for i := range 6 {
			if took := l.take(10, work); took != (i < 4) {
				t.Errorf("request %d: %v", i, took)
			}
		}
		synctest.Wait()
		close(let)
		working.Wait()
		if most.Load() != 2 || ran.Load() != 5 {
			t.Errorf("%d at once, %d in all", most.Load(), ran.Load())
		}
		if !l.take(100, func() { panic("oh") }) {
			t.Error("there is room again")
		}
		working.Wait()
		if !l.take(1, runtime.Goexit) {
			t.Error("there is still room")
		}
		working.Wait()
		time.Sleep(2 * linger)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.held != 0 || l.bytes != 0 {
			t.Errorf("%d requests of %d bytes are still held", l.held, l.bytes)
		}
		if l.running != 0 || l.waiting != 0 {
			t.Errorf("%d goroutines are still there, %d of them waiting", l.running, l.waiting)
		}
	})
}

// TestLaneForgetsNothing: whatever is taken is done, however takers and
// goroutines that go to rest meet.
func TestLaneForgetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var working sync.WaitGroup
		l := newWorkQueue(&working, slog.New(slog.DiscardHandler), 3, 1000, 1<<20)
		var did atomic.Int32
		took := int32(0)
		for i := range 400 {
			for range 1 + i%5 {
				if l.take(1, func() {
					time.Sleep(time.Duration(i%4) * time.Millisecond)
					if did.Add(1)%50 == 0 {
						runtime.Goexit()
					}
				}) {
					took++
				}
			}
			if i%3 == 0 {
				time.Sleep(linger) // when they are about to go
			}
		}
		working.Wait()
		if did.Load() != took {
			t.Errorf("%d were taken, %d done", took, did.Load())
		}
		time.Sleep(2 * linger)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.running != 0 || l.waiting != 0 || l.queue != nil {
			t.Errorf("left: %d running, %d waiting, %d to do", l.running, l.waiting, len(l.queue))
		}
	})
}

// TestManyAsksAreOneLoad: whoever asks gets what was read after that, and those
// who ask meanwhile share the next reading.
func TestManyAsksAreOneLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int32
		let := make(chan struct{})
		l := newLoader(func(context.Context) (toolcrib.Diff, []toolcrib.LoadError) {
			n := loads.Add(1)
			<-let
			return toolcrib.Diff{}, make([]toolcrib.LoadError, n)
		})
		var first, later sync.WaitGroup
		ask := func(least int) func() {
			return func() {
				if faults, err := l.fresh(t.Context()); err != nil || len(faults) < least {
					t.Errorf("got load %d, want %d or a later one: %v", len(faults), least, err)
				}
			}
		}
		first.Go(ask(1))
		synctest.Wait()
		for range 50 { // the first one began before they asked
			later.Go(ask(2))
		}
		synctest.Wait()
		let <- struct{}{}
		first.Wait()
		synctest.Wait()
		let <- struct{}{}
		later.Wait()
		if loads.Load() != 2 {
			t.Errorf("read %d times", loads.Load())
		}
	})
}

// TestWhatAScreenMissedIsLookedUp: a screen that was too slow finds out what is
// open now, and forgets what is not.
func TestWhatAScreenMissedIsLookedUp(t *testing.T) {
	same := func(s string) string { return s }
	d, err := desk.New(desk.Config{Store: &desk.Memory{}, RedactText: same, RedactJSON: func(m json.RawMessage) json.RawMessage { return m }, Unattended: desk.Leave})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(tool, via string) string {
		t.Helper()
		_, err := d.Approve(t.Context(), toolcrib.Question{
			Call: toolcrib.Call{ID: tool, Tool: tool, Caller: toolcrib.Caller{Subject: Via, Frontend: via}}, Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: tool}},
			Reasons: []toolcrib.Verdict{{Decision: toolcrib.Ask, Guard: "test"}},
		})
		if !errors.Is(err, desk.ErrPending) {
			t.Fatalf("%s: %v", tool, err)
		}
		list, err := d.Questions(t.Context(), desk.Filter{State: desk.Open})
		if err != nil {
			t.Fatal(err)
		}
		return list[len(list)-1].ID
	}
	answered, open, private := ask("answered", Via), ask("open", Via), ask("private", "cli")
	if _, err := d.Answer(t.Context(), answered, desk.Reply{Choice: desk.Deny}, "ann"); err != nil {
		t.Fatal(err)
	}
	nowhere, err := bus.Open(bus.ClientConfig{URL: "ws://127.0.0.1:1/core", ConnectWait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	h := &Host{bus: nowhere, sending: t.Context(), cfg: Config{Caller: toolcrib.Caller{Subject: Via}, BoxID: same, Log: slog.New(slog.DiscardHandler)}}
	p := &busScreen{host: h, approvals: Approvals{Desk: d, Anyone: true}, open: map[string]desk.Question{answered: {ID: answered}, "q-swept": {ID: "q-swept"}}}
	p.lookAgain(t.Context())
	if _, ok := p.open[open]; !ok || len(p.open) != 1 {
		t.Errorf("shown now: %v; open is %s, private %s", p.open, open, private)
	}
}

func TestOwnCertificateIsNoOthers(t *testing.T) {
	known := httptest.NewTLSServer(nil)
	defer known.Close()
	verify := OwnCertificate(&tls.Config{Certificates: known.TLS.Certificates}).VerifyConnection
	if err := verify(tls.ConnectionState{PeerCertificates: []*x509.Certificate{known.Certificate()}}); err != nil {
		t.Error(err)
	}
	other := *known.Certificate()
	other.Raw = append([]byte{0}, other.Raw...)
	for _, shown := range [][]*x509.Certificate{nil, {&other}, {&other, known.Certificate()}} {
		if verify(tls.ConnectionState{PeerCertificates: shown}) == nil {
			t.Errorf("%d other certificates are trusted", len(shown))
		}
	}
}

func TestBusURL(t *testing.T) {
	for _, tt := range []struct {
		ip, want string
		cfg      bus.ServerConfig
	}{
		{"127.0.0.1", "ws://127.0.0.1:81/core", bus.ServerConfig{}},
		{"0.0.0.0", "ws://localhost:81/core", bus.ServerConfig{}},
		{"::", "wss://localhost:81/bus", bus.ServerConfig{Path: "/bus", TLS: &tls.Config{}}},
		{"::1", "ws://[::1]:81/core", bus.ServerConfig{}},
	} {
		if got := busURL(&net.TCPAddr{IP: net.ParseIP(tt.ip), Port: 81}, tt.cfg); got != tt.want {
			t.Errorf("%s: %s", tt.ip, got)
		}
	}
}

// TestChoicesWithoutAProof: what a tool asks can be answered, and a call can only
// be refused.
func TestChoicesWithoutAProof(t *testing.T) {
	d, err := desk.New(desk.Config{Store: &desk.Memory{}, RedactJSON: func(m json.RawMessage) json.RawMessage { return m }, RedactText: func(s string) string { return s }})
	if err != nil {
		t.Fatal(err)
	}
	call := desk.Question{Caller: toolcrib.Caller{Subject: "s", Session: "c"}, Project: "/p", Arguments: "a"}
	asks := call
	asks.Text = "Which colour?"
	for _, c := range []struct {
		approvals Approvals
		q         desk.Question
		want      string
	}{
		{Approvals{Desk: d, Anyone: true}, call, "deny"},
		{Approvals{Desk: d, Anyone: true}, asks, "once,deny"},
		{Approvals{Desk: d, Anyone: true, Secret: "s"}, call, "once,session,deny"},
		{Approvals{Desk: d, Secret: "s"}, asks, "once,deny"},
	} {
		if got := strings.Join(c.approvals.choices(&c.q), ","); got != c.want {
			t.Errorf("%+v: %q, want %q", c.approvals, got, c.want)
		}
	}
}
