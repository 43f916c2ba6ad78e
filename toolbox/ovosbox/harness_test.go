package ovosbox

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// patience bounds every wait of these tests; none of them waits that long
// unless something is broken.
const patience = time.Minute

// port fits the client of the bus to what the box needs, as the wiring does.
type port struct{ *bus.Client }

func (p port) Ask(ctx context.Context, m Message, fits func(Message) bool) (Message, error) {
	got, err := p.Client.Ask(ctx, bus.Message(m), bus.Answer{Match: func(m bus.Message) bool { return fits(Message(m)) }})
	return Message(got), away(err)
}

func (p port) Collect(ctx context.Context, m Message, window time.Duration) ([]Message, error) {
	got, err := p.Client.Collect(ctx, bus.Message(m), bus.Answer{}, window)
	list := make([]Message, len(got))
	for i, m := range got {
		list[i] = Message(m)
	}
	return list, away(err)
}

func (p port) Listen(types []string, hear func(Message)) func() {
	sub := p.Subscribe(bus.Filter{Types: types})
	go func() {
		for {
			m, err := sub.Next(context.Background())
			switch {
			case err == nil:
				hear(Message(m))
			case !errors.Is(err, bus.ErrOverflow):
				return
			}
		}
	}()
	return sub.Close
}

func away(err error) error {
	if errors.Is(err, bus.ErrNotConnected) {
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	return err
}

// testBus is a server of its own on loopback.
type testBus struct {
	*bus.Server
	addr string
	stop func()
}

func startBus(t testing.TB, addr string) *testBus {
	t.Helper()
	// Poison is passed on, as the original does it: the worst bus there is.
	s, err := bus.NewServer(bus.ServerConfig{Addr: addr, RelayPoison: true})
	if err != nil {
		t.Fatal(err)
	}
	var ln net.Listener
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if ln, err = s.Listen(t.Context()); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	b := &testBus{Server: s, addr: ln.Addr().String()}
	b.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(patience):
			t.Error("the server does not end")
		}
	})
	t.Cleanup(b.stop)
	return b
}

func (b *testBus) client(t testing.TB, change func(*bus.ClientConfig)) *bus.Client {
	t.Helper()
	cfg := bus.ClientConfig{URL: "ws://" + b.addr + bus.DefaultPath, BackoffMin: 5 * time.Millisecond, BackoffMax: 50 * time.Millisecond}
	if change != nil {
		change(&cfg)
	}
	c, err := bus.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return c
}

// open makes a box on the bus with windows as short as tests can afford.
func (b *testBus) open(t testing.TB, cfg Config) *Box {
	t.Helper()
	if cfg.Window == 0 {
		cfg.Window = 400 * time.Millisecond
	}
	if cfg.Fresh == 0 {
		cfg.Fresh = time.Millisecond
	}
	box, err := Open(t.Context(), cfg, port{b.client(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box
}

// generation is one of the three kinds of hosts in the field.
type generation int

const (
	g0 generation = iota // announces nothing before the first call
	g1                   // as shipped
	g2                   // one topic for all calls, and an id in every entry
)

// pyTool is a tool of a host; args are what pydantic would have made of them.
type pyTool struct {
	entry json.RawMessage // the announced form
	run   func(args map[string]any) (result any, err string)
}

// host is a toolbox as the Python framework runs it: one goroutine a request,
// an answer to everything that has an answer there, and its error texts.
type host struct {
	gen    generation
	id     string
	copies int // answers and executions per request, after reloads that do not unbind
	client *bus.Client

	mu     sync.Mutex
	names  []string
	tools  map[string]pyTool
	cached bool
	calls  atomic.Int64
}

// entry is a tool as pydantic describes it.
func entry(name, doc, args, output string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"name":%q,"description":%q,"argument_schema":%s,"output_schema":%s}`, name, doc, args, output))
}

const (
	anyArgs    = `{"properties":{},"title":"Args","type":"object"}`
	numberArgs = `{"description":"Arguments.","properties":{"n":{"description":"A number.","title":"N","type":"number"}},"required":["n"],"title":"Args","type":"object"}`
	numberOut  = `{"description":"Output.","properties":{"result":{"description":"It.","title":"Result","type":"number"}},"required":["result"],"title":"Output","type":"object"}`
)

func (h *host) put(name string, e json.RawMessage, run func(map[string]any) (any, string)) *host {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tools == nil {
		h.tools = map[string]pyTool{}
	}
	if _, ok := h.tools[name]; !ok {
		h.names = append(h.names, name)
	}
	h.tools[name] = pyTool{e, run}
	return h
}

// start puts the host on the bus.
func (h *host) start(t testing.TB, b *testBus) *host {
	t.Helper()
	h.copies = max(h.copies, 1)
	h.cached = h.gen != g0
	h.client = b.client(t, nil)
	sub := h.client.Subscribe(bus.Filter{Match: func(m bus.Message) bool {
		switch m.Type {
		case topicDiscover:
			return true
		case topicCall:
			return h.gen == g2
		}
		return m.Type == topicPrefix+h.id+topicSuffix && h.gen != g2
	}})
	go func() {
		for {
			m, err := sub.Next(context.Background())
			if err != nil {
				return
			}
			for range h.copies {
				go h.handle(t, m)
			}
		}
	}()
	return h
}

func (h *host) handle(t testing.TB, m bus.Message) {
	var answer ordered
	if m.Type == topicDiscover {
		answer = ordered{{"tools", h.announce()}, {"toolbox_id", h.id}}
	} else {
		var req struct {
			Box    string          `json:"toolbox_id"`
			Name   any             `json:"name"`
			Kwargs json.RawMessage `json:"kwargs"`
		}
		req.Name = ""
		if err := json.Unmarshal(m.Data, &req); err != nil || h.gen == g2 && req.Box != h.id {
			return // silence, as there
		}
		result, fault := h.call(req.Name, req.Kwargs)
		if fault != "" {
			answer = ordered{{"error", fault}, {"toolbox_id", h.id}}
		} else {
			answer = ordered{{"result", result}, {"toolbox_id", h.id}}
		}
	}
	data, err := json.Marshal(answer)
	if err != nil {
		t.Error(err)
		return
	}
	// The bus may be gone by now; then the answer is lost, as there.
	_ = h.client.Send(context.Background(), m.Response("", data))
}

func (h *host) announce() []json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := []json.RawMessage{}
	if !h.cached {
		return list
	}
	for _, name := range h.names {
		e := h.tools[name].entry
		if h.gen == g2 {
			e = json.RawMessage(strings.TrimSuffix(string(e), "}") + fmt.Sprintf(`,"toolbox_id":%q}`, h.id))
		}
		list = append(list, e)
	}
	return list
}

func (h *host) call(name any, kwargs json.RawMessage) (any, string) {
	h.mu.Lock()
	h.cached = true
	text, _ := name.(string)
	tool, ok := h.tools[text]
	h.mu.Unlock()
	if !ok {
		return nil, fmt.Sprintf("ValueError: Unknown tool '%v' for ToolBox '%s'.", name, h.id)
	}
	var args map[string]any
	if err := json.Unmarshal(kwargs, &args); err != nil || args == nil {
		return nil, fmt.Sprintf("RuntimeError: Tool '%s' called with unexpected type arguments: NoneType. Must be Dict[str, Any] or ToolArguments.", text)
	}
	h.calls.Add(1)
	return tool.run(args)
}

// ordered is a JSON object in the order it is written.
type ordered [][2]any

func (o ordered) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i, p := range o {
		value, err := json.Marshal(p[1])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%q:%s", map[bool]string{true: "{", false: ","}[i == 0], p[0], value)
	}
	return []byte(b.String() + "}"), nil
}

// double is a toolbox with one tool that doubles a number.
func double(gen generation, id string) *host {
	h := &host{gen: gen, id: id}
	return h.put("double", entry("double", "Doubles.", numberArgs, numberOut), func(args map[string]any) (any, string) {
		n, ok := args["n"].(float64)
		if !ok {
			return nil, fmt.Sprintf("ValueError: Tool input validation failed for 'double' in ToolBox '%s'", id)
		}
		return map[string]any{"result": 2 * n}, ""
	})
}

// crib puts boxes on shelves behind guards that allow everything.
func crib(t testing.TB, box *Box) (*toolcrib.Crib, []toolcrib.LoadError) {
	t.Helper()
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{},
		Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Effects(0).All())},
	}
	_, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}})
	return c, faults
}

// lists waits until a box lists just these tools: a host may be too slow for
// one window on a machine that has other things to do.
func lists(t testing.TB, box *Box, want ...string) {
	t.Helper()
	var have []string
	defer func() {
		if t.Failed() {
			t.Logf("it lists %v, want %v", have, want)
		}
	}()
	eventually(t, "the tools are listed", func() bool {
		tools, err := box.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		have = nil
		for _, tool := range tools {
			have = append(have, tool.Name)
		}
		return slices.Equal(have, want)
	})
}

// eventually tries something until it holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// rawFrames sends frames that no client of ours would: a websocket by hand.
func (b *testBus) rawFrames(t testing.TB, frames ...string) {
	t.Helper()
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n",
		bus.DefaultPath, b.addr)
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, %v", resp, err)
	}
	defer resp.Body.Close()
	before := b.Stats().Received
	for _, frame := range frames {
		head := []byte{0x81, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0} // masked with zeros
		binary.BigEndian.PutUint64(head[2:], uint64(len(frame)))
		if _, err := conn.Write(append(head, frame...)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the frames arrive", func() bool { return b.Stats().Received >= before+uint64(len(frames)) })
}
