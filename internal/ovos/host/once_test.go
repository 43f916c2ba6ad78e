package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
)

// slowBox has a tool that waits until it is let go, and says what it was asked.
type slowBox struct {
	began, let chan struct{}
	ran        atomic.Int32
	cut        atomic.Int32 // how often its context ended first
}

func newSlowBox() *slowBox {
	return &slowBox{began: make(chan struct{}, 1000), let: make(chan struct{}, 1000)}
}

func (b *slowBox) Name() string { return "slow" }

func (b *slowBox) Tools(context.Context) ([]toolcrib.Tool, error) {
	return []toolcrib.Tool{tool("wait", func(ctx context.Context, input json.RawMessage) (*toolcrib.Result, error) {
		n := b.ran.Add(1)
		b.began <- struct{}{}
		select {
		case <-b.let:
			return &toolcrib.Result{Value: fmt.Appendf(nil, `{"asked":%s,"run":%d}`, input, n)}, nil
		case <-ctx.Done():
			b.cut.Add(1)
			return nil, ctx.Err()
		}
	})}, nil
}

const waitCall = "ovos.persona.tools.slow.call"

func request(typ, data, context string) string {
	return `{"type":"` + typ + `","data":` + data + `,"context":{` + context + `}}`
}

func (b *slowBox) waitBegan(t testing.TB) {
	t.Helper()
	select {
	case <-b.began:
	case <-time.After(patience):
		t.Fatal("the tool was never called")
	}
}

// TestTwoClientsGetTheirOwnAnswers: two that call the same slow tool at once,
// and tell the answers apart by a key of their own.
func TestTwoClientsGetTheirOwnAnswers(t *testing.T) {
	box := newSlowBox()
	r := furnish(t, setup{more: []toolcrib.Toolbox{box}})
	url, _ := serve(t, r.config())
	clients := []*socket{ready(t, url), ready(t, url)}
	for i, c := range clients {
		c.send(request(waitCall, fmt.Sprintf(`{"name":"wait","kwargs":{"who":%d}}`, i), fmt.Sprintf(`"mark":"client-%d"`, i)))
		box.waitBegan(t)
	}
	box.let <- struct{}{}
	box.let <- struct{}{}
	for i, c := range clients {
		got := c.next(waitCall+".response", fmt.Sprintf("client-%d", i)).Data["result"].(map[string]any)
		if diff := cmp.Diff(map[string]any{"who": float64(i)}, got["asked"]); diff != "" {
			t.Errorf("client %d (-want +got):\n%s", i, diff)
		}
	}
}

// said is a log that can be waited for.
type said chan string

func (c said) Enabled(context.Context, slog.Level) bool { return true }
func (c said) WithAttrs([]slog.Attr) slog.Handler       { return c }
func (c said) WithGroup(string) slog.Handler            { return c }
func (c said) Handle(_ context.Context, r slog.Record) error {
	select {
	case c <- r.Message:
	default: // nobody waits for so much
	}
	return nil
}

func (c said) await(t testing.TB, want string) {
	t.Helper()
	for limit := time.After(patience); ; {
		select {
		case got := <-c:
			if got == want {
				return
			}
		case <-limit:
			t.Fatalf("it was never said that %s", want)
		}
	}
}

// TestARepeatedRequestRunsOnce sends frames again, as a client does that does
// not know whether they arrived.
func TestARepeatedRequestRunsOnce(t *testing.T) {
	box := newSlowBox()
	r := furnish(t, setup{more: []toolcrib.Toolbox{box}})
	cfg := r.config()
	repeated := make(said, 8)
	cfg.Log = slog.New(repeated)
	url, _ := serve(t, cfg)
	s := ready(t, url)
	key := `"mark":"m","toolcrib_request":"` + strings.Repeat("k", 26) + `"`
	once := request(waitCall, `{"name":"wait","kwargs":{}}`, key)
	s.send(once)
	box.waitBegan(t)
	s.send(once) // while it runs: one answer is for both
	// Calls stand in a queue of their own: that something else was answered says
	// nothing of whether this one has been looked at.
	repeated.await(t, "a request was repeated while it is carried out")
	box.let <- struct{}{}
	first := s.next(waitCall+".response", "m").Data
	s.send(once) // afterwards: answered from the journal
	second := s.next(waitCall+".response", "m").Data
	if diff := cmp.Diff(first, second); diff != "" || first["result"].(map[string]any)["run"] != 1.0 {
		t.Errorf("%v (-first +second):\n%s", first, diff)
	}

	// The same key with other arguments, or by another way, is another request:
	// programs pass the key on in what they derive from a message. A key that is
	// too short to be unique, and any other key, are only echoed.
	for i, other := range []string{
		request(waitCall, `{"name":"wait","kwargs":{"n":2}}`, key),
		request(invoke, `{"name":"wait","args":{}}`, key),
		request(waitCall, `{"name":"wait","kwargs":{}}`, `"mark":"m","toolcrib_request":"1"`),
		request(waitCall, `{"name":"wait","kwargs":{}}`, `"mark":"m","toolcrib_request":"1"`),
		request(waitCall, `{"name":"wait","kwargs":{}}`, `"mark":"m","request_id":"`+strings.Repeat("k", 26)+`"`),
		request(waitCall, `{"name":"wait","kwargs":{}}`, `"mark":"m","request_id":"`+strings.Repeat("k", 26)+`"`),
	} {
		box.let <- struct{}{}
		s.send(other)
		typ := waitCall
		if strings.Contains(other, invoke) {
			typ = invoke
		}
		if got := s.next(typ+".response", "m").Data["result"]; got == nil || got.(map[string]any)["run"] != float64(i+2) {
			t.Errorf("request %d got %v", i, got)
		}
	}
}

// TestTooMuchIsRefusedAtOnce fills the host with calls that hang.
func TestTooMuchIsRefusedAtOnce(t *testing.T) {
	box := newSlowBox()
	r := furnish(t, setup{more: []toolcrib.Toolbox{box}})
	cfg := r.config()
	cfg.Calls, cfg.Waiting = 2, 1
	url, _ := serve(t, cfg)
	s := ready(t, url)
	for i := range 3 {
		s.send(request(waitCall, `{"name":"wait"}`, fmt.Sprintf(`"mark":"%d"`, i)))
	}
	box.waitBegan(t)
	box.waitBegan(t)
	got := s.ask(waitCall, `{"name":"wait"}`).Data
	if got["error"] != "I am busy with too many things. Please try again in a moment." || got["spoken"] != got["error"] || !strings.Contains(got["detail"].(string), "too many calls") {
		t.Errorf("one too many got %v", got)
	}
	// What it has is told all the same.
	if len(s.ask("ovos.tools.list", `{}`).Data["tools"].([]any)) == 0 || len(s.discover(5)) != 5 {
		t.Error("hung tools keep the host from telling what it has")
	}
	for range 3 {
		box.let <- struct{}{}
	}
	answered := map[any]bool{}
	for range 3 {
		answered[s.next(waitCall+".response", "").Context["mark"]] = true
	}
	if len(answered) != 3 || box.ran.Load() != 3 {
		t.Errorf("answered %v after %d runs", answered, box.ran.Load())
	}
	if got := s.ask(clockCall, `{"name":"get_current_datetime"}`).Data; got["result"] == nil {
		t.Errorf("afterwards: %v", got)
	}
}

// TestAHostThatStopsAnswersFirst: calls under way come to their end, and one
// that does not is cut off and answered.
func TestAHostThatStopsAnswersFirst(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		t.Run(fmt.Sprintf("hangs=%v", hangs), func(t *testing.T) {
			box := newSlowBox()
			r := furnish(t, setup{more: []toolcrib.Toolbox{box}})
			bus := newBus(t)
			cfg := r.config()
			cfg.Serve, cfg.Bus.URL = nil, bus.url
			if hangs {
				cfg.Grace = time.Millisecond
			}
			_, stop := serve(t, cfg)
			s := ready(t, bus.url)
			s.send(request(waitCall, `{"name":"wait"}`, `"mark":"m"`))
			box.waitBegan(t)
			var stopping sync.WaitGroup
			stopping.Go(stop)
			if !hangs {
				box.let <- struct{}{}
			}
			got := s.next(waitCall+".response", "m").Data
			if hangs != (got["error"] != nil) || int(box.cut.Load()) == 0 == hangs {
				t.Errorf("answered %v, cut off %d times", got, box.cut.Load())
			}
			stopping.Wait()
			if records := r.journal.Records(); len(records) != 1 || records[0].Outcome == "" {
				t.Errorf("records: %+v", records)
			}
		})
	}
}
