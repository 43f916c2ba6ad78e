package mcphub_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// The test program is its own MCP server: FAKE_MCP says which manners it has.
func TestMain(m *testing.M) {
	if manners := os.Getenv("FAKE_MCP"); manners != "" {
		fake(manners, os.Stdin, os.Stdout)
		return
	}
	if testing.CoverMode() == "" {
		os.Exit(m.Run())
	}
	// What counts how much of it is reached wants a place for that when it ends,
	// and complains where a server says why it died.
	dir, err := os.MkdirTemp("", "toolcrib-cover-")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("GOCOVERDIR", dir) // the name is good
	code := m.Run()
	_ = os.RemoveAll(dir) // in the directory for such things
	os.Exit(code)
}

// fake is a server of the legacy era with some manners.
func fake(manners string, in io.Reader, out io.Writer) {
	has := func(m string) bool { return strings.Contains(","+manners+",", ","+m+",") }
	say := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	if has("dies at once") {
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	}
	if has("floods") {
		go func() {
			junk := bytes.Repeat([]byte("garbage "), 1<<10)
			for {
				if _, err := out.Write(append(junk, '\n')); err != nil {
					return
				}
			}
		}()
	}
	description := "Says it again."
	if text := os.Getenv("FAKE_DESCRIPTION"); text != "" {
		description = text
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		switch m.Method {
		case "initialize":
			if has("hangs") {
				select {}
			}
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}}`, m.ID)
		case "tools/list":
			more := ""
			if has("one more") {
				more = `,{"name":"more","inputSchema":{"type":"object"}}`
			}
			if has("renamed") {
				say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo2","description":%q,"inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]}}`, m.ID, description)
				continue
			}
			say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","description":%q,"inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},{"name":"with.dots/and more","inputSchema":{"type":"object"}}%s]}}`, m.ID, description, more)
		case "tools/call":
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q,"annotations":{"priority":1}}],"_meta":{"x":1}}}`, m.ID, m.Params.Name+string(m.Params.Arguments))
			if f := os.Getenv("FAKE_COUNT"); f != "" {
				log, err := os.OpenFile(f, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
				if err == nil {
					fmt.Fprintln(log, string(m.Params.Arguments))
					_ = log.Close()
				}
			}
			switch {
			case has("dies in a call"):
				os.Exit(1)
			case has("never answers"):
			case has("answers twice"):
				say("%s\n%s", answer, answer)
			case has("sends 100 MB"):
				say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, m.ID, strings.Repeat("x", 100<<20))
			default:
				say("%s", answer)
			}
		case "ping":
			say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
		default:
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
		}
	}
}

// start starts programs as a test does: without a sandbox.
func start(_ context.Context, l mcphub.Launch) (client.Process, error) {
	cmd := exec.Command(l.Command, l.Args...)
	for name, value := range l.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = l.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return client.Process{}, err
	}
	stdout, to := io.Pipe()
	cmd.Stdout = to
	if err := cmd.Start(); err != nil {
		return client.Process{}, err
	}
	done := make(chan struct{})
	var ended error
	go func() {
		defer close(done)
		ended = cmd.Wait()
		_ = to.Close()
	}()
	return client.Process{Stdin: stdin, Stdout: stdout, Done: done, Kill: func() { _ = cmd.Process.Kill() }, Err: func() error { <-done; return ended }}, nil
}

// patience is how long a test waits for what has to come: the machine may be busy.
const patience = 2 * time.Minute

func program(t testing.TB, manners string, env ...string) mcphub.Server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := mcphub.Server{Command: exe, Env: map[string]string{"FAKE_MCP": manners, "GORACE": "atexit_sleep_ms=0", "GOCOVERDIR": os.Getenv("GOCOVERDIR")}, Starting: patience, Timeout: patience}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		s.Env[name] = value
	}
	return s
}

// house is a crib with a hub.
type house struct {
	t    testing.TB
	hub  *mcphub.Hub
	crib *toolcrib.Crib
}

func open(t testing.TB, dir string, servers map[string]mcphub.Server) *house {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	hub, err := mcphub.Open(t.Context(), servers, mcphub.Needs{Start: start, State: root, Version: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hub.Close(); err != nil {
			t.Error(err)
		}
		_ = root.Close()
	})
	h := &house{t: t, hub: hub, crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: &cribtest.Memory{}, Guards: []toolcrib.Guard{cribtest.Allow()}}}
	h.load()
	return h
}

func (h *house) load() []toolcrib.LoadError {
	var s toolcrib.Contents
	for _, b := range h.hub.Boxes() {
		s.Boxes = append(s.Boxes, b)
		s.Qualify = append(s.Qualify, b.Name())
	}
	_, faults := h.crib.Catalog.Load(context.Background(), s)
	for _, b := range h.hub.Boxes() {
		faults = append(faults, b.Faults()...)
	}
	return faults
}

func (h *house) await() []toolcrib.LoadError {
	h.hub.Await(h.t.Context(), 30*time.Second)
	return h.load()
}

func (h *house) names() []string {
	var out []string
	for s := range h.crib.Tools(toolcrib.Caller{}) {
		out = append(out, s.Name)
	}
	return out
}

func (h *house) call(tool, input string) (*toolcrib.Result, error) {
	return h.crib.Call(h.t.Context(), toolcrib.Call{Tool: tool, Input: json.RawMessage(input)})
}
