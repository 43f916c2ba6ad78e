package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// workshop is an app over a directory of the test's own, with commands allowed.
func workshop(t testing.TB, change func(*settings.Config)) (*App, string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, state, home := filepath.Join(base, "work"), filepath.Join(base, "state"), filepath.Join(base, "home")
	for _, d := range []string{dir, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cfg := settings.Defaults()
	cfg.Toolboxes.Shell.AllowShell, cfg.Mode = true, "yolo"
	if change != nil {
		change(&cfg)
	}
	a, err := Open(t.Context(), cfg, Needs{State: state, Dir: dir, Home: home, Private: []string{state}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Faults {
		t.Error(f)
	}
	if e := a.Sandbox.Explain(t.Context(), "run_command", 0); e.Refusal != "" && os.Getenv("CI") == "" {
		defer t.Skipf("no sandbox works on this machine: %s", e.Refusal)
	}
	t.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(filepath.Join(state, "output")); err != nil || len(left) > 0 {
			t.Errorf("output is left behind: %v, %v", left, err)
		}
	})
	return a, dir
}

type ran struct {
	Stdout   string   `json:"stdout"`
	Stderr   string   `json:"stderr"`
	ExitCode int      `json:"exit_code"`
	TimedOut bool     `json:"timed_out"`
	Job      string   `json:"job"`
	Notes    []string `json:"notes"`
}

func runCommand(ctx context.Context, a *App, command string, timeout int) (ran, error) {
	input, err := json.Marshal(map[string]any{"command": command, "timeout": timeout})
	if err != nil {
		return ran{}, err
	}
	var out ran
	r, err := a.Crib.Call(ctx, toolcrib.Call{Tool: "run_command", Input: input, Caller: toolcrib.Caller{Subject: "test"}})
	if err != nil {
		return out, err
	}
	if r.Failed {
		return out, fmt.Errorf("failed: %s", r)
	}
	return out, json.Unmarshal(r.Value, &out)
}

// TestCommandsAreBounded runs commands the whole way: guard, sandbox, journal.
func TestCommandsAreBounded(t *testing.T) {
	t.Setenv("TOOLCRIB_TEST_SECRET", "swordfish")
	a, dir := workshop(t, nil)
	outside := filepath.Join(filepath.Dir(dir), "outside")
	for name, text := range map[string]string{outside: "secret", filepath.Join(dir, ".env"): "PASSWORD=x", filepath.Join(dir, "plain"): "hello"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		command string
		code    int
		stdout  string
	}{
		{"cat plain; pwd", 0, "hello" + dir + "\n"},
		{"echo new > made; cat made", 0, "new\n"},
		{"cat " + outside, 1, ""},
		{"echo x > " + outside + " || true", 0, ""}, // at best it lands in a /tmp of its own
		{"cat .env || true", 0, ""},
		{"env | grep -c swordfish", 1, "0\n"},
		{"cat", 0, ""},
		{"kill -9 $$", 137, ""},
	} {
		got, err := runCommand(t.Context(), a, c.command, 20)
		if err != nil || got.Stdout != c.stdout || got.ExitCode != c.code {
			t.Errorf("%s: %+v, %v", c.command, got, err)
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "secret" {
		t.Errorf("a command wrote outside: %q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "made")); err != nil || string(text) != "new\n" {
		t.Errorf("a command could not write inside: %q, %v", text, err)
	}
	if _, err := runCommand(t.Context(), a, "rm -rf /", 5); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("the floor does not hold: %v", err)
	}
	if r, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "read_file", Input: json.RawMessage(`{"path":".env"}`)}); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("a protected file: %v, %v", r, err)
	}
}

// TestGigabyte: however much a command prints, the memory it takes here is
// small. In a process of its own: what other tests have left to be collected
// would be counted too.
func TestGigabyte(t *testing.T) {
	const alone = "TOOLCRIB_TEST_ALONE"
	if os.Getenv(alone) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGigabyte$", "-test.v")
		cmd.Env = append(os.Environ(), alone+"=1")
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if strings.Contains(string(out), "--- SKIP") {
			t.Skip("no sandbox works on this machine")
		}
		if err != nil || !strings.Contains(string(out), "grew by") {
			t.Error(err)
		}
		return
	}
	a, _ := workshop(t, nil)
	if _, err := runCommand(t.Context(), a, "head -c 1M /dev/zero", 20); err != nil { // whatever is set up once
		t.Fatal(err)
	}
	before := memory(t)
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(20 * time.Millisecond):
				most = max(most, memory(t))
			}
		}
	}()
	out, err := runCommand(t.Context(), a, "head -c 1073741824 /dev/zero", 110)
	close(stop)
	grown := <-peak - before
	if err != nil || out.ExitCode != 0 || out.Job == "" || out.TimedOut {
		t.Fatalf("%d bytes shown, %+v, %v", len(out.Stdout), out.ExitCode, err)
	}
	t.Logf("grew by %.1f MB", float64(grown)/1e6)
	if grown > 20e6 {
		t.Errorf("1 GB of output grew the process by %d MB", grown/1e6)
	}
}

// memory is what this process has of the machine.
func memory(t *testing.T) int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Error(err)
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Error(err)
	}
	return resident * int64(os.Getpagesize())
}

// TestManyCommands: 500 at once, of which 50 run out of time, leave no process
// and no file behind.
func TestManyCommands(t *testing.T) {
	const all, slow = 500, 50
	a, dir := workshop(t, func(c *settings.Config) { c.Limits.MaxTimeout = 9 * time.Minute })
	mark := fmt.Sprintf("9%d%d", os.Getpid(), time.Now().UnixNano()%1e6) // a number of seconds that nobody else sleeps
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	timedOut := 0
	for i := range all {
		wg.Go(func() {
			command, timeout := fmt.Sprintf("echo %d; (sleep %s &)", i, mark), 100
			if i%(all/slow) == 0 {
				command, timeout = fmt.Sprintf("echo %d; setsid sleep %s & sleep %s", i, mark, mark), 1
			}
			out, err := runCommand(ctx, a, command, timeout)
			mu.Lock()
			defer mu.Unlock()
			// One may run out of time before its turn has come, or before it could be started.
			if e, ok := toolcrib.AsError(err); ok && e.Code == toolcrib.CodeTimeout && timeout == 1 {
				timedOut++
				return
			}
			if err != nil || out.Stdout != fmt.Sprintf("%d\n", i) && (out.Stdout != "" || !out.TimedOut) {
				t.Errorf("%d: %+v, %v", i, out, err)
			}
			if out.TimedOut {
				timedOut++
			}
		})
	}
	wg.Wait()
	if timedOut < slow {
		t.Errorf("%d ran out of time, want %d", timedOut, slow)
	}
	if left := sleeping(t, mark); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("left behind in the directory: %v, %v", files, err)
	}
	runtime.KeepAlive(a)
}

// sleeping lists the processes whose command line holds a text. One that was
// killed just now is given a moment to be gone.
func sleeping(t *testing.T, mark string) (left []string) {
	t.Helper()
	for range 100 {
		left = nil
		procs, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range procs {
			if text, err := os.ReadFile(p); err == nil && strings.Contains(string(text), mark) {
				left = append(left, strings.ReplaceAll(string(text), "\x00", " "))
			}
		}
		if len(left) == 0 {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return left
}

// TestBoundedIsOfAll: one tool whose commands see more is enough for the guard
// to take none of them as bounded.
func TestBoundedIsOfAll(t *testing.T) {
	a, _ := workshop(t, nil)
	if !a.bounded {
		t.Error("the linux sandbox does not bound files")
	}
	a, _ = workshop(t, func(c *settings.Config) {
		c.Sandbox.Tools = map[string]settings.SandboxTool{"start_command": {ForceBackend: "host"}}
	})
	if a.bounded {
		t.Error("start_command runs on the host")
	}
}
