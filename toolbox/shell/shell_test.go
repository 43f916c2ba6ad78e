package shell

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
)

// plain is a sandbox that holds nothing: it starts the program and ends it at
// the end of ctx. What the real ones hold is tested with them.
type plain struct{}

func (plain) Enforces() toolcrib.Bounds { return 0 }

func (plain) Run(ctx context.Context, cmd toolcrib.Cmd, _ toolcrib.Grant) (toolcrib.Exit, error) {
	c := exec.CommandContext(ctx, cmd.Path, cmd.Args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr
	c.WaitDelay = 100 * time.Millisecond
	if cmd.Stdin != nil {
		in, err := c.StdinPipe()
		if err != nil {
			return toolcrib.Exit{}, err
		}
		go func() { // unlike os/exec, do not wait for who types
			_, _ = io.Copy(in, cmd.Stdin)
			_ = in.Close()
		}()
	}
	err := c.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) && !errors.Is(err, exec.ErrWaitDelay) {
		return toolcrib.Exit{}, err
	}
	exit := toolcrib.Exit{Code: c.ProcessState.ExitCode(), TimedOut: ctx.Err() != nil}
	if exit.Code < 0 {
		exit.Code, exit.Signal = 137, "SIGKILL"
	}
	return exit, nil
}

// room is a crib with the box in it.
type room struct {
	*toolcrib.Crib
	box    *Box
	dir    string
	spill  string
	mu     sync.Mutex
	events []toolcrib.Event
}

func newRoom(t testing.TB, cfg Config) *room {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &room{dir: filepath.Join(base, "work"), spill: filepath.Join(base, "spill")}
	for _, d := range []string{r.dir, r.spill} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(r.spill)
	if err != nil {
		t.Fatal(err)
	}
	if r.box, err = Open(t.Context(), cfg, Needs{Spill: root}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.box.Close(), root.Close()); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(r.spill); err != nil || len(left) > 0 {
			t.Errorf("spilled output is left behind: %v, %v", left, err)
		}
	})
	r.Crib = &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Sandbox: plain{}, Journal: toolcrib.NoJournal{},
		Grant: toolcrib.Grant{Dirs: []files.Dir{{Path: r.dir, Write: true}}, Programs: []string{"/bin/sh"}},
		Emit: func(e toolcrib.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
		},
		Log: slog.New(slog.DiscardHandler),
	}
	if _, faults := r.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{r.box}}); len(faults) > 0 {
		t.Fatal(faults)
	}
	return r
}

// call makes a call of a subject and decodes its value.
func call[Out any](t testing.TB, r *room, subject, tool string, input any) (Out, error) {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	var out Out
	result, err := r.Call(t.Context(), toolcrib.Call{Tool: tool, Input: text, Caller: toolcrib.Caller{Subject: subject}})
	if err != nil {
		return out, err
	}
	if result.Failed {
		return out, errors.New(result.String())
	}
	return out, json.Unmarshal(result.Value, &out)
}

func run(t testing.TB, r *room, input runIn) runOut {
	t.Helper()
	out, err := call[runOut](t, r, "ann", "run_command", input)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox { return newRoom(t, Config{}).box })
}

func TestRunCommand(t *testing.T) {
	r := newRoom(t, Config{})
	if err := os.Mkdir(filepath.Join(r.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   runIn
		want runOut
	}{
		{runIn{Command: "echo hi; echo err >&2; exit 3"}, runOut{Stdout: "hi\n", Stderr: "err\n", ExitCode: 3}},
		{runIn{Command: "pwd", WorkingDir: "sub"}, runOut{Stdout: r.dir + "/sub\n", Success: true}},
		{runIn{Command: "pwd"}, runOut{Stdout: r.dir + "\n", Success: true}},
		{runIn{Command: "cat"}, runOut{Success: true}}, // its input is closed
		{runIn{Command: "env | grep -c SECRET"}, runOut{Stdout: "0\n", ExitCode: 1}},
		{runIn{Command: "printf '\\377x'"}, runOut{Stdout: "\uFFFDx", Success: true}},
		{runIn{Command: "echo early; exec sleep 30", Timeout: 1}, runOut{Stdout: "early\n", TimedOut: true, ExitCode: 137, Signal: "SIGKILL",
			Notes: []string{"it was ended after 1 s: the argument timeout of run_command gives it up to 120 s; start_command runs it in the background for as long as toolboxes.shell.job_time allows"}}},
	} {
		c.want.Command = c.in.Command
		t.Setenv("TOOLCRIB_SECRET", "x")
		if got := run(t, r, c.in); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v:\ngot  %+v\nwant %+v", c.in, got, c.want)
		}
	}
}

func TestWorkingDirIsBounded(t *testing.T) {
	r := newRoom(t, Config{})
	if err := os.Symlink("/", filepath.Join(r.dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"..", "/", "/etc", "out", "out/etc", "file", "missing", "sub/../.."} {
		if out, err := call[runOut](t, r, "ann", "run_command", runIn{Command: "pwd", WorkingDir: dir}); err == nil {
			t.Errorf("%s: ran in %s", dir, out.Stdout)
		}
	}
	r.Grant.Dirs = nil
	if _, err := call[runOut](t, r, "ann", "run_command", runIn{Command: "pwd"}); err == nil || !strings.Contains(err.Error(), "no directory was granted") {
		t.Errorf("without a directory: %v", err)
	}
	r.Grant.Programs = nil
	if _, err := call[runOut](t, r, "ann", "run_command", runIn{Command: "pwd"}); err == nil || !strings.Contains(err.Error(), "allow_shell") {
		t.Errorf("without a program: %v", err)
	}
}

func TestMaxTimeout(t *testing.T) {
	r := newRoom(t, Config{MaxTimeout: 200 * time.Millisecond})
	if out := run(t, r, runIn{Command: "exec sleep 30", Timeout: 60}); !out.TimedOut || out.Success {
		t.Errorf("%+v", out)
	}
}

func TestOutputIsPaged(t *testing.T) {
	r := newRoom(t, Config{Output: 100, Spill: 5000})
	out := run(t, r, runIn{Command: "seq 1 1000"})
	if !out.Truncated || out.Job == "" || !strings.HasPrefix(out.Stdout, "1\n2\n") || !strings.HasSuffix(out.Stdout, "999\n1000\n") || len(out.Stdout) > 200 {
		t.Fatalf("%+v", out)
	}
	var all strings.Builder
	for at := int64(0); ; {
		page, err := call[outputOut](t, r, "ann", "command_output", outputIn{Job: out.Job, Stream: "stdout", Offset: at, Limit: 700})
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(page.Text)
		if at = page.Next; at >= page.Total {
			break
		}
	}
	if lines := strings.Split(all.String(), "\n"); len(lines) != 1001 || lines[499] != "500" {
		t.Errorf("%d lines", len(lines))
	}
	if _, err := call[outputOut](t, r, "bob", "command_output", outputIn{Job: out.Job, Stream: "stdout", Limit: 10}); err == nil {
		t.Error("another caller reads it")
	}
	if out := run(t, r, runIn{Command: "seq 1 10000"}); !out.Truncated { // more than is kept on disk
		t.Errorf("%+v", out)
	} else if _, err := call[outputOut](t, r, "ann", "command_output", outputIn{Job: out.Job, Stream: "stdout", Offset: 6000, Limit: 10}); err == nil || !strings.Contains(err.Error(), "5000") {
		t.Errorf("beyond what was kept: %v", err)
	}
}

func TestOutputIsToldWhileItRuns(t *testing.T) {
	r := newRoom(t, Config{})
	run(t, r, runIn{Command: "echo one; echo two >&2"})
	r.mu.Lock()
	defer r.mu.Unlock()
	var all string
	for _, e := range r.events {
		if e.Kind != "stdout" && e.Kind != "stderr" || e.Tool != "run_command" || e.Call == "" {
			t.Errorf("%+v", e)
		}
		all += e.Text
	}
	if !strings.Contains(all, "one\n") || !strings.Contains(all, "two\n") {
		t.Errorf("%q", all)
	}
}
