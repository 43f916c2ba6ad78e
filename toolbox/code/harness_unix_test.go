//go:build unix

package code

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// plainRun starts interpreters without any sandbox: what these tests look at is the drivers and the host. What the
// sandbox holds is tested where both are joined.
func plainRun(t testing.TB) func(ctx context.Context, p Program) (toolcrib.Exit, error) {
	programs := map[string][]string{}
	for language, words := range map[string][]string{
		"python": {"python3", "-I", "-X", "utf8", "-c"}, "javascript": {"node", "-e"}, "shell": {"bash", "--norc", "--noprofile", "-c"},
	} {
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Fatal(err)
		}
		programs[language] = words
	}
	path, err := realPython()
	if err != nil {
		t.Fatal(err)
	}
	programs["python"][0] = path
	return func(ctx context.Context, p Program) (toolcrib.Exit, error) {
		dir, err := os.MkdirTemp("", "code")
		if err != nil {
			return toolcrib.Exit{}, err
		}
		defer func() { _ = os.RemoveAll(dir) }() // a program may still write there
		words := append(append([]string{"-c", `exec 3<&0 4>&1 0</dev/null 1>&2; exec "$@"`, "run_code"}, programs[p.Language]...), p.Driver)
		c := exec.Command("/bin/sh", words...)
		c.Dir, c.Stdout, c.Stderr = dir, p.Stdout, p.Stderr
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}
		if home := os.Getenv("HOME"); home != "" { // a version manager of this machine looks there
			c.Env[2] = "HOME=" + home
		}
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		c.WaitDelay = time.Second
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			return toolcrib.Exit{}, err
		}
		go func() {
			_, _ = io.Copy(in, p.Stdin)
			_ = in.Close()
		}()
		stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
		defer stop()
		err = c.Wait()
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // what it left behind
		endAll("TMPDIR=" + dir)
		if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed && !errors.Is(err, exec.ErrWaitDelay) {
			return toolcrib.Exit{}, err
		}
		exit := toolcrib.Exit{Code: c.ProcessState.ExitCode()}
		if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			exit.Code, exit.Signal = 128+int(status.Signal()), "SIG"+strings.ToUpper(status.Signal().String())
			if status.Signal() == syscall.SIGKILL {
				exit.Signal = "SIGKILL"
			}
		}
		return exit, nil
	}
}

// endAll ends the processes that have a variable, where the system tells: cells of a shell have groups of their own,
// and there is no sandbox here that would end with all that is in it.
func endAll(variable string) {
	found, _ := filepath.Glob("/proc/[0-9]*/environ") // none elsewhere than on Linux
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil || !slices.Contains(strings.Split(string(text), "\x00"), variable) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// realPython is the interpreter itself: the script of a version manager costs ten times as much to start.
var realPython = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(out)), err
})

// bench is a box with interpreters of this machine.
type bench struct {
	*Box
	t testing.TB
	// use is what env.Use does.
	use func(tool string, input any) (*toolcrib.Result, error)
}

func newBench(t testing.TB, cfg Config) *bench {
	t.Helper()
	if cfg.Start == 0 {
		cfg.Start = time.Minute // the machine may be busy
	}
	b, err := Open(t.Context(), cfg, Needs{
		Languages: []Language{{Name: "python"}, {Name: "javascript"}, {Name: "shell"}},
		Run:       plainRun(t), Place: func(string, Risk) (string, error) { return "linux", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench{Box: b, t: t}
}

// as runs a cell for a caller.
func (b *bench) as(caller toolcrib.Caller, in map[string]any) (runOut, *toolcrib.Result) {
	b.t.Helper()
	tool, err := b.runCode()
	if err != nil {
		b.t.Fatal(err)
	}
	full := map[string]any{"session": "main", "timeout": 60}
	maps.Copy(full, in)
	input, err := json.Marshal(full)
	if err != nil {
		b.t.Fatal(err)
	}
	env := &toolcrib.Env{Call: toolcrib.Call{ID: "x", Caller: caller}, Emit: func(toolcrib.Event) {}}
	env.Use = func(_ context.Context, tool string, input any) (*toolcrib.Result, error) {
		if b.use == nil {
			return nil, errors.New("not here")
		}
		return b.use(tool, input)
	}
	r, err := tool.Run(b.t.Context(), env, input)
	if err != nil {
		return runOut{Status: "refused", Error: err.Error()}, nil
	}
	var out runOut
	if r.Value == nil {
		return runOut{Status: "failed", Error: r.String()}, r
	}
	if err := json.Unmarshal(r.Value, &out); err != nil {
		b.t.Fatal(err)
	}
	return out, r
}

func (b *bench) run(language, code string, more ...any) runOut {
	b.t.Helper()
	in := map[string]any{"language": language, "code": code}
	for i := 0; i+1 < len(more); i += 2 {
		in[more[i].(string)] = more[i+1]
	}
	out, _ := b.as(toolcrib.Caller{Subject: "ann", Session: "s"}, in)
	return out
}

// TestMain lets many cells run at once: they mostly wait for the ends of their times.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
