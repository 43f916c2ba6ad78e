package plugin_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/plugin"
)

const patience = 60 * time.Second // a machine may be busy

// early is what a library has that took the standard output before main began.
var early = os.Stdout

// TestMain is a plugin too, if it is asked to be one.
func TestMain(m *testing.M) {
	switch os.Getenv("PLUGIN_TEST") {
	case "tools":
		plugin.Main("test", tools(nil)...)
	case "twice":
		plugin.Main("test", append(tools(nil), tools(nil)...)...)
	case "none":
		plugin.Main("test")
	case "child":
		fmt.Println("printed by a child")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type numberIn struct {
	N int `json:"n" default:"3" min:"0"`
}

type numberOut struct {
	N int `json:"n"`
}

func tools(ended chan<- error) []toolcrib.Tool {
	define := func(name string, fn func(context.Context, *toolcrib.Env, numberIn) (numberOut, error)) toolcrib.Tool {
		return toolcrib.Define(toolcrib.Spec{Name: name, Description: "A tool.", Effects: toolcrib.Pure}, fn)
	}
	return []toolcrib.Tool{
		define("double", func(_ context.Context, env *toolcrib.Env, in numberIn) (numberOut, error) {
			for _, p := range []float64{1, 1, 0.5, 2} {
				env.Emit(toolcrib.Event{Kind: "progress", Progress: p, Total: 2})
			}
			return numberOut{2 * in.N}, nil
		}),
		define("prints", func(context.Context, *toolcrib.Env, numberIn) (numberOut, error) {
			fmt.Println("printed")
			if runtime.GOOS != "windows" { // there the file cannot be replaced
				fmt.Fprintln(early, "printed early")
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env, cmd.Stdout = append(os.Environ(), "PLUGIN_TEST=child"), os.Stdout
			return numberOut{}, cmd.Run()
		}),
		define("fails", func(context.Context, *toolcrib.Env, numberIn) (numberOut, error) {
			return numberOut{}, errors.New("the river is too wide")
		}),
		define("panics", func(context.Context, *toolcrib.Env, numberIn) (numberOut, error) { panic("a secret of the inside") }),
		define("handles", func(ctx context.Context, env *toolcrib.Env, _ numberIn) (numberOut, error) {
			if env.Files != nil || env.HTTP != nil || env.Exec != nil || env.Secret != nil || env.Ask != nil {
				return numberOut{}, errors.New("a plugin has a handle")
			}
			r, err := env.Use(ctx, "double", numberIn{N: 5})
			if err != nil {
				return numberOut{}, err
			}
			if _, err := env.Use(ctx, "read_file", numberIn{}); toolcrib.CodeOf(err) != toolcrib.CodeNotFound {
				return numberOut{}, fmt.Errorf("a tool of somebody else: %w", err)
			}
			var out numberOut
			return out, json.Unmarshal(r.Value, &out)
		}),
		define("deaf", func(_ context.Context, env *toolcrib.Env, _ numberIn) (numberOut, error) {
			env.Emit(toolcrib.Event{Kind: "progress", Progress: 1})
			select {}
		}),
		define("waits", func(ctx context.Context, env *toolcrib.Env, _ numberIn) (numberOut, error) {
			env.Emit(toolcrib.Event{Kind: "progress", Progress: 1})
			<-ctx.Done()
			if ended != nil {
				ended <- ctx.Err()
			}
			return numberOut{}, ctx.Err()
		}),
	}
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Progress float64 `json:"progress"`
	} `json:"params"`
	Result struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		IsError           bool
		Tools             []struct{ Name string }
	} `json:"result"`
	Error struct{ Code int } `json:"error"`
}

// talk is the side of Toolcrib.
type talk struct {
	t   *testing.T
	in  io.WriteCloser
	out chan message
}

func newTalk(t *testing.T, in io.WriteCloser, out io.Reader) *talk {
	k := &talk{t, in, make(chan message, 100)}
	go func() {
		defer close(k.out)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var m message
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				t.Errorf("this is no message: %s", lines.Text())
			}
			k.out <- m
		}
	}()
	k.say(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	k.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	k.hear()
	return k
}

func (k *talk) say(line string) {
	k.t.Helper()
	if _, err := io.WriteString(k.in, line+"\n"); err != nil {
		k.t.Fatal(err)
	}
}

func (k *talk) hear() message {
	k.t.Helper()
	select {
	case m, ok := <-k.out:
		if !ok {
			k.t.Fatal("it has hung up")
		}
		return m
	case <-time.After(patience):
		k.t.Fatal("nothing is heard")
	}
	return message{}
}

func (k *talk) call(id, tool, arguments string) {
	k.t.Helper()
	k.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{"progressToken":1}}}`)
}

// ask calls and gives the answer, and the progress before it.
func (k *talk) ask(tool, arguments string) (message, []float64) {
	k.t.Helper()
	k.call("7", tool, arguments)
	var told []float64
	for {
		m := k.hear()
		if m.Method == "" {
			return m, told
		}
		told = append(told, m.Params.Progress)
	}
}

type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// serve serves the tools on pipes.
func serve(t *testing.T, ended chan<- error) (*talk, *log, chan error) {
	t.Helper()
	fromUs, in := io.Pipe()
	out, fromIt := io.Pipe()
	said, over := &log{}, make(chan error, 1)
	p := plugin.Plugin{Name: "test", Version: "1", Tools: tools(ended), Log: slog.New(slog.NewTextHandler(said, nil))}
	go func() {
		over <- p.Serve(t.Context(), fromUs, fromIt)
		_ = fromIt.Close()
	}()
	return newTalk(t, in, out), said, over
}

func TestServe(t *testing.T) {
	k, said, over := serve(t, nil)
	m, told := k.ask("double", `{"n":4}`)
	if string(m.Result.StructuredContent) != `{"n":8}` || len(told) != 2 || told[0] != 1 || told[1] != 2 {
		t.Errorf("%+v, %v", m, told)
	}
	for _, c := range []struct{ tool, in, want string }{
		{"double", `{}`, `{"n":6}`},
		{"double", `{"n":-1}`, "invalid: n: must be at least 0, got -1 (minimum)"},
		{"double", `{"m":1}`, "invalid: m: "},
		{"fails", `{}`, "the river is too wide"},
		{"panics", `{}`, "internal: the tool broke down; this is a fault in the tool, not in the call"},
		{"handles", `{}`, `{"n":10}`},
	} {
		m, _ := k.ask(c.tool, c.in)
		failed := !strings.HasPrefix(c.want, "{")
		if m.Result.IsError != failed || len(m.Result.Content) == 0 || !strings.HasPrefix(m.Result.Content[0].Text, c.want) || strings.Contains(m.Result.Content[0].Text, "\n") {
			t.Errorf("%s %s: %+v, want %s", c.tool, c.in, m, c.want)
		}
	}
	if m, _ := k.ask("none", `{}`); m.Error.Code != -32602 {
		t.Errorf("an unknown tool: %+v", m)
	}
	if !strings.Contains(said.String(), "a secret of the inside") || !strings.Contains(said.String(), "plugin_test.go") {
		t.Errorf("the log does not have the stack of a panic: %s", said)
	}
	if err := k.in.Close(); err != nil {
		t.Error(err)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// TestCancel: a tool hears when its caller gives up, and when Toolcrib hangs up.
func TestCancel(t *testing.T) {
	ended := make(chan error, 2)
	k, _, over := serve(t, ended)
	k.call("1", "waits", `{}`)
	k.hear() // its progress
	k.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if m, _ := k.ask("double", `{}`); string(m.ID) != "7" {
		t.Errorf("the cancelled call is answered: %+v", m)
	}
	k.call("2", "waits", `{}`)
	k.hear()
	if err := k.in.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-over:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("it waits for a call that nobody waits for")
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func program(t *testing.T, mode string) (*exec.Cmd, *log) {
	cmd, said := exec.CommandContext(t.Context(), os.Args[0]), &log{}
	cmd.Env, cmd.Stderr = append(os.Environ(), "PLUGIN_TEST="+mode, "GORACE=atexit_sleep_ms=0"), said
	return cmd, said
}

// TestProgram: whatever prints, nothing gets between the messages.
func TestProgram(t *testing.T) {
	cmd, said := program(t, "tools")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k := newTalk(t, in, out)
	if m, _ := k.ask("prints", `{}`); m.Result.IsError || m.Error.Code != 0 {
		t.Errorf("%+v", m)
	}
	if m, _ := k.ask("double", `{"n":1}`); string(m.Result.StructuredContent) != `{"n":2}` {
		t.Errorf("%+v", m)
	}
	for i, tool := range []string{"waits", "deaf"} { // under way at the end
		k.call(strconv.Itoa(10+i), tool, `{}`)
		k.hear()
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	for range k.out { // to its end
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v; it said %s", err, said)
	}
	for _, want := range []string{"printed\n", "printed early\n", "printed by a child\n"} {
		if runtime.GOOS == "windows" && strings.Contains(want, "early") {
			continue
		}
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not in the log: %s", want, said)
		}
	}
}

// TestBroken: tools that cannot be served are a sentence and the end.
func TestBroken(t *testing.T) {
	for mode, want := range map[string]string{"twice": "test: error: tool test/double: ", "none": "test: error: the plugin has no tools"} {
		cmd, said := program(t, mode)
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
		out, err := cmd.Output()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != 1 || len(out) > 0 || !strings.Contains(said.String(), want) {
			t.Errorf("%s: %v, %s, %s", mode, err, out, said)
		}
	}
}
