package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/python"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/linux"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// started is a Python file that runs whatever it is told, as a hostile one would. What the program prints goes to the
// standard output of the host, which is its log; descriptors of the host would be inherited.
const started = `import base64, os, subprocess, tempfile

def start(argv: list[str], cwd: str, env: list[str], stdin: str) -> dict:
    """Run a program."""
    raw = base64.b64decode
    leaked = [name for name in os.environ if name.startswith("CRIBTEST")]
    if leaked:
        raise ValueError("the host has variables of the one that started it: " + str(leaked))
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(raw(stdin)); given.seek(0)
        p = subprocess.Popen([raw(a) for a in argv], cwd=raw(cwd), env=dict(raw(e).split(b"=", 1) for e in env), stdin=given, stderr=said, close_fds=False)
        code = p.wait()
        said.seek(0)
        return {"code": code, "stderr": base64.b64encode(said.read()).decode()}
`

// pythonBox is a sandbox that runs programs by a tool of a Python file, whose header declares what is granted: so the attacks
// on sandboxes are attacks by Python files. Each program has a host of its own, which ends after it.
//
// What is another promise for a host than for a program:
//   - the environment: a program has what the file gives it. That the host has none of ours is looked at by the file above.
//   - standard input: it comes with the call and is there as a whole, so that one that never ends cannot be given.
//   - output: what is printed goes to the log, as it comes; what is said on standard error is in the answer.
//   - the deadline, and a caller that goes: they end the call, and here its host. A host that serves others goes on, with what
//     the call has started in it, until it ends itself.
//   - a bound that is not claimed: no file can ask for bounds, so that the sandbox is asked itself.
type pythonBox struct {
	*linux.Sandbox
	dir     string
	python  string
	slots   chan struct{} // hosts at a time: they are not what is measured
	started *atomic.Int32
}

func (b pythonBox) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if grant.Bounds&^b.Enforces() != 0 {
		return b.Sandbox.Run(ctx, cmd, grant)
	}
	if err := ctx.Err(); err != nil {
		return toolcrib.Exit{}, notRun(err)
	}
	b.slots <- struct{}{}
	defer func() { <-b.slots }()
	b.started.Add(1)
	var log holding
	log.to(cmd.Stdout)
	h, err := b.host(ctx, grant, &log)
	if err != nil {
		return toolcrib.Exit{}, notRun(fmt.Errorf("%w: %s", err, log.kept()))
	}
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, grant.Time)
	defer cancel()
	stop := context.AfterFunc(ctx, h.Kill)
	defer stop()
	answer, err := h.call(cmd)
	timedOut := ctx.Err() != nil
	h.Kill()
	<-h.Done
	log.to(nil)
	exit := toolcrib.Exit{Code: answer.Code, TimedOut: timedOut, Duration: time.Since(begin)}
	switch {
	case timedOut:
	case errors.Is(err, io.EOF): // the host was ended, by the program or by a bound
		exit.Code, exit.Signal = 137, "killed"
	case err != nil:
		return exit, notRun(err)
	case answer.Code < 0:
		exit.Code = 128 - answer.Code
	}
	if cmd.Stderr != nil && err == nil {
		_, err = cmd.Stderr.Write(answer.Stderr)
		return exit, err
	}
	return exit, nil
}

func notRun(err error) error {
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
}

// host starts the host of a file that declares a grant, as the wiring does.
func (b pythonBox) host(ctx context.Context, grant toolcrib.Grant, log io.Writer) (*battered, error) {
	header := map[string][]string{}
	if len(grant.Hosts) > 0 {
		header["hosts"] = grant.Hosts
	}
	for _, d := range grant.Dirs {
		key := "read"
		if d.Write {
			key = "write"
		}
		header[key] = append(header[key], d.Path)
	}
	text, err := json.Marshal(header) // which is YAML
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(b.dir, "tools")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "hostile.py"), []byte("# toolcrib:\n# "+string(text)+"\n"+started), 0o600)
	}
	if err != nil {
		return nil, err
	}
	hosts := python.New(python.Needs{
		Look:      func(string) (string, error) { return b.python, nil },
		Directory: filepath.EvalSymlinks,
		Check:     CheckServerName, Place: reach.HostsDir(b.dir), Home: b.dir, Folders: []python.Folder{{Files: toolfile.Folder{Dir: dir}}},
	})
	found := hosts.Find(ctx, settings.Config{}, nil, false)
	s, ok := found.Servers["hostile"]
	if !ok {
		return nil, fmt.Errorf("it is no toolbox: %v", found.Faults)
	}
	chooser, err := sandbox.NewChooser(sandbox.Config{Candidates: []sandbox.Candidate{
		{Name: sandbox.Linux, Open: func(context.Context) (toolcrib.Sandbox, error) { return b.Sandbox, nil }},
	}})
	if err != nil {
		return nil, err
	}
	l := &reach.Launcher{Chooser: chooser, Env: func(string) (string, bool) { return "", false }, Home: b.dir, Dir: dir}
	p, err := hosts.Starting(l.Start)(ctx, mcphub.Launch{Server: "hostile", Command: s.Command, Args: s.Args, Env: s.Env, Grant: s.Grant, Tools: s.Tools, Stderr: log})
	if err != nil {
		return nil, err
	}
	h := &battered{Kill: p.Kill, Done: p.Done, in: p.Stdin, out: bufio.NewReaderSize(p.Stdout, 1<<20)}
	if _, err := h.ask("initialize", map[string]any{"protocolVersion": "2025-06-18"}); err != nil {
		p.Kill()
		<-p.Done
		return nil, errors.Join(err, p.Err())
	}
	return h, nil
}

// battered is a host and who speaks to it.
type battered struct {
	Kill func()
	Done <-chan struct{}
	in   io.Writer
	out  *bufio.Reader
}

// ask reads each line as an answer: nothing else may stand between them.
func (h *battered) ask(method string, params any) (json.RawMessage, error) {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := h.in.Write(append(text, '\n')); err != nil {
		return nil, io.EOF // it has ended
	}
	line, err := h.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var answer struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(line, &answer); err != nil || answer.Result == nil {
		return nil, fmt.Errorf("the answer is %.500q", line)
	}
	return answer.Result, nil
}

type pythonAnswer struct {
	Code   int
	Stderr []byte
}

func (h *battered) call(cmd toolcrib.Cmd) (out pythonAnswer, err error) {
	var input []byte
	if cmd.Stdin != nil && len(cmd.Args) > 0 && cmd.Args[0] == "cat" { // others do not read theirs
		if input, err = io.ReadAll(cmd.Stdin); err != nil {
			return out, err
		}
	}
	raw := func(texts ...string) []string {
		list := []string{}
		for _, s := range texts {
			list = append(list, base64.StdEncoding.EncodeToString([]byte(s)))
		}
		return list
	}
	text, err := h.ask("tools/call", map[string]any{"name": "start", "arguments": map[string]any{
		"argv": raw(append([]string{cmd.Path}, cmd.Args...)...), "cwd": raw(cmd.Dir)[0], "env": raw(cmd.Env...), "stdin": raw(string(input))[0],
	}})
	if err != nil {
		return out, err
	}
	var result struct {
		IsError           bool
		Content           json.RawMessage
		StructuredContent *pythonAnswer
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return out, err
	}
	if result.IsError || result.StructuredContent == nil {
		return out, fmt.Errorf("the tool failed: %s", result.Content)
	}
	return *result.StructuredContent, nil
}

// holding passes on what is written until it is told otherwise, and keeps the beginning.
type holding struct {
	mu    sync.Mutex
	w     io.Writer
	begin bytes.Buffer
}

func (h *holding) to(w io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.w = w
}

func (h *holding) kept() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begin.String()
}

func (h *holding) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin.Write(p[:min(len(p), max(0, 4096-h.begin.Len()))])
	if h.w == nil {
		return len(p), nil
	}
	return h.w.Write(p)
}

// TestHostilePython: what a Python file starts is held by all that holds commands.
func TestHostilePython(t *testing.T) {
	interpreter := "/usr/bin/python3" // one that is found by its name may be a script that chooses
	if _, err := os.Stat(interpreter); err != nil {
		if interpreter, err = exec.LookPath("python3"); err != nil {
			t.Fatal(err)
		}
	}
	limits := sandbox.Limits{MemoryBytes: cribtest.SandboxMemory, Processes: cribtest.SandboxProcesses, FileBytes: cribtest.SandboxFile}
	b := pythonBox{dir: t.TempDir(), python: interpreter, slots: make(chan struct{}, 8), started: new(atomic.Int32)}
	t.Cleanup(func() {
		t.Logf("%d programs were run by a Python file", b.started.Load())
		for _, line := range processesOf(b.dir) {
			t.Errorf("a process is left: %s", line)
		}
	})
	cribtest.Sandbox(t, func(t testing.TB) toolcrib.Sandbox {
		box, err := linux.Open(t.Context(), linux.Config{Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := box.Close(); err != nil {
				t.Error(err)
			}
		})
		b := b
		b.Sandbox = box
		return b
	})
}
