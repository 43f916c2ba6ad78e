package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// key is a credential that is given on the nth challenge.
type key struct {
	mu         sync.Mutex
	tokens     []string // given out one challenge after another
	challenges int
}

func (k *key) Token(context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.challenges == 0 {
		return "", nil
	}
	return k.tokens[min(k.challenges, len(k.tokens))-1], nil
}

func (k *key) Challenge(_ context.Context, req *http.Request, resp *http.Response) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if req.URL == nil || resp.Header.Get("Www-Authenticate") == "" {
		return errors.New("no challenge")
	}
	if k.challenges++; k.challenges > len(k.tokens) {
		return errors.New("no more credentials")
	}
	return nil
}

func TestAuth(t *testing.T) {
	cases := []struct {
		name   string
		tokens []string
		want   string // in the error of Connect; empty: none
		asked  int
	}{
		{"at once", []string{"good"}, "", 1},
		{"not enough, then enough", []string{"weak", "good"}, "", 2},
		{"wrong for ever", []string{"bad", "bad", "bad", "bad"}, "status 401", 1},
		{"weak for ever", []string{"weak", "weak", "weak", "weak"}, "status 403", 2},
		{"none", nil, "no more credentials", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			leaks(t)
			at := &site{call: func(w http.ResponseWriter, _ *http.Request, m *mcp.Message) { reply(w, m, `{"n":1}`) }}
			way := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.Header.Get("Authorization") {
				case "Bearer good":
					at.ServeHTTP(w, r)
				case "Bearer weak":
					w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope"`)
					w.WriteHeader(http.StatusForbidden)
				default:
					w.Header().Set("WWW-Authenticate", "Bearer")
					w.WriteHeader(http.StatusUnauthorized)
				}
			}))
			k := &key{tokens: c.tokens}
			way.Auth = k
			s, err := Connect(t.Context(), Config{Transport: way})
			if err == nil {
				sent := 0
				_, err = s.Do(t.Context(), Call{Method: "tools/call", Params: params("x"), Sent: func() { sent++ }})
				if sent != 1 || at.calls.Load() != 1 {
					t.Errorf("sent %d times, taken %d times", sent, at.calls.Load())
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if k.challenges != c.asked {
				t.Errorf("%d challenges, want %d", k.challenges, c.asked)
			}
		})
	}
}

// What a modern request carries.
func TestModernHeaders(t *testing.T) {
	leaks(t)
	var got http.Header
	var body json.RawMessage
	at := &site{call: func(w http.ResponseWriter, r *http.Request, m *mcp.Message) {
		got, body = r.Header, m.Params
		reply(w, m, `{}`)
	}}
	way := serve(t, at)
	way.Header = func(context.Context) (http.Header, error) {
		return http.Header{"x-own": {"1"}, "Mcp-Method": {"forged"}}, nil
	}
	s := open(t, Config{Transport: way})
	_, err := s.Do(t.Context(), Call{
		Method: "tools/call", LogLevel: "info", Capabilities: json.RawMessage(`{"roots":{}}`),
		Params: json.RawMessage(`{"name":"größe","arguments":{"region":" us","n":1e3,"b":true,"none":null,"deep":{"a/b":"x\ny"},"f":1.5},
			"_meta":{"traceparent":"t","io.modelcontextprotocol/clientCapabilities":{"forged":{}},"progressToken":"theirs"}}`),
		Mirror: map[string]string{"region": "Region", "n": "N", "b": "B", "none": "None", "deep/a~1b": "Deep", "f": "F", "absent": "Absent"},
	})
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string]string{}
	for name, values := range got {
		if strings.HasPrefix(name, "Mcp-") || strings.HasPrefix(name, "X-") || name == "Accept" || name == "Content-Type" {
			headers[name] = strings.Join(values, "|")
		}
	}
	want := map[string]string{
		"Mcp-Protocol-Version": mcp.Modern, "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?Z3LDtsOfZQ==?=",
		"Mcp-Param-Region": "=?base64?IHVz?=", "Mcp-Param-N": "1000", "Mcp-Param-B": "true", "Mcp-Param-Deep": "=?base64?eAp5?=",
		"X-Own": "1", "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
	}
	if d := cmp.Diff(want, headers); d != "" {
		t.Error(d)
	}
	var meta map[string]any
	if err := json.Unmarshal(jsontext.Lookup(body, "_meta"), &meta); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]any{
		"traceparent": "t", mcp.MetaVersion: mcp.Modern, mcp.MetaCapabilities: map[string]any{"roots": map[string]any{}},
		mcp.MetaClient: map[string]any{"name": "test", "version": "1"}, mcp.MetaLogLevel: "info",
	}, meta); d != "" {
		t.Error(d)
	}
}

// The rounds of a call that wants input.
func TestInputRounds(t *testing.T) {
	leaks(t)
	type seen struct{ id, params string }
	var mu sync.Mutex
	var all []seen
	f := &fake{}
	f.handle = modern(func(f *fake, m *mcp.Message) {
		mu.Lock()
		all = append(all, seen{string(m.ID), string(m.Params)})
		n := len(all)
		mu.Unlock()
		switch tool := toolOf(m); {
		case tool == "endless":
			f.answer(m, `{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}}}`)
		case tool == "empty":
			f.answer(m, `{"resultType":"input_required"}`)
		case n == 1:
			f.answer(m, `{"resultType":"input_required","requestState":"a\u0062 \/"}`)
		case n == 2:
			f.answer(m, `{"resultType":"input_required","requestState":"2","inputRequests":{"k":{"method":"roots/list"},"l":{"method":"sampling/createMessage","params":{"p":1}}}}`)
		case n == 3:
			f.answer(m, `{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}}}`)
		default:
			f.answer(m, `{"content":[]}`)
		}
	})
	s := open(t, Config{Transport: Stdio{Start: f.start}})
	var asked []map[string]mcp.Request
	c := Call{Method: "tools/call", Params: params("x"), Ask: func(_ context.Context, requests map[string]mcp.Request) (map[string]json.RawMessage, error) {
		asked = append(asked, requests)
		return map[string]json.RawMessage{"k": json.RawMessage(fmt.Sprintf(`{"n":%d}`, len(asked)))}, nil
	}}
	result, err := s.Do(t.Context(), c)
	if err != nil || string(result) != `{"content":[]}` {
		t.Fatalf("%s, %v", result, err)
	}
	wantAsked := []map[string]mcp.Request{
		{"k": {Method: "roots/list"}, "l": {Method: "sampling/createMessage", Params: json.RawMessage(`{"p":1}`)}},
		{"k": {Method: "roots/list"}},
	}
	if d := cmp.Diff(wantAsked, asked); d != "" {
		t.Error(d)
	}
	ids := map[string]bool{}
	want := [][2]string{{"", ""}, {"", `"a\u0062 \/"`}, {`{"k":{"n":1}}`, `"2"`}, {`{"k":{"n":2}}`, ""}}
	for i, one := range all {
		if ids[one.id] {
			t.Errorf("the id %s was used twice", one.id)
		}
		ids[one.id] = true
		got := [2]string{string(jsontext.Lookup([]byte(one.params), "inputResponses")), string(jsontext.Lookup([]byte(one.params), "requestState"))}
		if i >= len(want) || got != want[i] {
			t.Errorf("round %d: %q", i, got)
		}
	}
	all, asked = nil, nil
	c.Params = params("endless")
	if _, err := s.Do(t.Context(), c); err == nil || len(all) != rounds {
		t.Errorf("%v after %d rounds", err, len(all))
	}
	c.Params = params("empty")
	if _, err := s.Do(t.Context(), c); err == nil || !strings.Contains(err.Error(), "does not say which") {
		t.Error(err)
	}
	all = nil
	refusal := errors.New("I will not")
	c.Params = params("endless")
	c.Ask = func(context.Context, map[string]mcp.Request) (map[string]json.RawMessage, error) { return nil, refusal }
	if _, err := s.Do(t.Context(), c); !errors.Is(err, refusal) || len(all) != 1 {
		t.Errorf("%v after %d rounds", err, len(all))
	}
}

// Questions of a legacy server on the stream of a call belong to that call,
// however many there are; they can be withdrawn.
func TestWebQuestions(t *testing.T) {
	leaks(t)
	type pending struct {
		tool   string
		answer chan string
	}
	var mu sync.Mutex
	waiting := map[string]pending{}
	at := &site{legacy: true}
	at.call = func(w http.ResponseWriter, r *http.Request, m *mcp.Message) {
		if m.IsAnswer() {
			mu.Lock()
			p := waiting[string(m.ID)]
			mu.Unlock()
			p.answer <- string(m.Result)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		tool := toolOf(m)
		p := pending{tool, make(chan string, 1)}
		mu.Lock()
		waiting[`"`+tool+`"`] = p
		mu.Unlock()
		stream(w, fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%q,\"method\":\"elicitation/create\",\"params\":{}}\n\n", tool))
		if tool == "withdrawn" {
			stream(w, fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%q}}\n\n", tool))
			p.answer <- `"none"`
		}
		select {
		case got := <-p.answer:
			stream(w, fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.ID, got))
		case <-r.Context().Done():
		}
	}
	s := open(t, Config{Transport: serve(t, at)})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := fmt.Sprintf("tool%d", i)
			result, err := s.Do(t.Context(), Call{Method: "tools/call", Params: params(name),
				Ask: func(_ context.Context, requests map[string]mcp.Request) (map[string]json.RawMessage, error) {
					out := map[string]json.RawMessage{}
					for key := range requests {
						out[key] = json.RawMessage(`{"from":"` + name + `"}`)
					}
					return out, nil
				}})
			if err != nil || string(result) != `{"from":"`+name+`"}` {
				t.Errorf("%s: %s, %v", name, result, err)
			}
		})
	}
	wg.Wait()
	ended := make(chan struct{})
	_, err := s.Do(t.Context(), Call{Method: "tools/call", Params: params("withdrawn"),
		Ask: func(ctx context.Context, _ map[string]mcp.Request) (map[string]json.RawMessage, error) {
			defer close(ended)
			<-ctx.Done()
			return nil, ctx.Err()
		}})
	if err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("a question that was withdrawn goes on")
	}
}

// Close ends the calls of a server over HTTP too.
func TestWebClose(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		leaks(t)
		at := &site{legacy: legacy, call: func(_ http.ResponseWriter, r *http.Request, _ *mcp.Message) { <-r.Context().Done() }}
		s := open(t, Config{Transport: serve(t, at)})
		result := make(chan error, 1)
		sent := make(chan struct{})
		go func() {
			_, err := s.Do(t.Context(), Call{Method: "tools/call", Params: params("x"), Sent: func() { close(sent) }})
			result <- err
		}()
		<-sent
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-result; !errors.Is(err, mcp.ErrClosed) {
			t.Error(err)
		}
		called := false
		if _, err := s.Do(t.Context(), Call{Method: "tools/call", Params: params("x"), Sent: func() { called = true }}); !errors.Is(err, mcp.ErrClosed) || called {
			t.Errorf("after Close: %v, sent %t", err, called)
		}
	}
}

// A subscription that breaks off is taken up again, and what may have been
// missed counts as changed.
func TestListenAgain(t *testing.T) {
	leaks(t)
	var listens atomic.Int32
	at := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Mcp-Method") {
		case mcp.MethodDiscover:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}}`)
		case mcp.MethodListen:
			n := listens.Add(1)
			stream(w, fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"method\":%q,\"params\":{\"_meta\":{%q:%d}}}\n\n", mcp.NotifySubscribed, mcp.MetaSubscription, n+1))
			if n > 1 {
				<-r.Context().Done()
			}
		}
	})
	h := newHeard()
	s := open(t, Config{Transport: serve(t, at), Changed: h.changed})
	if err := s.Listen(t.Context(), []string{"mem:a"}); err != nil {
		t.Fatal(err)
	}
	h.wait(t, mcp.NotifyTools)
	if listens.Load() != 2 {
		t.Errorf("%d subscriptions", listens.Load())
	}
	if err := s.Listen(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// On a stream a server ends a subscription by cancelling it.
func TestListenCancelled(t *testing.T) {
	leaks(t)
	f := &fake{}
	var listens atomic.Int32
	f.handle = func(f *fake, m *mcp.Message) {
		switch m.Method {
		case mcp.MethodDiscover:
			f.answer(m, `{"supportedVersions":["2026-07-28"],"capabilities":{"prompts":{"listChanged":true}}}`)
		case mcp.MethodListen:
			f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"_meta":{%q:%s}}}`, mcp.NotifySubscribed, mcp.MetaSubscription, m.ID))
			if listens.Add(1) == 1 {
				f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, m.ID))
			}
		}
	}
	h := newHeard()
	s := open(t, Config{Transport: Stdio{Start: f.start}, Changed: h.changed})
	if err := s.Listen(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	h.wait(t, mcp.NotifyPrompts)
}

// A server that does not know subscriptions, or does not answer, is none the
// worse.
func TestListenRefused(t *testing.T) {
	leaks(t)
	f := &fake{}
	f.handle = func(f *fake, m *mcp.Message) {
		switch m.Method {
		case mcp.MethodDiscover:
			f.answer(m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}}}`)
		case mcp.MethodListen:
			if strings.Contains(string(m.Params), "mem:a") {
				return
			}
			f.refuse(m, mcp.CodeMethodNotFound, "")
		case mcp.MethodToolsCall:
			f.answer(m, `{}`)
		}
	}
	s := open(t, Config{Transport: Stdio{Start: f.start}})
	if err := s.Listen(t.Context(), nil); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.Listen(ctx, []string{"mem:a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := s.Do(t.Context(), Call{Method: "tools/call", Params: params("x")}); err != nil {
		t.Error(err)
	}
}

// Lists without an end have one here.
func TestListBounds(t *testing.T) {
	leaks(t)
	n := 0
	f := &fake{}
	f.handle = modern(func(f *fake, m *mcp.Message) {
		n++
		switch m.Method {
		case "tools/list":
			f.answer(m, fmt.Sprintf(`{"tools":[{"n":%d}],"nextCursor":"%d","ttlMs":%d}`, n, n, 5000-n))
		case "prompts/list":
			f.answer(m, `{"prompts":[{}],"nextCursor":"same"}`)
		case "resources/list":
			f.answer(m, `{"resources":{}}`)
		default:
			f.answer(m, `{"ttlMs":1e300}`)
		}
	})
	s := open(t, Config{Transport: Stdio{Start: f.start}})
	items := 0
	each := func(json.RawMessage) error { items++; return nil }
	if good, err := s.List(t.Context(), "tools/list", "tools", each); err == nil || items != mostPages || good != 4*time.Second {
		t.Errorf("%v after %d items, good for %v", err, items, good)
	}
	if _, err := s.List(t.Context(), "prompts/list", "prompts", each); err == nil || !strings.Contains(err.Error(), "again and again") {
		t.Error(err)
	}
	if _, err := s.List(t.Context(), "resources/list", "resources", each); err == nil {
		t.Error("no list was taken for one")
	}
	if good, err := s.List(t.Context(), "other/list", "other", each); err != nil || good != 365*24*time.Hour {
		t.Errorf("%v, good for %v", err, good)
	}
	stop := errors.New("enough")
	if _, err := s.List(t.Context(), "tools/list", "tools", func(json.RawMessage) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}
