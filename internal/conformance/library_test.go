package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// libraryAsks is what the program below is asked, a line each.
type libraryAsks struct {
	Calls  int `json:"calls"`   // one after another, of a tool that sleeps for a millisecond
	AtOnce int `json:"at_once"` // all at once, of one that echoes
}

type libraryTells struct {
	Seconds float64 `json:"seconds"`
	Failed  string  `json:"failed,omitempty"`
}

// library is a Go program that has a whole Toolcrib in it, journal and all.
func library() int {
	if err := libraryServe(); err != nil {
		fmt.Fprintln(os.Stderr, "library:", err)
		return 1
	}
	return 0
}

func libraryServe() error {
	ctx := context.Background()
	home := os.Getenv("TOOLCRIB_HOME")
	cfg := settings.Defaults()
	text, err := os.ReadFile(filepath.Join(home, "config.yaml"))
	if err == nil {
		err = config.Decode(text, &cfg)
	}
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, cfg, app.Needs{
		For: app.ToCall, State: filepath.Join(home, "state-of-library"), Dir: dir, Home: os.Getenv("HOME"), Config: home, Version: "1",
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	defer func() { _ = a.Close(ctx) }() // the process ends
	caller := toolcrib.Caller{Subject: "library", Frontend: "test"}
	call := func(tool string, input any) (*toolcrib.Result, error) {
		text, err := json.Marshal(input)
		if err != nil {
			return nil, err
		}
		return a.Crib.Call(ctx, toolcrib.Call{Tool: tool, Input: text, Caller: caller})
	}
	from, to := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var asked libraryAsks
		if err := from.Decode(&asked); err != nil {
			return nil // nobody asks any more
		}
		if err := to.Encode(libraryAnswer(asked, call)); err != nil {
			return err
		}
	}
}

func libraryAnswer(asked libraryAsks, call func(tool string, input any) (*toolcrib.Result, error)) (told libraryTells) {
	fail := func(r *toolcrib.Result, err error) string {
		switch {
		case err != nil:
			return err.Error()
		case r.Failed:
			return r.String()
		}
		return ""
	}
	if told.Failed = fail(call("sleep", map[string]any{"seconds": 0})); told.Failed != "" {
		return told
	}
	begin := time.Now()
	for i := range asked.Calls {
		if why := fail(call("sleep", map[string]any{"turn": i})); why != "" {
			told.Failed = why
			return told
		}
	}
	told.Seconds = time.Since(begin).Seconds()
	var all sync.WaitGroup
	wrong := make([]string, asked.AtOnce)
	for i := range asked.AtOnce {
		all.Go(func() {
			mark := fmt.Sprintf("call %d", i)
			r, err := call("echo", map[string]any{"text": mark, "count": i % 10})
			if wrong[i] = fail(r, err); wrong[i] == "" && !strings.Contains(string(r.Value), `"`+mark+`"`) {
				wrong[i] = "another's answer: " + string(r.Value)
			}
		})
	}
	all.Wait()
	told.Failed = strings.Join(strings.Fields(strings.Join(wrong, " ")), " ")
	return told
}

// unraced builds this binary without the race detector: rates are taken with it. By
// the names of its programs it is each of them.
func unraced(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "library"+exeSuffix())
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", file, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building this test: %v\n%s", err, out)
	}
	return file
}

func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// libraryProgram is the program at work.
type libraryProgram struct {
	to   *json.Encoder
	from *json.Decoder
	log  *logged
}

func startLibrary(t testing.TB, file string, vars []string) libraryProgram {
	t.Helper()
	p := libraryProgram{log: &logged{}}
	// The context of a test ends before what is done at its end: the program would be
	// killed by it, and those that it started be left to write into its directory.
	ctx, kill := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, file)
	cmd.Dir, cmd.Env, cmd.Stderr = t.TempDir(), vars, p.log
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
	t.Cleanup(func() {
		below := descendants(cmd.Process.Pid)
		late := time.AfterFunc(time.Minute, kill)
		_ = in.Close() // it ends by it
		_ = cmd.Wait() // or is killed
		late.Stop()
		kill()
		if left := gone(below, 10*time.Second); len(left) > 0 {
			t.Errorf("processes were left behind: %s", strings.Join(left, ", "))
		}
	})
	p.to, p.from = json.NewEncoder(in), json.NewDecoder(out)
	return p
}

func (p libraryProgram) ask(t testing.TB, what libraryAsks) (told libraryTells) {
	t.Helper()
	err := p.to.Encode(what)
	if err == nil {
		err = p.from.Decode(&told)
	}
	if err != nil || what.Calls > 0 && told.Failed != "" {
		t.Fatalf("%v, %+v\n%s", err, told, p.log)
	}
	return told
}
