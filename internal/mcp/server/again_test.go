package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// recorded is a crib with a journal, and a tool that asks before it acts.
func recorded(t *testing.T) (c *toolcrib.Crib, acted *atomic.Int64) {
	t.Helper()
	acted = &atomic.Int64{}
	c = &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: &cribtest.Memory{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Writes)}, Log: quiet()}
	load(t, c, []toolcrib.Tool{{
		Spec: toolcrib.Spec{Name: "pay", Input: json.RawMessage(`true`), Effects: toolcrib.Writes},
		Run: func(ctx context.Context, _ *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			if _, err := mcp.PeerOf(ctx).Ask(ctx, map[string]mcp.Request{"r": {Method: mcp.MethodRoots}}); err != nil {
				return nil, err
			}
			return toolcrib.Text(fmt.Sprint("paid ", acted.Add(1))), nil
		},
	}})
	return c, acted
}

// A state that is sent again brings what came of the call, and does nothing
// again: not to the same process, and not to another one.
func TestUsedStateActsOnce(t *testing.T) {
	for name, meta := range map[string]string{"nameless": "", "named": `"toolcrib/callId":"c1",`} {
		t.Run(name, func(t *testing.T) {
			c, acted := recorded(t)
			serve := func() *raw {
				s := New(Config{Crib: c, Log: quiet(), Key: []byte("k")}, toolcrib.Caller{Subject: "ann"})
				t.Cleanup(s.Close)
				return newRaw(t, s)
			}
			r := serve()
			send := func(r *raw, more string) (*answer, asked) {
				t.Helper()
				h, body := modern("tools/call", canAll, `,"name":"pay","arguments":{}`+more)
				a := r.send("POST", h, strings.Replace(body, `{"_meta":{`, `{"_meta":{`+meta, 1))
				var got asked
				if err := json.Unmarshal(a.last().Result, &got); err != nil && a.last().Error == nil {
					t.Fatal(err)
				}
				return a, got
			}
			_, got := send(r, "")
			if got.State == "" {
				t.Fatalf("%+v", got)
			}
			for i := range 3 {
				if a, _ := send(r, back(got.State, `{"r":1}`)); !strings.Contains(a.text, "paid 1") {
					t.Errorf("%d: %s", i, a.text)
				}
			}
			if a, _ := send(serve(), back(got.State, `{"r":1}`)); !strings.Contains(a.text, "paid 1") {
				t.Errorf("in another process: %s", a.text)
			}
			if acted.Load() != 1 {
				t.Errorf("it acted %d times", acted.Load())
			}
			meta = `"toolcrib/callId":"c2",`
			if a, _ := send(r, back(got.State, `{"r":1}`)); a.code() != mcp.CodeInvalidParams {
				t.Errorf("for a call of another name: %s", a.text)
			}
		})
	}
}

// A call that a process left unfinished is not made again by the next: nobody
// knows what it did. One that was never begun is.
func TestStateOfAnotherProcess(t *testing.T) {
	c, acted := recorded(t)
	serve := func() *raw {
		s := New(Config{Crib: c, Log: quiet(), Key: []byte("k")}, toolcrib.Caller{Subject: "ann"})
		t.Cleanup(s.Close)
		return newRaw(t, s)
	}
	call := `,"name":"pay","arguments":{}`
	_, got := serve().ask("tools/call", canAll, call)
	if a, _ := serve().ask("tools/call", canAll, call+back(got.State, `{"r":1}`)); !strings.Contains(a.text, "conflict") {
		t.Errorf("%s", a.text)
	}
	if acted.Load() != 0 {
		t.Errorf("it acted %d times", acted.Load())
	}
	c.Journal = &cribtest.Memory{} // which has never heard of it
	if a, _ := serve().ask("tools/call", canAll, call+back(got.State, `{"r":1}`)); !strings.Contains(a.text, "paid 1") {
		t.Errorf("%s", a.text)
	}
}

// What a call whose client cannot be asked wants approved is not shown to
// another client of the same person, which shows something else.
func TestApprovalIsShownToItsOwnClient(t *testing.T) {
	h := build(t, "2025-11-25", nil)
	s := New(Config{Crib: h.server.cfg.Crib, Log: quiet(), Desk: h.desk}, toolcrib.Caller{Subject: "ann", Frontend: "mcp-http"})
	t.Cleanup(s.Close)
	r := newRaw(t, s)
	_, got := r.ask("tools/call", `{"elicitation":{}}`, `,"name":"touch","arguments":{"n":1}`)
	if got.Type != "input_required" {
		t.Fatalf("%+v", got)
	}
	for name, capabilities := range map[string]string{"mute": `{}`, "in rounds": `{"roots":{}}`} {
		n := map[string]string{"mute": "2", "in rounds": "3"}[name]
		ended := make(chan string)
		go func() {
			head, body := modern("tools/call", capabilities, `,"name":"touch","arguments":{"n":`+n+`}`)
			ended <- r.send("POST", head, body).text
		}()
		var mine, other []string
		eventually(t, "it is not asked", func() bool {
			open, err := h.desk.Questions(t.Context(), desk.Filter{State: desk.Open})
			if err != nil {
				t.Fatal(err)
			}
			mine, other = nil, nil
			for _, q := range open {
				to := ""
				if g := s.screen.callFor(&q); g != nil {
					to = string(g.call.Input)
				}
				if strings.Contains(string(q.Input), n) {
					other = append(other, to)
				} else if strings.Contains(string(q.Input), "1") {
					mine = append(mine, to)
				}
			}
			return len(other) == 1
		})
		if fmt.Sprint(mine) != `[{"n":1}]` || other[0] != "" {
			t.Errorf("%s: shown to %q and %q", name, mine, other)
		}
		if text := <-ended; !strings.Contains(text, "timeout") {
			t.Errorf("%s: %s", name, text)
		}
	}
	allow := `{"approval":{"action":"accept","content":{"answer":"allow it once"}}}`
	if a, _ := r.ask("tools/call", `{"elicitation":{}}`, `,"name":"touch","arguments":{"n":1}`+back(got.State, allow)); !strings.Contains(a.text, `"structuredContent":{"n":1}`) || h.last.Load() != 1 {
		t.Errorf("%s", a.text)
	}
	s.screen.mu.Lock()
	defer s.screen.mu.Unlock()
	if len(s.screen.calls) != 0 {
		t.Errorf("%d calls are still noted", len(s.screen.calls))
	}
}

// What waits for a client is counted whole: what it is asked, and a result that
// was there before it came back.
func TestWhatWaitsIsCounted(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	s, _ := newStore(t, toolcrib.Tool{
		Spec: toolcrib.Spec{Name: "hasty", Effects: toolcrib.Pure},
		Run: func(ctx context.Context, _ *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			short, cancel := context.WithCancel(ctx)
			asked := make(chan struct{})
			go func() {
				defer close(asked)
				_, _ = mcp.PeerOf(ctx).Ask(short, map[string]mcp.Request{"r": {Method: mcp.MethodElicit, Params: json.RawMessage(`{"message":"` + long + `"}`)}})
			}()
			for ctx.Err() == nil {
				if _, there := mcp.PeerOf(ctx).(*roundsCall).now(); !there {
					break
				}
				time.Sleep(time.Millisecond)
			}
			cancel()
			<-asked
			return toolcrib.Text(long), nil
		},
	})
	r := newRaw(t, s)
	_, got := r.ask("tools/call", canAll, `,"name":"hasty"`)
	if got.Type != "input_required" {
		t.Fatalf("%+v", got)
	}
	eventually(t, "it is not counted", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.parked == 1 && s.parkedBytes > 20_000
	})
	if a, _ := r.ask("tools/call", canAll, `,"name":"hasty"`+back(got.State, `{}`)); !strings.Contains(a.text, long) {
		t.Errorf("%.200s", a.text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parked != 0 || s.parkedBytes != 0 {
		t.Errorf("%d calls and %d bytes are left", s.parked, s.parkedBytes)
	}
}
