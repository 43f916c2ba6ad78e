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
	"github.com/toolcrib/toolcrib/internal/mcp"
)

const canAll = `{"elicitation":{},"roots":{},"sampling":{}}`

// asked is a result that wants more.
type asked struct {
	Type     string                 `json:"resultType"`
	Requests map[string]mcp.Request `json:"inputRequests"`
	State    string                 `json:"requestState"`
}

func (r *raw) ask(method, capabilities, params string) (*answer, asked) {
	r.t.Helper()
	h, body := modern(method, capabilities, params)
	a := r.send("POST", h, body)
	var got asked
	if res := a.last().Result; res != nil {
		if err := json.Unmarshal(res, &got); err != nil {
			r.t.Fatal(err)
		}
	}
	return a, got
}

func back(state, responses string) string {
	return fmt.Sprintf(`,"requestState":%q,"inputResponses":%s`, state, responses)
}

// A modern client is asked by a result, and comes back with the answers: for
// tools and prompts alike, in as many rounds as it takes.
func TestRounds(t *testing.T) {
	var runs atomic.Int64
	s, _ := newStore(t, asker(), toolcrib.Tool{
		Spec: toolcrib.Spec{Name: "twice", Effects: toolcrib.Pure},
		Run: func(ctx context.Context, _ *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			runs.Add(1)
			var all []string
			for i := range 2 {
				got, err := mcp.PeerOf(ctx).Ask(ctx, map[string]mcp.Request{"r": {Method: mcp.MethodRoots}})
				if err != nil {
					return nil, err
				}
				all = append(all, fmt.Sprint(i, string(got["r"])))
			}
			return toolcrib.Text(strings.Join(all, " ")), nil
		},
	})
	r := newRaw(t, s)
	call := `,"name":"asker","arguments":` + wish
	a, got := r.ask("tools/call", canAll, call)
	if a.status != 200 || got.Type != "input_required" || len(got.Requests) != 2 || got.Requests["a"].Method != mcp.MethodElicit || got.Requests["b"].Method != mcp.MethodRoots || got.State == "" {
		t.Fatalf("%s", a.text)
	}
	if a, _ = r.ask("tools/call", canAll, call+back(got.State, `{"a":{"x":1},"c":2}`)); !strings.Contains(a.text, `"structuredContent":{"a":{"x":1},"c":2}`) {
		t.Errorf("%s", a.text)
	}
	_, got = r.ask("tools/call", canAll, call)
	if a, _ = r.ask("tools/call", `{}`, call+back(got.State, `{"a":4}`)); !strings.Contains(a.text, `{"a":4}`) {
		t.Errorf("one who came back without a word of what it can do: %s", a.text)
	}
	_, one := r.ask("tools/call", canAll, `,"name":"twice"`)
	_, two := r.ask("tools/call", canAll, `,"name":"twice"`+back(one.State, `{"r":1}`))
	if two.State == one.State || two.Type != "input_required" {
		t.Errorf("%+v", two)
	}
	if a, _ = r.ask("tools/call", canAll, `,"name":"twice"`+back(one.State, `{"r":1}`)); a.code() != mcp.CodeInvalidParams {
		t.Errorf("an old state: %s", a.text)
	}
	if a, _ = r.ask("tools/call", canAll, `,"name":"twice"`+back(two.State, `{"r":2}`)); !strings.Contains(a.text, `01 12`) || runs.Load() != 1 {
		t.Errorf("%s; ran %d times", a.text, runs.Load())
	}
	// A client may know what it will be asked; answers that are not enough are none.
	if a, _ = r.ask("tools/call", canAll, call+`,"inputResponses":{"a":1,"b":2,"c":3}`); !strings.Contains(a.text, `"structuredContent":{"a":1,"b":2,"c":3}`) {
		t.Errorf("%s", a.text)
	}
	if _, got = r.ask("tools/call", canAll, call+`,"inputResponses":{"a":1}`); len(got.Requests) != 2 {
		t.Errorf("%+v", got)
	}
	r.ask("tools/call", canAll, call+back(got.State, `{}`))
	_, got = r.ask("prompts/get", canAll, `,"name":"asks"`)
	if got.Type != "input_required" || got.Requests["who"].Method != mcp.MethodElicit {
		t.Errorf("%+v", got)
	}
	if a, _ = r.ask("prompts/get", canAll, `,"name":"asks"`+back(got.State, `{"who":{"action":"accept","content":{"who":"you"}}}`)); !strings.Contains(a.text, "hello you") {
		t.Errorf("%s", a.text)
	}
	// What a client cannot do it is not asked for.
	for capabilities, need := range map[string]string{
		`{}`:                         `{"elicitation":{"form":{}}}`,
		`{"roots":{}}`:               `{"elicitation":{"form":{}}}`,
		`{"elicitation":{"url":{}}}`: `{"elicitation":{"form":{}}}`,
	} {
		if a, _ = r.ask("prompts/get", capabilities, `,"name":"asks"`); a.status != 400 || a.code() != mcp.CodeMissingCapability || string(a.last().Error.Data) != `{"requiredCapabilities":`+need+`}` {
			t.Errorf("%s: %d %s", capabilities, a.status, a.text)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.roundsCalls) != 0 || s.parked != 0 {
		t.Errorf("%d calls and %d places are left", len(s.roundsCalls), s.parked)
	}
}

// A state is good for the request it was given for, to who got it, for a time.
func TestStateIsBound(t *testing.T) {
	clock := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	var now atomic.Int64
	p := newPantry()
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}, Log: quiet(),
		Now: func() time.Time { return clock.Add(time.Duration(now.Load())) },
	}
	load(t, crib, []toolcrib.Tool{asker(), p.tool()})
	serve := func(subject, key string) *raw {
		s := New(Config{Crib: crib, Log: quiet(), Key: []byte(key), Shelf: p}, toolcrib.Caller{Subject: subject})
		t.Cleanup(s.Close)
		return newRaw(t, s)
	}
	ann, other, bob, later := serve("ann", "k"), serve("ann", "l"), serve("bob", "k"), serve("ann", "k")
	call := `,"name":"asker","arguments":` + wish
	_, got := ann.ask("tools/call", canAll, call)
	plain, seal, _ := strings.Cut(got.State, ".")
	_, again := ann.ask("tools/call", canAll, call)
	_, seal2, _ := strings.Cut(again.State, ".")
	for name, c := range map[string]struct {
		who         *raw
		call, state string
	}{
		"empty seal":      {ann, call, plain},
		"other seal":      {ann, call, plain + "." + seal2},
		"longer":          {ann, call, got.State + "A"},
		"other text":      {ann, call, "AAAA." + seal},
		"nothing":         {ann, call, "."},
		"guessed":         {ann, call, "guessed"},
		"other arguments": {ann, strings.Replace(call, "a?", "b?", 1), got.State},
		"another tool":    {ann, strings.Replace(call, `"asker"`, `"shelf_read"`, 1), got.State},
		"somebody else":   {bob, call, got.State},
		"another key":     {other, call, got.State},
	} {
		if a, _ := c.who.ask("tools/call", canAll, c.call+back(c.state, `{"a":1}`)); a.code() != mcp.CodeInvalidParams || a.status != 400 {
			t.Errorf("%s: %s", name, a.text)
		}
	}
	if a, _ := ann.ask("tools/call", canAll, call+`,"requestState":7`); a.code() != mcp.CodeInvalidParams {
		t.Errorf("a number: %s", a.text)
	}
	// The same key in another process: the call is gone there, and starts anew.
	if _, fresh := later.ask("tools/call", canAll, call+back(got.State, `{"a":1}`)); fresh.Type != "input_required" || fresh.State == got.State {
		t.Errorf("%+v", fresh)
	}
	if a, _ := ann.ask("tools/call", canAll, call+back(got.State, `{"a":1}`)); !strings.Contains(a.text, `{"a":1}`) {
		t.Errorf("%s", a.text)
	}
	now.Store(int64(parkFor + time.Minute))
	if a, _ := ann.ask("tools/call", canAll, call+back(again.State, `{"a":1}`)); a.code() != mcp.CodeInvalidParams || !strings.Contains(a.text, "expired") {
		t.Errorf("%s", a.text)
	}
}

// Calls that nobody comes back for do not pile up, and end with the server.
func TestParkedCallsAreBounded(t *testing.T) {
	var running atomic.Int64
	s, _ := newStore(t, toolcrib.Tool{
		Spec: toolcrib.Spec{Name: "stay", Effects: toolcrib.Pure},
		Run: func(ctx context.Context, _ *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			running.Add(1)
			defer running.Add(-1)
			_, err := mcp.PeerOf(ctx).Ask(ctx, map[string]mcp.Request{"r": {Method: mcp.MethodRoots}})
			return nil, err
		},
	})
	r := newRaw(t, s)
	for i := range maxParked {
		if _, got := r.ask("tools/call", canAll, `,"name":"stay"`); got.Type != "input_required" {
			t.Fatalf("%d: %+v", i, got)
		}
	}
	if a, _ := r.ask("tools/call", canAll, `,"name":"stay"`); !strings.Contains(a.text, "unavailable: too many calls") {
		t.Errorf("%s", a.text)
	}
	s.mu.Lock()
	if s.parkedBytes == 0 {
		t.Error("what waits is not counted")
	}
	s.mu.Unlock()
	s.Close()
	s.mu.Lock()
	if s.parkedBytes != 0 || s.parked != 0 {
		t.Errorf("%d bytes of %d calls are still counted", s.parkedBytes, s.parked)
	}
	s.mu.Unlock()
	eventually(t, "calls go on", func() bool { return running.Load() == 0 })
}

// Nor do their requests.
func TestParkedBytesAreBounded(t *testing.T) {
	s, _ := newStore(t, asker())
	r := newRaw(t, s)
	hold := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.parkedBytes += n
	}
	const others = maxParkedBytes - 4000
	hold(others)
	call := `,"name":"asker","arguments":` + wish
	a, got := r.ask("tools/call", canAll, call)
	if got.Type != "input_required" {
		t.Errorf("%s", a.text)
	}
	if a, _ = r.ask("tools/call", canAll, call+`,"junk":"`+strings.Repeat("x", 4000)+`"`); !strings.Contains(a.text, "unavailable: too many calls") {
		t.Errorf("%s", a.text)
	}
	r.ask("tools/call", canAll, call+back(got.State, `{}`))
	hold(-others)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parkedBytes != 0 {
		t.Errorf("%d bytes are still counted", s.parkedBytes)
	}
}

// What a client wants to hear reaches it on the stream of its own request.
func TestEvents(t *testing.T) {
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}, Log: quiet()}
	var hear atomic.Pointer[func(toolcrib.Event)]
	var followed atomic.Value
	c.Emit = func(ev toolcrib.Event) {
		if h := hear.Load(); h != nil && followed.Load() == ev.Call {
			(*h)(ev)
		}
	}
	load(t, c, []toolcrib.Tool{{
		Spec: toolcrib.Spec{Name: "busy", Effects: toolcrib.Pure},
		Run: func(_ context.Context, env *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			env.Emit(toolcrib.Event{Kind: "progress", Progress: 1, Total: 2, Text: "half\n"})
			env.Emit(toolcrib.Event{Kind: "log", Text: "a word"})
			env.Emit(toolcrib.Event{Kind: "stdout", Text: "noise"})
			env.Emit(toolcrib.Event{Kind: "progress", Progress: 2})
			return toolcrib.Text("done"), nil
		},
	}})
	stops := 0
	s := New(Config{Crib: c, Log: quiet(), Follow: func(call toolcrib.Call, h func(toolcrib.Event)) func() {
		if call.Caller.Subject != "ann" {
			t.Errorf("the call of %q is followed", call.Caller.Subject)
		}
		followed.Store(call.ID)
		hear.Store(&h)
		return func() { stops++; hear.Store(nil) }
	}}, toolcrib.Caller{Subject: "ann"})
	defer s.Close()
	r := newRaw(t, s)
	session := r.session(`{}`)
	legacy := func(meta string) *answer {
		return r.send("POST", session, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"busy"`+meta+`}}`)
	}
	modernly := func(capabilities, meta string) *answer {
		h, body := modern("tools/call", capabilities, `,"name":"busy"`)
		return r.send("POST", h, strings.Replace(body, `{"_meta":{`, `{"_meta":{`+meta, 1))
	}
	const half, word, full = `{"progressToken":"p","progress":1,"total":2,"message":"half\n"}`, `{"level":"info","logger":"busy","data":"a word"}`, `{"progressToken":"p","progress":2}`
	for name, c := range map[string]struct {
		got  *answer
		want []string
	}{
		"legacy":             {legacy(`,"_meta":{"progressToken":"p"}`), []string{half, word, full}},
		"legacy, only logs":  {legacy(""), []string{word}},
		"legacy, odd token":  {legacy(`,"_meta":{"progressToken":{}}`), []string{word}},
		"modern":             {modernly(`{}`, `"progressToken":"p","io.modelcontextprotocol/logLevel":"debug",`), []string{half, word, full}},
		"modern, in rounds":  {modernly(canAll, `"progressToken":"p","io.modelcontextprotocol/logLevel":"debug",`), []string{half, word, full}},
		"modern, only logs":  {modernly(`{}`, `"io.modelcontextprotocol/logLevel":"info",`), []string{word}},
		"modern, no logs":    {modernly(`{}`, `"progressToken":"p",`), []string{half, full}},
		"modern, high level": {modernly(`{}`, `"io.modelcontextprotocol/logLevel":"error",`), nil},
		"modern, nothing":    {modernly(`{}`, ``), nil},
	} {
		var got []string
		for _, m := range c.got.messages[:max(0, len(c.got.messages)-1)] {
			got = append(got, string(m.Params))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) || !strings.Contains(string(c.got.last().Result), "done") {
			t.Errorf("%s: %q %s", name, got, c.got.text)
		}
		if stream := strings.HasPrefix(c.got.header.Get("Content-Type"), "text/event-stream"); stream != (c.want != nil) {
			t.Errorf("%s: %v", name, c.got.header)
		}
	}
	if stops != 8 {
		t.Errorf("stopped %d times", stops)
	}
}

// A modern client listens to what it asked for, under its own name.
func TestListen(t *testing.T) {
	s, p := newStore(t)
	r := newRaw(t, s)
	for name, params := range map[string]string{"nothing": ``, "no object": `,"notifications":7`} {
		if a := r.modern(mcp.MethodListen, params); a.code() != mcp.CodeInvalidParams {
			t.Errorf("%s: %s", name, a.text)
		}
	}
	a := r.modern(mcp.MethodListen, `,"notifications":{"resourceSubscriptions":["other://x"]}`)
	if len(a.messages) != 2 || string(a.messages[0].Params) != `{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":7}}` || !strings.Contains(string(a.last().Result), `"io.modelcontextprotocol/subscriptionId":7`) {
		t.Errorf("%s", a.text)
	}
	h, body := modern(mcp.MethodListen, `{}`, `,"notifications":{"promptsListChanged":true,"toolsListChanged":true,"resourceSubscriptions":["test://b","test://a","test://a","other://x"]}`)
	ctx, cancel := context.WithCancel(t.Context())
	next, header := r.events(ctx, "POST", h, body)
	if m := next(); m.Method != mcp.NotifySubscribed || string(m.Params) != `{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["test://a","test://b"]},"_meta":{"io.modelcontextprotocol/subscriptionId":7}}` {
		t.Errorf("%s %s", m.Method, m.Params)
	}
	if header.Get("X-Accel-Buffering") != "no" || p.subscribed("test://a") != 1 {
		t.Errorf("%v %d", header, p.subscribed("test://a"))
	}
	p.tell(mcp.NotifyResources, "")
	p.tell(mcp.NotifyResource, `{"uri":"test://c"}`)
	p.tell(mcp.NotifyResource, `{"uri":"test://b","_meta":{"x":1}}`)
	if m := next(); string(m.Params) != `{"uri":"test://b","_meta":{"x":1,"io.modelcontextprotocol/subscriptionId":7}}` {
		t.Errorf("%s %s", m.Method, m.Params)
	}
	load(t, s.cfg.Crib, []toolcrib.Tool{p.tool()})
	if m := next(); m.Method != mcp.NotifyTools || string(m.Params) != `{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}` {
		t.Errorf("%s %s", m.Method, m.Params)
	}
	load(t, s.cfg.Crib, []toolcrib.Tool{p.tool(), asker()})
	if m := next(); m.Method != mcp.NotifyTools {
		t.Errorf("%s", m.Method)
	}
	s.cfg.Crib.Catalog.Announce() // nothing has changed for this caller
	p.tell(mcp.NotifyPrompts, "")
	if m := next(); m.Method != mcp.NotifyPrompts {
		t.Errorf("%s", m.Method)
	}
	cancel()
	eventually(t, "the subscription outlives its stream", func() bool { return p.subscribed("test://a") == 0 && p.subscribed("test://b") == 0 })
	next, _ = r.events(t.Context(), "POST", h, body)
	next()
	s.Close()
	if m := next(); !strings.Contains(string(m.Result), `"resultType":"complete"`) {
		t.Errorf("no farewell: %+v", m)
	}
}
