package mcphub

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

type sayFunc func(format string, args ...any)

// rogue is a server of the legacy era in this process, which does what a test
// wants it to.
type rogue struct {
	caps string // what it says it can
	// other answers a request; false: it is answered as usual
	other    func(method string, say sayFunc, id, params json.RawMessage) bool
	diesDone bool   // it ends after each call
	stderr   string // what it writes at its start
	stays    bool   // it does not end with its input, only if it is killed

	starts, alive, kills, lists atomic.Int32

	mu    sync.Mutex
	tools string
	says  []sayFunc
}

func (r *rogue) offer(tools string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tools = tools
}

// changed has all that run say that the lists are others.
func (r *rogue) changed() {
	r.mu.Lock()
	says := r.says
	r.mu.Unlock()
	for _, say := range says {
		say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	}
}

func (r *rogue) start(_ context.Context, l Launch) (client.Process, error) {
	r.starts.Add(1)
	r.alive.Add(1)
	if r.stderr != "" {
		fmt.Fprintln(l.Stderr, r.stderr)
	}
	in, toIt := io.Pipe()
	fromIt, out := io.Pipe()
	done, killed := make(chan struct{}), make(chan struct{})
	var one sync.Mutex
	say := func(format string, args ...any) {
		one.Lock()
		defer one.Unlock()
		_, _ = fmt.Fprintf(out, format+"\n", args...) // nobody may be there
	}
	r.mu.Lock()
	r.says = append(r.says, say)
	r.mu.Unlock()
	go func() {
		defer close(done)
		defer r.alive.Add(-1)
		defer func() { _ = out.Close() }()
		r.serve(in, say)
		if r.stays {
			<-killed
		}
	}()
	var once sync.Once
	return client.Process{Stdin: toIt, Stdout: fromIt, Done: done, Err: func() error { <-done; return nil }, Kill: func() {
		once.Do(func() {
			r.kills.Add(1)
			close(killed)
			_, _ = in.Close(), out.Close()
		})
	}}, nil
}

func (r *rogue) serve(in io.Reader, say sayFunc) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil || m.Method == "" {
			continue
		}
		if m.Method == "tools/list" {
			r.lists.Add(1)
		}
		if r.other != nil && r.other(m.Method, say, m.ID, m.Params) {
			continue
		}
		r.mu.Lock()
		tools, caps := r.tools, r.caps
		r.mu.Unlock()
		if caps == "" {
			caps = `{"tools":{"listChanged":true}}`
		}
		switch m.Method {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":%s,"serverInfo":{"name":"rogue","version":"1"}}}`, m.ID, caps)
		case "tools/list":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`, m.ID, tools)
		case "tools/call":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"ok"}]}}`, m.ID)
			if r.diesDone {
				return
			}
		default:
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
		}
	}
}

// den is a hub with one rogue server, and a crib over it.
type den struct {
	t    *testing.T
	hub  *Hub
	box  *Box
	crib *toolcrib.Crib
	log  *syncBuffer
}

func house(t *testing.T, dir string, r *rogue, s Server, change ...func(*Needs)) *den {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := &den{t: t, log: &syncBuffer{}}
	s.Command = "rogue"
	needs := Needs{Start: r.start, State: root, Version: "test", Log: slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, c := range change {
		c(&needs)
	}
	if d.hub, err = Open(t.Context(), map[string]Server{"rogue": s}, needs); err != nil {
		t.Fatal(err)
	}
	d.box, _ = d.hub.Box("rogue")
	t.Cleanup(func() {
		if err := d.hub.Close(); err != nil {
			t.Error(err)
		}
		_ = root.Close()
	})
	d.crib = &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: &cribtest.Memory{}, Guards: []toolcrib.Guard{cribtest.Allow()}}
	return d
}

func (d *den) refresh() {
	d.t.Helper()
	if err := d.box.Refresh(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	d.crib.Catalog.Load(context.Background(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{d.box}, Qualify: []string{"rogue"}})
}

func (d *den) call(ctx context.Context, tool, input string, who toolcrib.Caller) (*toolcrib.Result, error) {
	return d.crib.Call(ctx, toolcrib.Call{Tool: "rogue__" + tool, Input: json.RawMessage(input), Caller: who})
}

// offered are the tools by their descriptions.
func (d *den) offered() map[string]string {
	d.t.Helper()
	list, err := d.box.Tools(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	out := map[string]string{}
	for _, tool := range list {
		out[tool.Name] = tool.Description
	}
	return out
}

// until waits for something that must come.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come: " + what)
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// accepter is a client whose person says yes to everything.
type accepter struct{ asked atomic.Int32 }

func (*accepter) Capabilities() json.RawMessage { return json.RawMessage(`{"elicitation":{}}`) }
func (*accepter) Version() string               { return "2025-11-25" }
func (*accepter) Log(json.RawMessage)           {}
func (*accepter) LogLevel() string              { return "" }
func (a *accepter) Ask(_ context.Context, r map[string]mcp.Request) (map[string]json.RawMessage, error) {
	a.asked.Add(int32(len(r)))
	out := map[string]json.RawMessage{}
	for key := range r {
		out[key] = json.RawMessage(`{"action":"accept","content":{}}`)
	}
	return out, nil
}

const (
	echo    = `{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"}}`
	another = `{"name":"echo","description":"EVIL","inputSchema":{"type":"object"}},{"name":"extra","description":"EVIL TOO","inputSchema":{"type":"object"}}`
)
