package coding

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/codemode"
	"github.com/toolcrib/toolcrib/internal/codemode/worker"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// holding is a sandbox that says what it holds programs to.
type holding struct{ toolcrib.Sandbox }

func (holding) Enforces() toolcrib.Bounds { return held }

// TestWorkerIsGrantedNothing: a worker sees its own program, and has no variables, no
// host and nothing to write.
func TestWorkerIsGrantedNothing(t *testing.T) {
	t.Setenv("SECRET", "hidden")
	home := t.TempDir()
	var mu sync.Mutex
	var cmds []toolcrib.Cmd
	var grants []toolcrib.Grant
	gone := make(chan struct{}, 10)
	needs := Needs{Home: home, Crib: &toolcrib.Crib{Sandbox: holding{}}, Run: func(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
		mu.Lock()
		cmds, grants = append(cmds, cmd), append(grants, grant)
		mu.Unlock()
		defer func() { gone <- struct{}{} }()
		done := make(chan error, 1)
		go func() { done <- worker.Serve(cmd.Stdin, cmd.Stdout, worker.Limits{}) }()
		select {
		case err := <-done:
			return toolcrib.Exit{}, err
		case <-ctx.Done():
			return toolcrib.Exit{}, ctx.Err()
		}
	}}
	pool, absent := scriptEngine(settings.CodemodeBox{}, needs)
	if pool == nil {
		t.Fatal(absent)
	}
	got, err := pool.Run(t.Context(), codemode.Script{Code: "40 + 2"}, codemode.Host{})
	if err != nil || string(got.Value) != "42" {
		t.Fatal(string(got.Value), err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the one that ran it, and the next
		select {
		case <-gone:
		case <-time.After(time.Minute):
			t.Fatal("a worker is still there")
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for i, g := range grants {
		if len(g.Hosts)+len(g.Programs)+len(g.Secrets) > 0 || len(g.Dirs) != 1 || g.Dirs[0].Write {
			t.Errorf("%+v", g)
		}
		there, err := os.ReadDir(g.Dirs[0].Path)
		if err != nil || len(there) != 1 || filepath.Join(g.Dirs[0].Path, there[0].Name()) != cmds[i].Path {
			t.Errorf("%v, %v; the program is %s", there, err, cmds[i].Path)
		}
		if env := strings.Join(cmds[i].Env, " "); strings.Contains(env, "SECRET") || strings.Contains(env, "PATH") {
			t.Error(env)
		}
	}
}

// TestNoSandbox: where nothing holds a worker there is none, unless the person wants a
// plain process.
func TestNoSandbox(t *testing.T) {
	if pool, absent := scriptEngine(settings.CodemodeBox{}, Needs{Crib: &toolcrib.Crib{Sandbox: loose{}}}); pool != nil || !strings.Contains(absent, "toolboxes.codemode.plain") {
		t.Error(pool, absent)
	}
	if pool, absent := scriptEngine(settings.CodemodeBox{Plain: true}, Needs{}); pool == nil {
		t.Error(absent)
	}
	for sandbox, want := range map[toolcrib.Sandbox]int{loose{}: 0, nil: 1} { // without any the tools are listed, and nothing is run
		scripts := &scripting{cfg: settings.DefaultCodemodeBox(), needs: func() Needs { return Needs{Crib: &toolcrib.Crib{Sandbox: sandbox}, State: t.TempDir()} }}
		for _, open := range []func(context.Context) (toolcrib.Toolbox, error){scripts.open, scripts.openSaved} {
			box, err := open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if tools, err := box.Tools(t.Context()); err != nil || len(tools) != want {
				t.Error(tools, err)
			}
		}
		if want > 0 {
			if _, err := scripts.engine.Run(t.Context(), codemode.Script{Code: "1"}, codemode.Host{}); err == nil {
				t.Error("a script ran without a sandbox")
			}
		}
	}
}

// loose holds nothing to anything.
type loose struct{ holding }

func (loose) Enforces() toolcrib.Bounds { return 0 }

// TestWorkerThatCannotStart: what the sandbox says is told, and nobody waits.
func TestWorkerThatCannotStart(t *testing.T) {
	needs := Needs{Home: t.TempDir(), Crib: &toolcrib.Crib{Sandbox: holding{}}, Run: func(context.Context, toolcrib.Cmd, toolcrib.Grant) (toolcrib.Exit, error) {
		return toolcrib.Exit{}, errors.New("no namespaces here")
	}}
	pool, _ := scriptEngine(settings.CodemodeBox{}, needs)
	defer pool.Close()
	if _, err := pool.Run(t.Context(), codemode.Script{Code: "1"}, codemode.Host{}); err == nil || !strings.Contains(err.Error(), "no namespaces here") {
		t.Error(err)
	}
}

// TestPlainWorker: a plain process runs scripts too.
func TestPlainWorker(t *testing.T) {
	pool := &codemode.Pool{Start: plainWorker(os.Args[0])}
	defer pool.Close()
	got, err := pool.Run(t.Context(), codemode.Script{Code: "6 * 7"}, codemode.Host{})
	if err != nil || string(got.Value) != "42" {
		t.Error(string(got.Value), err)
	}
}

func TestMain(m *testing.M) {
	Shim()
	sandboxMain()
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // or each program that a test starts would wait for a second at its end
	os.Exit(m.Run())
}
