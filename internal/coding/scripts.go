package coding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/codemode"
	"github.com/toolcrib/toolcrib/internal/codemode/worker"
	"github.com/toolcrib/toolcrib/internal/settings"
	box "github.com/toolcrib/toolcrib/toolbox/codemode"
)

// Shim makes this process a worker of scripts, if it was started to be one.
func Shim() { worker.Shim() }

// scriptEngine is what runs scripts here, or why nothing does.
func scriptEngine(cfg settings.CodemodeBox, needs Needs) (pool *codemode.Pool, absent string) {
	self, err := os.Executable()
	if err != nil {
		return nil, "the program does not find itself to start a worker: " + err.Error()
	}
	start := plainWorker(self)
	switch {
	case cfg.Plain:
	case needs.Crib != nil && needs.Crib.Sandbox == nil: // the tools are listed, and nothing is run
		start = func(context.Context) (*codemode.Conn, error) { return nil, errListed }
	default:
		if needs.Crib == nil || needs.Crib.Sandbox.Enforces()&held != held {
			return nil, "no sandbox holds the worker of scripts here: see sandbox.backend, or set toolboxes.codemode.plain to run it in a plain process"
		}
		start = sandboxedWorker(self, needs)
	}
	return &codemode.Pool{Start: start}, ""
}

var errListed = errors.New("scripts are not run here, only listed")

// held is what a sandbox has to hold a worker to.
const held = toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundTime

// sandboxedWorker starts workers that are granted nothing but the sight of their own
// program.
func sandboxedWorker(self string, needs Needs) codemode.Starter {
	own := &ownCopy{self: self, home: needs.Home}
	return func(ctx context.Context) (*codemode.Conn, error) {
		program, grant, err := own.place()
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		in, to := io.Pipe()
		from, out := io.Pipe()
		said, gone := &tail{}, make(chan struct{})
		go func() {
			defer close(gone)
			defer cancel()
			exit, err := needs.Run(ctx, toolcrib.Cmd{
				Path: program, Args: []string{worker.Word}, Dir: "/tmp", Env: []string{"GOMEMLIMIT=160MiB", "GOTRACEBACK=none"},
				Stdin: in, Stdout: out, Stderr: said, Tool: box.RunScript, Effects: toolcrib.Pure,
			}, grant)
			if err == nil {
				err = fmt.Errorf("the worker ended with %d: %s", exit.Code, said)
			}
			// Whoever reads or writes is told at once.
			out.CloseWithError(fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err))
			in.CloseWithError(err)
		}()
		return &codemode.Conn{To: to, From: from, Gone: gone, End: func() {
			cancel()
			_ = to.Close()   // a pipe in memory gives no error
			_ = from.Close() // likewise
		}}, nil
	}
}

// plainWorker starts workers as plain processes, where the person wants that.
func plainWorker(self string) codemode.Starter {
	return func(ctx context.Context) (*codemode.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		cmd := exec.CommandContext(ctx, self, worker.Word)
		cmd.Env, cmd.Dir = []string{"GOMEMLIMIT=160MiB", "GOTRACEBACK=none"}, os.TempDir()
		if root := os.Getenv("SYSTEMROOT"); root != "" { // Windows starts nothing without it
			cmd.Env = append(cmd.Env, "SYSTEMROOT="+root)
		}
		to, err := cmd.StdinPipe()
		if err != nil {
			cancel()
			return nil, err
		}
		from, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			cancel()
			return nil, err
		}
		var end sync.Once
		return &codemode.Conn{To: to, From: from, End: func() {
			end.Do(func() {
				cancel()
				go cmd.Wait() //nolint:errcheck // it was killed
			})
		}}, nil
	}
}

// tail keeps the end of what a worker complains about.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-500):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// Shown has a person who is asked about a call of a script be shown that script, and
// what it has done so far.
func Shown(ctx context.Context, q toolcrib.Question) toolcrib.Question {
	if note := box.During(ctx, q.Call.Tool); note != "" {
		q.Reasons = append(slices.Clone(q.Reasons), toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "script", Reason: note, Note: true})
	}
	return q
}
