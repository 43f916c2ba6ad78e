package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/toolbox/lsp/internal/frame"
)

// fake is a scripted language server for files with the extension .x.
type fake struct {
	caps   string // of initialize; empty: everything, in UTF-16
	answer map[string]func(f *fake, params json.RawMessage) string
	silent []string // requests that it never answers
	// begin runs before anything is read. It ends the server by its error.
	begin func(f *fake, p Program) error

	mu      sync.Mutex
	starts  int
	seen    []string // notifications and answers, as they came
	current *mcp.Conn
	out     io.Writer
	die     context.CancelFunc
	dirs    []string
}

const allCaps = `"definitionProvider":true,"referencesProvider":true,"hoverProvider":true,"documentSymbolProvider":true,"workspaceSymbolProvider":true,"renameProvider":true`

func (f *fake) run(ctx context.Context, p Program) (toolcrib.Exit, error) {
	ctx, die := context.WithCancel(ctx)
	defer die()
	f.mu.Lock()
	f.starts++
	f.out, f.die = p.Stdout, die
	for _, d := range p.Dirs {
		f.dirs = append(f.dirs, fmt.Sprint(d.Path, d.Write))
	}
	f.mu.Unlock()
	if f.begin != nil {
		if err := f.begin(f, p); err != nil {
			_, _ = io.WriteString(p.Stderr, "cannot go on: "+err.Error())
			return toolcrib.Exit{Code: 3}, nil
		}
	}
	stream := frame.New(p.Stdin, p.Stdout, 1<<30, nil)
	conn := mcp.NewConn(ctx, stream, mcp.Handler{Request: f.request, Notification: func(m *mcp.Message) {
		if f.note(m); m.Method == "exit" {
			die()
		}
	}})
	f.mu.Lock()
	f.current = conn
	f.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = conn.Run()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return toolcrib.Exit{Code: 1}, nil
}

func (f *fake) request(ctx context.Context, m *mcp.Message) (json.RawMessage, error) {
	if slices.Contains(f.silent, m.Method) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if do := f.doing(m.Method); do != nil {
		return json.RawMessage(do(f, m.Params)), nil
	}
	switch m.Method {
	case "initialize":
		caps := f.caps
		if caps == "" {
			caps = allCaps
		}
		return json.RawMessage(`{"capabilities":{` + caps + `}}`), nil
	case "shutdown":
		return json.RawMessage("null"), nil
	}
	return json.RawMessage("null"), nil
}

func (f *fake) note(m *mcp.Message) {
	f.mu.Lock()
	f.seen = append(f.seen, m.Method+" "+string(m.Params))
	f.mu.Unlock()
	if do := f.doing(m.Method); do != nil {
		do(f, m.Params)
	}
}

// tell sends a notification of the server.
func (f *fake) tell(method, params string) {
	f.mu.Lock()
	conn := f.current
	f.mu.Unlock()
	_ = conn.Notify(context.Background(), method, json.RawMessage(params))
}

// heard reports whether the server was told something.
func (f *fake) heard(method string, parts ...string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.seen, func(s string) bool {
		return strings.HasPrefix(s, method+" ") && !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(s, p) })
	})
}

// script has it answer otherwise from now on.
func (f *fake) script(answer map[string]func(*fake, json.RawMessage) string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

func (f *fake) doing(method string) func(*fake, json.RawMessage) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.answer[method]
}

// crash ends the one that was started last.
func (f *fake) crash() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.die()
}

func (f *fake) started() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.starts
}

// config is that of a box with the fake server alone.
func config() Config {
	return Config{
		Servers: []Server{{Name: "fake", Command: "fake", Languages: map[string]string{".x": "ex"}, Roots: []string{"top"}, Settings: json.RawMessage(`{"a":{"b":7}}`)}},
		Quiet:   10 * time.Millisecond, Patient: 3 * time.Second,
	}
}

// scripted is a project with one file and the fake server.
func scripted(t testing.TB, f *fake) *rig {
	t.Helper()
	r := newRig(t, config(), f.run)
	r.write("a.x", "one two\nthree 👋🏽 four e\u0301 five\n")
	return r
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatal(what)
}

func at(r *rig, name string) string { return uriOf(r.root + "/" + name) }
